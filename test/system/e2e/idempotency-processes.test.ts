import { describe, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { freshDatabase, testPostgres, unlessMissing } from '../../support/postgres.js';
import { useProcesses } from '../../support/processes.js';

const postgres = await testPostgres();
const { path, start } = useProcesses();
const rounds = 10;

/** Sends the same requests to both URLs at once, each on a connection of its own, and returns what has changed. */
async function race(urls: readonly string[], service: string) {
  const post = async (url: string, path: string, body: object, key: string) => {
    const headers = {
      'content-type': 'application/json',
      'x-svc-authorization': service,
      'idempotency-key': key,
      connection: 'close',
    };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.text();
  };
  for (let round = 0; round < rounds; round += 1) {
    const query = `mutation { createOrgKey(input: { orgID: "acme", alias: "${round}" }, idempotencyKey: "${round}") { orgKey { keyID } version } }`;
    const all = [...urls, ...urls, ...urls];
    const created = await Promise.all(all.map((url) => post(url, '/graphql', { query }, 'unused')));
    expect(created[0]).toMatch(/"version":1/);
    expect(new Set(created).size).toBe(1);
    const consumed = await Promise.all(
      all.map((url) => post(url, '/svc/org/keys/counted/quota', { amount: 1 }, `"c-${round}"`)),
    );
    expect(consumed[0]).toContain('"allowed":true');
    expect(new Set(consumed).size).toBe(1);
  }
  const query = '{ orgKeys { totalCount } orgKey(by: { keyID: "counted" }) { quota { used } } }';
  return JSON.parse(await post(urls[0] ?? '', '/graphql', { query }, 'unused')) as unknown;
}

/** Starts processes on a store with one key, and returns the result of the race. */
async function raceOf(settings: Record<string, string>, processes: readonly (readonly string[])[]): Promise<unknown> {
  const t = await startApp({ KEYFRONT_DATA: path('data'), ...settings });
  await t.importKeys({ key_id: 'counted', org_id: 'acme', quota_max: rounds });
  const { secret } = await t.issue('service');
  await t.close();
  const urls: string[] = [];
  for (const args of processes) urls.push((await start(args, settings)).url);
  // The workers of one process share a port.
  return race(urls.length === 1 ? [...urls, ...urls] : urls, secret);
}

const once = { data: { orgKeys: { totalCount: 1 + rounds }, orgKey: { quota: { used: rounds } } } };

describe('the same idempotency key in two processes at once', () => {
  it('has one effect and one result with two worker processes on SQLite', async () => {
    expect(await raceOf({}, [['serve', '--workers', '2']])).toEqual(once);
  }, 120_000);

  it.skipIf('missing' in postgres)(
    `has one effect and one result with two services on PostgreSQL${unlessMissing(postgres)}`,
    async () => {
      const database = await freshDatabase(postgres);
      try {
        expect(await raceOf({ KEYFRONT_DATABASE_URL: database.url }, [['serve'], ['serve']])).toEqual(once);
      } finally {
        await database.drop();
      }
    },
    120_000,
  );
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { buildMain } from '../../support/build.mjs';
import { createRandom, seed } from '../../support/generated.js';
import { freshDatabase, testPostgres, unlessMissing } from '../../support/postgres.js';
import { start, type Running } from '../../support/process.js';
import { hasOwnRedis, ownRedis, unlessNoOwn, type OwnRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

const count = 40;
const bulks = 8;
const keysOfBulk = 5;
/** The rounds that end with a kill. */
const killedRounds = 11;
/** More than a busy machine takes, whose service rejects requests that have waited too long. */
const maxRounds = 60;

interface Attempt {
  readonly path: string;
  readonly init: RequestInit;
}

/** The stores of one case, and how to remove them. */
interface Stores {
  readonly settings: Readonly<Record<string, string>>;
  readonly redis?: OwnRedis;
  readonly remove: () => Promise<void>;
}

const postgres = await testPostgres();
let main: string;
let folder: string;
beforeAll(async () => {
  [main, folder] = await Promise.all([buildMain(), mkdtemp(join(tmpdir(), 'keyfront-idempotency-'))]);
});
afterAll(async () => rm(folder, { recursive: true }));

function attemptOf(path: string, key: string, init: RequestInit): Attempt {
  return { path, init: { ...init, headers: { 'content-type': 'application/json', 'idempotency-key': `"${key}"` } } };
}

function mutationOf(query: string): Attempt {
  return attemptOf('/graphql', 'unused', { method: 'POST', body: JSON.stringify({ query: `mutation { ${query} }` }) });
}

/** Creations without an identifier, consumptions, deletions, updates with a reset, and changes of five keys each. */
const attempts: readonly Attempt[] = [
  ...Array.from({ length: count }, (_, index) => [
    mutationOf(
      `createOrgKey(input: {orgID: "acme", alias: "${index}"}, idempotencyKey: "key-${index}") { orgKey { keyID } version }`,
    ),
    attemptOf('/svc/org/keys/counted/quota', `key-${index}`, { method: 'POST', body: '{"amount":1}' }),
    attemptOf(`/svc/org/keys/old-${index}`, `key-${index}`, { method: 'DELETE' }),
    attemptOf(`/svc/org/keys/put-${index}?reset_quota=1`, `key-${index}`, { method: 'PUT', body: '{"alias":"put"}' }),
  ]).flat(),
  ...Array.from({ length: bulks }, (_, index) =>
    mutationOf(
      `updateOrgKeys(filter: {orgID: "bulk-${index}"}, patch: {alias: "changed"}, dryRun: false, idempotencyKey: "bulk-${index}") {
         items { orgKey { keyID version definition { alias } } change { version } error { code } } }`,
    ),
  ),
];

async function prepare(data: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const t = await startApp({ KEYFRONT_DATA: data, ...settings });
  const named = (length: number, name: string, org_id: string) =>
    Array.from({ length }, (_, index) => ({ key_id: `${name}-${index}`, org_id }));
  await t.importKeys({ key_id: 'counted', org_id: 'acme', quota_max: 1_000_000 }, ...named(count, 'old', 'acme'));
  await t.importKeys(...named(count, 'put', 'updated'));
  for (let index = 0; index < bulks; index += 1) {
    await t.importKeys(...named(keysOfBulk, `bulk-${index}`, `bulk-${index}`));
  }
  const { secret } = await t.issue('service');
  await t.close();
  return secret;
}

const cases: readonly (readonly [name: string, isMissing: boolean, open: () => Promise<Stores>])[] = [
  ['on SQLite', false, () => Promise.resolve({ settings: {}, remove: () => Promise.resolve() })],
  [
    `on PostgreSQL${unlessMissing(postgres)}`,
    'missing' in postgres,
    async () => {
      const database = await freshDatabase(postgres);
      return { settings: { KEYFRONT_DATABASE_URL: database.url }, remove: database.drop };
    },
  ],
  [
    `on SQLite with counters in Redis, which is killed too${unlessNoOwn}`,
    !hasOwnRedis,
    async () => {
      const redis = await ownRedis('--appendfsync', 'always');
      const settings = { KEYFRONT_QUOTA_URL: redis.url, KEYFRONT_QUOTA_KEYS: 'idempotency:{keyHash}' };
      return { settings, redis, remove: redis.remove };
    },
  ],
];

/** Sends a request. Rejects unless it was carried out. */
async function send({ url }: Running, secret: string, { path, init }: Attempt): Promise<string> {
  const headers = { ...(init.headers as Record<string, string>), 'x-svc-authorization': secret };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok || text.includes('"errors"')) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

/** Starts Redis again, and waits until the running service counts in it again. */
async function restartRedis(redis: OwnRedis, server: Running, secret: string): Promise<void> {
  await redis.start();
  const probe = attemptOf('/svc/org/keys/counted/quota', 'probe', { method: 'POST', body: '{"amount":1}' });
  const isCounting = () =>
    send(server, secret, probe).then(
      () => true,
      () => false,
    );
  await until(isCounting, 'Consumption after the restart of Redis');
}

const bulkIndexes = Array.from({ length: bulks }, (_, index) => index);
const readAll = `query { orgKeys { totalCount } acme: orgKeys(filter: { orgID: "acme" }) { totalCount }
  orgKey(by: { keyID: "counted" }) { quota { used } }
  updated: orgKeys(filter: { orgID: "updated" }, first: ${count}) { edges { node { version } } }
  ${bulkIndexes.map((index) => `b${index}: orgKeys(filter: { orgID: "bulk-${index}" }) { edges { node { version definition { alias } } } }`).join(' ')} }`;

function expectedState(probes: number) {
  const edges = Array(keysOfBulk).fill({ node: { version: 2, definition: { alias: 'changed' } } });
  return {
    orgKeys: { totalCount: 1 + 2 * count + bulks * keysOfBulk },
    acme: { totalCount: 1 + count },
    orgKey: { quota: { used: count + probes } },
    updated: { edges: Array(count).fill({ node: { version: 2 } }) },
    ...Object.fromEntries(bulkIndexes.map((index) => [`b${index}`, { edges }])),
  };
}

describe.each(cases)(`idempotency keys %s (FUZZ_SEED=${seed})`, (name, isMissing, open) => {
  it.skipIf(isMissing)(
    'have each effect once and return its first result, when the process is killed between and during requests',
    async () => {
      const random = createRandom(seed);
      const data = join(folder, name.replaceAll(/\W+/g, '-'));
      const { settings, redis, remove } = await open();
      let running: Running | undefined;
      try {
        const secret = await prepare(data, settings);
        const responses = new Map<Attempt, string>();
        for (let round = 1; responses.size < attempts.length; round += 1) {
          expect(round).toBeLessThanOrEqual(maxRounds);
          const server = (running ??= await start(main, data, [], settings));
          // These rounds end with a kill after a few responses, while other requests are under way.
          const killAt = round <= killedRounds ? responses.size + 1 + random.below(3 + 2 * round) : Infinity;
          const isRedisKilled = redis !== undefined && round % 2 === 0;
          let killed: Promise<unknown> | undefined;
          const pending = attempts.filter((attempt) => !responses.has(attempt));
          const sent = await Promise.allSettled(
            pending.map(async (attempt) => {
              const text = await send(server, secret, attempt);
              if (killed) return;
              responses.set(attempt, text);
              if (responses.size < killAt) return;
              if (!isRedisKilled) server.signal('SIGKILL');
              killed = isRedisKilled ? redis.kill() : server.exited;
            }),
          );
          const rejected = sent.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
          if (!killed) for (const reason of rejected) expect(reason).toMatch(/: 503 |"UNAVAILABLE"/);
          await killed;
          if (killed && !isRedisKilled) running = undefined;
          if (killed && isRedisKilled) await restartRedis(redis, server, secret);
        }

        running?.signal('SIGKILL');
        await running?.exited;
        const last = (running = await start(main, data, [], settings));
        for (const attempt of attempts) expect(await send(last, secret, attempt)).toBe(responses.get(attempt));
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'POST', headers, body: JSON.stringify({ query: readAll }) };
        const state = JSON.parse(await send(last, secret, { path: '/graphql', init })) as unknown;
        expect(state).toEqual({ data: expectedState(redis ? 1 : 0) });
      } finally {
        running?.signal('SIGKILL');
        await running?.exited;
        await remove();
      }
    },
    180_000,
  );
});

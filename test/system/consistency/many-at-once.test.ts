import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, describeEngines, type EnginePlace, type TestEngine } from '../../support/engines.js';
import { createRandom, itDetects, seed } from '../../support/generated.js';
import { codeOf } from '../../support/responses.js';
import { concurrencyMutants } from './store-mutants.js';

let place: EnginePlace;
let apps: TestApp[] = [];

/** Before each test a new place, with two installations on it. */
function onEach({ make }: TestEngine): void {
  beforeEach(async () => {
    place = await make();
    await open();
  });
  afterEach(async () => {
    await close();
    await place.remove();
  });
}

/** Two installations in one place, as two processes would have it. */
async function open(now?: Date): Promise<void> {
  apps = [await startApp(place.env), await startApp(place.env)];
  if (now) moveTo(now);
}

async function close(): Promise<void> {
  for (const app of apps.splice(0)) await app.close();
}

function moveTo(now: Date): void {
  for (const { clock } of apps) clock.now = now;
}

function appAt(index: number): TestApp {
  const app = apps[index % apps.length];
  if (!app) throw new Error('There is no app.');
  return app;
}

const keyFile = '/svc/org/keys/k1';
const noon = new Date('2026-01-31T12:00:00Z');
const after = (seconds: number) => new Date(noon.getTime() + seconds * 1000);

/** Whether the amount was allowed, in the response to the gateway. */
async function consume(index: number, amount: number): Promise<boolean> {
  const app = appAt(index);
  const headers = { 'content-type': 'application/json', 'x-svc-authorization': app.service };
  const response = await app.send(`${keyFile}/quota`, { method: 'POST', headers, body: JSON.stringify({ amount }) });
  expect(response.status).toBe(200);
  return response.body['allowed'] === true;
}

/** The sum of the allowed amounts of many concurrent requests. */
async function consumeAtOnce(amounts: readonly number[]): Promise<number> {
  const responses = await Promise.all(amounts.map((amount, index) => consume(index, amount)));
  return amounts.reduce((sum, amount, index) => (responses[index] ? sum + amount : sum), 0);
}

async function used(): Promise<number> {
  const app = appAt(0);
  const { body } = await app.send(keyFile, { headers: { 'x-svc-authorization': app.service } });
  return Number((body['quota'] as { used: unknown }).used);
}

const ones = (count: number) => Array.from({ length: count }, () => 1);

describeConfigurations('many concurrent gateways with one quota', (engine) => {
  onEach(engine);

  itDetects('get more than the maximum from a mutant with two steps, which this suite detects', async () => {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 50 });
    for (const { app } of apps) concurrencyMutants['consumption in two steps: check, wait, add'](app);
    expect(await consumeAtOnce(ones(100))).toBeGreaterThan(50);
  });

  it('get exactly the maximum when they request more, across a restart', async () => {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 150 });
    const before = await consumeAtOnce(ones(100));
    await close();
    await open();
    expect(await used()).toBe(100);
    expect([before, await consumeAtOnce(ones(100))]).toStrictEqual([100, 50]);
    await close();
    await open();
    expect([await consumeAtOnce(ones(20)), await used()]).toStrictEqual([0, 150]);
  });

  it('never get more than the maximum in total, for any amounts', async () => {
    const { below } = createRandom(seed);
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 200 });
    const amounts = Array.from({ length: 120 }, () => 1 + below(20));
    const sum = await consumeAtOnce(amounts);
    expect(sum, `FUZZ_SEED=${seed}`).toBeLessThanOrEqual(200);
    // Only what is left may be too little for the smallest that was rejected.
    expect(sum, `FUZZ_SEED=${seed}`).toBeGreaterThan(180);
    expect(await used()).toBe(sum);
    expect(await consumeAtOnce(ones(50))).toBe(200 - sum);
  });

  it('get exactly the maximum in each period, however late it begins and with or without a restart', async () => {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 30, quota_renewal_rate: 3600 });
    const sums: number[] = [];
    for (const [index, moment] of [0, 3599, 3600, 7199, 7200, 36_000, 39_599].entries()) {
      moveTo(after(moment));
      sums.push(await consumeAtOnce(ones(40)));
      if (index % 2 === 1) {
        await close();
        await open(after(moment));
      }
    }
    expect(sums).toStrictEqual([30, 0, 30, 0, 30, 30, 0]);
  });

  it('get no more than two maxima while the period ends', async () => {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 30, quota_renewal_rate: 3600 });
    const requesting = consumeAtOnce(ones(80));
    const turn = Promise.resolve().then(() => {
      moveTo(after(3600));
    });
    const sum = await requesting;
    await turn;
    expect(sum).toBeGreaterThanOrEqual(30);
    expect(sum).toBeLessThanOrEqual(60);
    expect(await consumeAtOnce(ones(80))).toBeLessThanOrEqual(30);
  });

  it('get nothing twice when the clock goes back', async () => {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 30, quota_renewal_rate: 3600 });
    moveTo(after(3600));
    expect(await consumeAtOnce(ones(40))).toBe(30);
    moveTo(after(-86_400));
    expect(await consumeAtOnce(ones(40))).toBe(0);
  });
});

describeEngines('fifty writers that each add a tag to the version they read', (engine) => {
  onEach(engine);

  const tags = Array.from({ length: 50 }, (_, index) => `tag-${index}`);

  /** Reads, adds, writes, and begins anew where another was faster. Half of them speak REST. Returns how often. */
  async function addTag(index: number, tag: string): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      if (await (index % 4 < 2 ? addByREST : addByGraphQL)(appAt(index), tag)) return attempt;
    }
  }

  async function addByREST(app: TestApp, tag: string): Promise<boolean> {
    const read = await app.send(keyFile, { headers: { 'x-svc-authorization': app.service } });
    const known = (read.body['data'] as { tags?: string[] }).tags ?? [];
    const ifMatch = { 'if-match': read.headers.get('etag') ?? '' };
    const { status } = await app.update('k1', { tags: [...known, tag] }, '', ifMatch);
    // 503: a busy machine has not started to write before the deadline.
    expect([200, 412, 503]).toContain(status);
    return status === 200;
  }

  async function addByGraphQL(app: TestApp, tag: string): Promise<boolean> {
    const read = await app.graphql('{ orgKey(by: { keyID: "k1" }) { version definition { tags } } }');
    const { orgKey } = read.body['data'] as { orgKey: { version: number; definition: { tags: string[] | null } } };
    const { version, definition } = orgKey;
    const response = await app.graphql(
      `mutation ($tags: [String!], $version: Int) {
        updateOrgKey(keyID: "k1", input: { tags: $tags }, expectedVersion: $version) { version }
      }`,
      { tags: [...(definition.tags ?? []), tag], version },
    );
    if (!response.body['errors']) return true;
    expect(['CONFLICT', 'UNAVAILABLE']).toContain(codeOf(response));
    return false;
  }

  /** The tags that the key is left with; each has been acknowledged. */
  async function addAll(): Promise<{ found: string[]; version: unknown; maxAttempts: number }> {
    await appAt(0).importKeys({ key_id: 'k1', org_id: 'acme' });
    const attempts = await Promise.all(tags.map((tag, index) => addTag(index, tag)));
    const { body } = await appAt(1).send(keyFile, { headers: { 'x-svc-authorization': appAt(1).service } });
    const found = [...(body['data'] as { tags: string[] }).tags].sort();
    return { found, version: body['version'], maxAttempts: Math.max(...attempts) };
  }

  it('C-01 write every acknowledged tag, with one version each', async () => {
    const { maxAttempts, ...key } = await addAll();
    expect(key).toStrictEqual({ found: [...tags].sort(), version: 51 });
    expect(maxAttempts, 'no two writers conflicted').toBeGreaterThan(1);
  });

  itDetects('lose tags in a mutant that checks the version before the write, which this suite detects', async () => {
    for (const { app } of apps) concurrencyMutants['a lost update: read, wait, write'](app);
    expect((await addAll()).found.length).toBeLessThan(50);
  });
});

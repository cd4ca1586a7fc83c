import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppError } from '../../src/lib/errors.js';
import { maxInt64 } from '../../src/lib/int64.js';
import type { CallContext } from '../../src/keys/ports.js';
import { createKeyService } from '../../src/keys/key-service.js';
import { startOwnApp, type TestApp } from '../support/app.js';
import { generated, runs } from '../support/generated.js';
import { allOf } from '../support/collect.js';
import { callRedis, redisSettings, testRedis, unlessMissing } from '../support/redis.js';
import { until } from '../support/until.js';

const server = testRedis();
const caller: CallContext = { credentialID: 'test', label: 'test', orgID: undefined, requestID: '' };

let t: TestApp;
let env: Record<string, string>;

describe.skipIf('missing' in server)(`live counters in Redis${unlessMissing(server)}`, () => {
  beforeEach(async () => {
    env = await redisSettings(server);
    t = await startOwnApp(env);
  });

  const redis = async <T>(...command: string[]): Promise<T> =>
    callRedis<T>(env['KEYFRONT_QUOTA_URL'] ?? '', ...command);
  const counterOf = (keyID: string, app = t) =>
    (env['KEYFRONT_QUOTA_KEYS'] ?? '').replace('{keyHash}', app.app.services.ports.hashKeyID(keyID));
  const keptOf = (keyID: string) => `keyfront:{${counterOf(keyID)}}`;
  const serviceOf = (app: TestApp) => createKeyService(app.app.services.ports);
  const consume = async (keyID: string, amount = 1n, app = t) =>
    serviceOf(app).consumeOrgQuota(caller, { keyID, amount });
  const usedOf = async (keyID: string, app = t) => {
    const service = serviceOf(app);
    const [figures] = await service.quotasOf([await service.requireOrgKey(caller, keyID)]);
    return figures?.used;
  };
  const reset = async (keyID: string, definition: object = {}, app = t) =>
    serviceOf(app).updateOrgKey(caller, { keyID, input: definition, resetQuota: true });
  const later = (ms: number, app = t) => {
    app.clock.now = new Date(app.clock.now.getTime() + ms);
  };

  it('counts a request with an idempotency key once, although it is sent three times at once', async () => {
    await t.importKeys({ key_id: 'a', org_id: 'acme', quota_max: 5 });
    const once = (amount: bigint) => serviceOf(t).consumeOrgQuota(caller, { keyID: 'a', amount, idempotencyKey: 'k' });
    const results = await Promise.all([once(3n), once(3n), once(3n)]);
    expect(new Set(results.map(({ allowed, figures }) => [allowed, figures.used].join())).size).toBe(1);
    expect([await usedOf('a'), await once(3n)]).toEqual([3n, results[0]]);
    await consume('a', 2n);
    expect(await once(3n)).toEqual(results[0]);
    await expect(once(1n)).rejects.toMatchObject({ code: 'INVALID', issues: [{ path: ['idempotencyKey'] }] });
    expect(await usedOf('a')).toBe(5n);
    const [name = ''] = (await redis<string[]>('KEYS', '*receipt*')).filter((found) => found.startsWith(keptOf('a')));
    expect(Number(await redis<number>('PTTL', name))).toBeGreaterThan(86_000_000);
  });

  it('counts every request with an idempotency key of its own, although a hundred arrive at once', async () => {
    await t.importKeys({ key_id: 'a', org_id: 'acme', quota_max: 1_000 });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        serviceOf(t).consumeOrgQuota(caller, { keyID: 'a', amount: 1n, idempotencyKey: `k${index}` }),
      ),
    );
    // Each receipt contains the count after its own request.
    expect(new Set(results.map(({ figures }) => figures.used)).size).toBe(100);
    expect(await usedOf('a')).toBe(100n);
  });

  it(
    'return the same as counters in the database after every operation, over the whole range of 64 bits',
    { timeout: 120_000 },
    async () => {
      const around = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n];
      const max = fc.constantFrom(-1n, 0n, 1n, 10n, ...around, maxInt64 - 1n, maxInt64);
      const period = fc.constantFrom(-1n, 0n, 60n, 3600n, 2n ** 53n + 1n, 2n ** 62n);
      const amount = fc.constantFrom(1n, 3n, ...around, 2n ** 62n - 1n);
      const definition = fc.record(
        { quotaMax: max, quotaRenewalRate: period },
        { requiredKeys: [], noNullPrototype: true },
      );
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ kind: fc.constant('consume' as const), amount }) },
        {
          weight: 2,
          arbitrary: fc.record({ kind: fc.constant('update' as const), definition, isReset: fc.boolean() }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constant('clock' as const),
            seconds: fc.constantFrom(1, 59, 60, 61, 3599, 7201, 1_000_000, -1, -60),
          }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
      );
      const twin = await startOwnApp();
      let count = 0;
      const property = fc.asyncProperty(
        definition,
        fc.array(step, { maxLength: 25, size: 'max' }),
        async (first, steps) => {
          count += 1;
          const keyID = `twin-${count}`;
          const noon = new Date('2026-01-31T12:00:00Z');
          const responsesOf = async (app: TestApp) => {
            app.clock.now = noon;
            const service = serviceOf(app);
            // The same owner throughout would make each look at an organization look at all keys so far.
            const input = { ...first, orgID: keyID };
            const responses: unknown[] = [(await service.createOrgKey(caller, { keyID, input })).quotaEffect];
            for (const one of steps) {
              if (one.kind === 'clock') later(one.seconds * 1000, app);
              if (one.kind === 'consume')
                responses.push(await service.consumeOrgQuota(caller, { keyID, amount: one.amount }));
              if (one.kind === 'update') {
                const request = { keyID, input: one.definition, resetQuota: one.isReset };
                const done = await service.updateOrgKey(caller, request).catch((error: unknown) => error as AppError);
                responses.push(done instanceof AppError ? done.issues : [done.quotaEffect, done.quotaReset]);
              }
              const found = await service.requireOrgKey(caller, keyID);
              const [entry] = await service.history(found, { last: true, limit: 1 });
              responses.push(
                await service.quotasOf([found]),
                await service.summarizeQuotas([keyID]),
                entry?.quotaUsedBeforeReset,
              );
            }
            return responses;
          };
          expect(await responsesOf(t)).toStrictEqual(await responsesOf(twin));
        },
      );
      await fc.assert(property, generated(runs('REDIS_RUNS', 60)));
    },
  );

  it('allow exactly what is left at the ends of 64 bits, for concurrent requests', async () => {
    for (const max of [2n ** 53n, maxInt64]) {
      const keyID = `k${max}`;
      await t.importKeys({ key_id: keyID, org_id: 'acme', quota_max: max, quota_remaining: 7n });
      const responses = await Promise.all(Array.from({ length: 20 }, () => consume(keyID)));
      expect(responses.filter(({ allowed }) => allowed)).toHaveLength(7);
      expect(await redis('GET', counterOf(keyID))).toBe(String(max));
      expect(await usedOf(keyID)).toBe(max);
    }
  });

  it('start once from the counters in the database when an installation is moved to them', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10, quota_remaining: 4, quota_renewal_rate: 3600 });
    expect(await usedOf('k')).toBe(6n);
    expect(await redis('EXISTS', counterOf('k'), keptOf('k'))).toBe(0);
    const responses = await Promise.all([consume('k', 2n), consume('k', 2n), consume('k', 2n)]);
    expect(responses.map(({ allowed }) => allowed).sort()).toEqual([false, true, true]);
    expect(await redis('GET', counterOf('k'))).toBe('10');
    expect(await redis<number>('TTL', counterOf('k'))).toBeGreaterThan(3500);
  });

  it('are read from the counters of existing gateways, continue, and start their next period', async () => {
    const app = await startOwnApp({ ...env, KEYFRONT_KEY_HASH: 'murmur32' }, { now: () => new Date() });
    await app.importKeys({ key_id: 'acme-org', org_id: 'acme', quota_max: 10, quota_renewal_rate: 60 });
    const name = counterOf('acme-org', app);
    for (let count = 0; count < 3; count += 1)
      if ((await redis<number>('INCR', name)) === 1) await redis('EXPIRE', name, '40');
    const seconds = Math.floor(Date.now() / 1000);
    const response = await consume('acme-org', 2n, app);
    expect(response).toMatchObject({ allowed: true, figures: { used: 5n, remaining: 5n } });
    // As EXPIRE has set it, less what this test takes; a period of ours would be 60 seconds.
    expect(Number(response.figures.renewsAt) - seconds).toBeGreaterThan(0);
    expect(Number(response.figures.renewsAt) - seconds).toBeLessThanOrEqual(41);
    await redis('INCRBY', name, '4');
    expect(await consume('acme-org', 2n, app)).toMatchObject({ allowed: false, figures: { used: 9n } });
    expect((await reset('acme-org', { quotaMax: 10n, quotaRenewalRate: 60n }, app)).quotaReset).toBe('APPLIED');
    expect(await redis('GET', name)).toBe('0');
    expect(await redis<number>('TTL', name)).toBeGreaterThan(41);
    expect(await redis('INCR', name)).toBe(1);
    expect(await usedOf('acme-org', app)).toBe(1n);
    // A gateway's own reset.
    await redis('DEL', name);
    expect(await usedOf('acme-org', app)).toBe(0n);
  });

  it('keep their value when a quota ceases to renew, and are not cleared at the end of the last period', async () => {
    const app = await startOwnApp(env, { now: () => new Date() });
    await app.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10, quota_renewal_rate: 60 });
    await consume('k', 5n, app);
    expect(await redis<number>('PTTL', counterOf('k'))).toBeGreaterThan(0);
    await serviceOf(app).updateOrgKey(caller, { keyID: 'k', input: { quotaMax: 10n }, resetQuota: false });
    expect(await redis('PTTL', counterOf('k'))).toBe(-1);
    expect(await usedOf('k', app)).toBe(5n);
  });

  it('expire at the end of a period, and the next one starts where it ended', async () => {
    const app = await startOwnApp(env, { now: () => new Date() });
    await app.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 5, quota_renewal_rate: 1 });
    const first = await consume('k', 5n, app);
    await until(async () => (await redis('EXISTS', counterOf('k'))) === 0, 'The end of the period');
    expect(await usedOf('k', app)).toBe(0n);
    const next = await consume('k', 5n, app);
    expect(next.allowed).toBe(true);
    expect(next.figures.renewsAt).toBeGreaterThan(first.figures.renewsAt ?? 0n);
  });

  it('count by scripts that the server may drop at any time', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10 });
    for (let count = 1n; count <= 4n; count += 1n) {
      await redis('SCRIPT', 'FLUSH');
      expect((await consume('k')).figures.used).toBe(count);
    }
  });

  it('start again for a key that is created after its purge, and continue for a restored one', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10 });
    await consume('k', 5n);
    later(1000);
    await serviceOf(t).deleteOrgKey(caller, { keyID: 'k' });
    await serviceOf(t).restoreOrgKey(caller, { keyID: 'k' });
    expect(await usedOf('k')).toBe(5n);
    await serviceOf(t).deleteOrgKey(caller, { keyID: 'k' });
    later(60_000);
    await t.app.services.store.purge(t.clock.now);
    await serviceOf(t).createOrgKey(caller, { keyID: 'k', input: { orgID: 'acme', quotaMax: 10n } });
    expect(await usedOf('k')).toBe(0n);
    expect((await consume('k', 10n)).allowed).toBe(true);
  });

  it('are reset once: later counts stay, however often the reset is applied', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10, quota_renewal_rate: 60 });
    await consume('k', 5n);
    expect((await reset('k', { quotaMax: 10n, quotaRenewalRate: 60n })).quotaReset).toBe('APPLIED');
    await consume('k', 3n);
    const { externalCounters, hashKeyID } = t.app.services.ports;
    const changes = () => t.app.services.store.pendingFor(hashKeyID('k'));
    expect(await changes()).toHaveLength(1);
    await externalCounters?.applyPending(hashKeyID('k'));
    expect(await usedOf('k')).toBe(3n);
    later(6_000);
    await expect.poll(changes).toHaveLength(0);
    expect(await usedOf('k')).toBe(3n);
  });

  it('apply a reset again that Redis has lost with its last writes', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10 });
    await consume('k', 5n);
    const before = await redis<string[]>('HGETALL', keptOf('k'));
    await reset('k', { quotaMax: 10n });
    // A run of the scheduled job has ended before the next one begins, and has kept this reset.
    const { mock } = vi.spyOn(t.app.services.store, 'pendingBefore');
    await until(() => mock.calls.length === 2);
    // As it is after a crash of a Redis that writes to its disk every second.
    await redis('SET', counterOf('k'), '5');
    await redis('HSET', keptOf('k'), ...before);
    expect(await usedOf('k')).toBe(5n);
    later(6_000);
    await expect.poll(() => usedOf('k')).toBe(0n);
  });

  it('start from the database when Redis has lost everything', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10 });
    await consume('k', 4n);
    await serviceOf(t).updateOrgKey(caller, { keyID: 'k', input: { quotaMax: 10n, alias: 'x' }, resetQuota: false });
    await consume('k', 2n);
    await redis('DEL', counterOf('k'), keptOf('k'));
    expect(await usedOf('k')).toBe(4n);
    expect(await consume('k', 6n)).toMatchObject({ allowed: true, figures: { used: 10n } });
  });

  it('return an internal error if they are not integers, and are not overwritten', async () => {
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10 });
    await redis('SET', counterOf('k'), 'something else');
    await expect(consume('k')).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await redis('GET', counterOf('k'))).toBe('something else');
  });

  it('that cannot be reset delay no resets of other keys', async () => {
    const keyIDs = Array.from({ length: 203 }, (_, index) => `k${index}`);
    const failing = keyIDs.slice(0, 201);
    await t.importKeys(...keyIDs.map((key_id) => ({ key_id, org_id: 'acme', quota_max: 10 })));
    for (const keyID of keyIDs) {
      later(1);
      expect(await reset(keyID)).toMatchObject({ quotaReset: 'APPLIED' });
    }
    for (const keyID of failing) await redis('SET', counterOf(keyID), 'no integer');
    // A reset that was applied is checked again after 5 seconds, and then acknowledged.
    later(6_000);
    const pending = async () => (await allOf(t.app.services.store.pendingBefore(t.clock.now))).length;
    await expect.poll(pending).toBe(failing.length);
    for (const keyID of failing) await redis('DEL', counterOf(keyID));
    await expect.poll(pending).toBe(0);
  });

  it('are read together for a page of keys: all commands are sent before the first response arrives', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => ({ key_id: `k${index}`, org_id: 'acme', quota_max: 10 }));
    await t.importKeys(...keys);
    for (const { key_id } of keys) await consume(key_id, 2n);
    const { externalCounters } = t.app.services.ports;
    if (!externalCounters) throw new Error('The counters are in the database.');
    const look = vi.spyOn(externalCounters, 'readCounters');
    onTestFinished(() => look.mockRestore());
    const { body } = await t.graphql('{ orgKeys(first: 50) { edges { node { quota { used } } } } }');
    expect(JSON.stringify(body).match(/"used":2/g)).toHaveLength(50);
    expect(look).toHaveBeenCalledTimes(1);
    const listed = await t.send('/svc/org/keys?limit=50', { headers: { 'x-svc-authorization': t.service } });
    expect(listed.text.match(/"used":2/g)).toHaveLength(50);
    expect(look).toHaveBeenCalledTimes(2);
  });
});

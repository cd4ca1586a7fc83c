import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { makeOwnPlace, sqlite } from '../../support/engines.js';
import { callRedis, hasOwnRedis, ownRedis, unlessNoOwn } from '../../support/redis.js';
import { redisPair, type RedisPair } from '../../support/redis-sentinel.js';
import { sendRequest } from '../../support/responses.js';
import { until } from '../../support/until.js';

let t: TestApp;
const start = async (url: string) => {
  const { env } = await makeOwnPlace(sqlite);
  t = await startOwnApp({ ...env, KEYFRONT_QUOTA_URL: url });
  await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 100 });
};
const count = async () => {
  const { status, body } = await sendRequest(t, 'POST', '/svc/org/keys/k/quota', { amount: 1 });
  return status === 200 ? body['used'] : body['message'];
};
const counterName = async (url: string) => (await callRedis<string[]>(url, 'KEYS', 'keyfront:quota:*'))[0] ?? '';

describe.skipIf(!hasOwnRedis)(`live counters in a Redis with a replica${unlessNoOwn}`, () => {
  let pair: RedisPair;
  beforeEach(async () => {
    pair = await redisPair();
    onTestFinished(() => pair.remove());
    await start(pair.url);
  });

  it('follow the primary that Sentinel names, also when the previous one is back', async () => {
    expect(await count()).toBe(1);
    await pair.replicated();
    await pair.failOver();
    await until(async () => (await count()) === 2, 'A count on the new primary');
    await pair.addReplica();
    await pair.replicated();
    expect(await count()).toBe(3);
    await pair.failOver();
    await until(async () => (await count()) === 4, 'A count on the previous primary');
    expect(t.logs()).toContain('The live counters in Redis can be reached again.');
  });

  it('leave a server that became a replica, after an error that nothing was counted', async () => {
    expect(await count()).toBe(1);
    const url = await pair.primaryURL();
    // Its connections stay open.
    await callRedis(url, 'REPLICAOF', '127.0.0.1', '1');
    expect(await count()).toBe('The live quota cannot be reached; nothing was counted.');
    await until(() => t.logs().includes('cannot be reached'), 'The end of the connection');
    await callRedis(url, 'REPLICAOF', 'NO', 'ONE');
    await until(async () => (await count()) === 2, 'A count on the primary');
  });
});

describe.skipIf(!hasOwnRedis)(`live counters in a Redis that requires replicas${unlessNoOwn}`, () => {
  it('reject consumption while too few follow, and count nothing', async () => {
    const redis = await ownRedis();
    onTestFinished(() => redis.remove());
    await start(redis.url);
    expect(await count()).toBe(1);
    await callRedis(redis.url, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await count()).toBe('The live quota cannot be reached; nothing was counted.');
    expect(await callRedis(redis.url, 'GET', await counterName(redis.url))).toBe('1');
    await callRedis(redis.url, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect(await count()).toBe(2);
  });
});

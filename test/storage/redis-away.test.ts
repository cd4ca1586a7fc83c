import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app.js';
import { writeTLSFiles } from '../support/localhost-tls.js';
import { makeOwnPlace, sqlite, type EnginePlace } from '../support/engines.js';
import { freePort } from '../support/free-port.mjs';
import { hasOwnRedis, ownRedis, unlessNoOwn, type OwnRedis } from '../support/redis.js';
import { makeOwnCommandLine } from '../support/cli.js';
import { allOf } from '../support/collect.js';
import { sendRequest } from '../support/responses.js';
import { tamper } from '../support/tamper.js';
import { createTestTelemetry } from '../support/telemetry.js';

const password = 'a-password-of-Redis';

let redis: OwnRedis;
let place: EnginePlace;
let t: TestApp;

const settings = () => ({ ...place.env, KEYFRONT_QUOTA_URL: redis.url.replace('//', `//:${password}@`) });

describe.skipIf(!hasOwnRedis)(`live counters in an unreachable Redis${unlessNoOwn}`, () => {
  beforeEach(async () => {
    redis = await ownRedis('--requirepass', password);
    onTestFinished(() => redis.remove());
    place = await makeOwnPlace(sqlite);
    t = await startOwnApp(settings());
    await t.importKeys({ key_id: 'k', org_id: 'acme', alias: 'one', quota_max: 10, quota_renewal_rate: 60 });
    await consume(4);
  });
  afterEach(async () => {
    expect(t.logs()).not.toContain(password);
  });

  const consume = (amount: number) =>
    t.graphql(`mutation { consumeOrgQuota(keyID: "k", amount: ${amount}) { allowed quota { used } } }`);
  const update = (resetQuota: boolean, alias = 'two') =>
    t.graphql(
      `mutation ($alias: String, $resetQuota: Boolean) {
        updateOrgKey(keyID: "k", input: { alias: $alias, quotaMax: 10, quotaRenewalRate: 60 }, resetQuota: $resetQuota) {
          version quotaReset quotaEffect { summary before { used } after { used } } orgKey { definition { alias } }
        } }`,
      { alias, resetQuota },
    );
  const dataOf = ({ body }: { body: Record<string, unknown> }) => body['data'];
  const read = () => t.graphql('{ orgKey(by: { keyID: "k" }) { alias: definition { alias } quota { used } } }');
  const used = async () => (dataOf(await read()) as { orgKey: { quota: { used: number } | null } }).orgKey.quota?.used;

  it('reject consumption in both APIs with a time to retry, and state that nothing was counted', async () => {
    await redis.kill();
    const { body } = await consume(1);
    expect(body).toMatchObject({
      data: { consumeOrgQuota: null },
      errors: [
        {
          message: 'The live quota cannot be reached; nothing was counted.',
          path: ['consumeOrgQuota'],
          extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 1 },
        },
      ],
    });
    const response = await sendRequest(t, 'POST', '/svc/org/keys/k/quota', { amount: 1 });
    expect(response).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('reveal to the caller of another organization no more about a key than at any time', async () => {
    await redis.kill();
    const unknown = (await t.issue('service', { orgID: 'umbrella' })).secret;
    for (const keyID of ['k', 'no-such-key']) {
      const response = await t.send(`/svc/org/keys/${keyID}/quota`, {
        method: 'POST',
        headers: { 'x-svc-authorization': unknown },
      });
      expect([response.status, response.body['message']]).toEqual([404, 'There is no such key.']);
    }
  });

  it('return everything but the figures, which are null with an error at their path and never zeros', async () => {
    await redis.kill();
    expect((await read()).body).toMatchObject({
      data: { orgKey: { alias: { alias: 'one' }, quota: null } },
      errors: [{ path: ['orgKey', 'quota'], extensions: { code: 'UNAVAILABLE' } }],
    });
    const list = await t.graphql(
      '{ orgKeys { edges { node { orgID quota { used } organization { quotaSummary { used } } } } } }',
    );
    expect(list.body).toMatchObject({
      data: { orgKeys: { edges: [{ node: { orgID: 'acme', quota: null, organization: { quotaSummary: null } } }] } },
    });
    expect(await sendRequest(t, 'GET', '/svc/org/keys/k')).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE' },
    });
    expect((await t.send('/ready')).status).toBe(200);
  });

  it('accept updates, and resets as pending, which are applied when Redis is reachable again', async () => {
    await redis.kill();
    expect(dataOf(await update(false))).toMatchObject({
      updateOrgKey: { version: 2, quotaReset: null, quotaEffect: null, orgKey: { definition: { alias: 'two' } } },
    });
    const pending = await update(true);
    expect(pending.body['errors']).toBeUndefined();
    expect(dataOf(pending)).toMatchObject({ updateOrgKey: { version: 3, quotaReset: 'PENDING', quotaEffect: null } });
    const inREST = await t.update('k', { quota_max: 10, quota_renewal_rate: 60 }, '?reset_quota=1');
    expect([inREST.status, inREST.headers.get('quota-reset')]).toEqual([200, 'pending']);
    const history = await t.graphql(
      '{ orgKey(by: { keyID: "k" }) { history(last: 1) { edges { node { quotaUsedBeforeReset } } } } }',
    );
    expect(JSON.stringify(dataOf(history))).toContain('"quotaUsedBeforeReset":null');
    await redis.start();
    await expect.poll(used).toBe(4);
    t.clock.now = new Date(t.clock.now.getTime() + 6_000);
    await expect.poll(used).toBe(0);
    expect(t.logs()).toContain('The live counters in Redis cannot be reached');
    expect(t.logs()).toContain('The live counters in Redis can be reached again.');
  });

  it('report for each key of a bulk reset whether it has been applied', async () => {
    const all = `mutation { resetOrgQuotas(filter: { orgID: "acme" }, dryRun: false) { items { change { quotaReset } error { code } } } }`;
    expect(dataOf(await t.graphql(all))).toEqual({
      resetOrgQuotas: { items: [{ change: { quotaReset: 'APPLIED' }, error: null }] },
    });
    await redis.kill();
    expect(dataOf(await t.graphql(all))).toEqual({
      resetOrgQuotas: { items: [{ change: { quotaReset: 'PENDING' }, error: null }] },
    });
    expect(dataOf(await t.graphql(all.replace('false', 'true')))).toEqual({
      resetOrgQuotas: { items: [{ change: { quotaReset: null }, error: null }] },
    });
  });

  it('are reported by the metrics, and their pending resets also by keyfront check', async () => {
    await t.close();
    const telemetry = createTestTelemetry();
    t = await startOwnApp(settings(), {}, telemetry);
    const metrics = async () => [
      (await telemetry.series('keyfront_redis_up'))[''],
      (await telemetry.series('keyfront_quota_resets_pending'))[''],
    ];
    expect(await metrics()).toEqual([1, 0]);
    await redis.kill();
    await expect.poll(metrics).toEqual([0, 0]);
    await update(true);
    expect(await metrics()).toEqual([0, 1]);

    const c = await makeOwnCommandLine();
    const check = (...options: string[]) => c.keyfront(['check', ...options], place.env);
    const since = t.clock.now.toISOString();
    expect(await check()).toEqual({
      code: 0,
      out: '',
      stderr: `Waiting for Redis since ${since}: 1 change of live quotas.\n1 key verified, no problems found.\n`,
    });
    expect(JSON.parse((await check('--json')).out)).toEqual({ keys: 1, pending_resets: 1, problems: [] });
    tamper(join(place.folder, 'keyfront.db'), 'UPDATE quota_changes SET is_reset = 0');
    expect(await check()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A change of a live quota that waits for Redis fails the integrity check.'),
    });
    tamper(join(place.folder, 'keyfront.db'), 'DELETE FROM quota_changes');
  });

  it('keep a pending reset over a restart, and apply several of them in their order', async () => {
    await redis.kill();
    await update(true);
    t.clock.now = new Date(t.clock.now.getTime() + 10_000);
    await update(true);
    const { now } = t.clock;
    await t.close();
    t = await startOwnApp(settings());
    t.clock.now = new Date(now.getTime() + 6_000);
    await redis.start();
    // A reset that is applied later would clear the counter again.
    await expect.poll(async () => allOf(t.app.services.store.pendingBefore(new Date(8e15)))).toEqual([]);
    expect(await used()).toBe(0);
    await consume(3);
    const response = await t.graphql('{ orgKey(by: { keyID: "k" }) { quota { used renewsAt } } }');
    expect(dataOf(response)).toMatchObject({
      orgKey: { quota: { used: 3, renewsAt: new Date(now.getTime() + 60_000).toISOString() } },
    });
  });

  it('abandon a server that accepts commands and never responds after about a second, and find it again', async () => {
    redis.signal('SIGSTOP');
    const { body } = await consume(1);
    expect(body['errors']).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    // The next ones are rejected without a wait: two hundred waits of a second would not end within the limit of the test.
    for (let count = 0; count < 200; count += 1) await consume(1);
    redis.signal('SIGCONT');
    await expect.poll(used).toBe(4);
  });

  it('do not prevent a start, which reports them without the password', async () => {
    await redis.kill();
    await t.close();
    t = await startOwnApp(settings());
    expect(dataOf(await update(true))).toMatchObject({ updateOrgKey: { quotaReset: 'PENDING' } });
    expect(t.logs()).toContain('The live counters in Redis cannot be reached');
  });

  it('use TLS if configured, and reject a certificate that cannot be trusted', async () => {
    const files = writeTLSFiles();
    const port = await freePort();
    const tls = ['--tls-port', String(port), '--tls-cert-file', files.certFile, '--tls-key-file', files.keyFile];
    const own = await ownRedis(...tls, '--tls-ca-cert-file', files.certFile, '--tls-auth-clients', 'no');
    await t.close();
    t = await startOwnApp({ ...place.env, KEYFRONT_QUOTA_URL: `rediss://127.0.0.1:${port}` });
    expect(t.logs()).toMatch(/The live counters in Redis cannot be reached: .*self-signed certificate/);
    await own.remove();
    files.remove();
  });

  it('report a server that rejects the password with its own message', async () => {
    await t.close();
    t = await startOwnApp({ ...place.env, KEYFRONT_QUOTA_URL: redis.url.replace('//', '//:another-password@') });
    expect(t.logs()).toContain('WRONGPASS');
    expect(t.logs()).not.toContain('another-password');
    expect((await consume(1)).body['errors']).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  });
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { keyNames } from '../../src/storage/redis/counter.js';
import { startApp, startOwnApp } from '../support/app.js';
import { makeOwnCommandLine } from '../support/cli.js';
import { makeOwnPlace, sqlite } from '../support/engines.js';
import { freePort } from '../support/free-port.mjs';
import { sendRequest } from '../support/responses.js';

const url = 'redis://:a-password@redis.internal:6379/1';

describe('the settings of live counters in Redis', () => {
  const invalidURL = 'KEYFRONT_QUOTA_URL must be a URL of the form redis://';
  const sentinelURL = 'or redis+sentinel://user:PASS@host:26379,host:26379/NAME';
  const invalidKeys = 'KEYFRONT_QUOTA_KEYS must hold {keyHash} once';
  it.each([
    [{ KEYFRONT_QUOTA_URL: 'http://:a-password@redis.internal' }, invalidURL],
    [{ KEYFRONT_QUOTA_URL: 'redis://' }, invalidURL],
    [{ KEYFRONT_QUOTA_URL: `${url}/a-password` }, invalidURL],
    [{ KEYFRONT_QUOTA_URL: 'redis+sentinel://:a-password@first,second' }, sentinelURL],
    [{ KEYFRONT_QUOTA_KEYS: 'quota-{keyHash}' }, 'KEYFRONT_QUOTA_KEYS requires KEYFRONT_QUOTA_URL.'],
    [{ KEYFRONT_QUOTA_URL: url, KEYFRONT_QUOTA_KEYS: 'quota-' }, invalidKeys],
    [{ KEYFRONT_QUOTA_URL: url, KEYFRONT_QUOTA_KEYS: '{keyHash}{keyHash}' }, invalidKeys],
    [{ KEYFRONT_QUOTA_URL: url, KEYFRONT_QUOTA_KEYS: '{org}{keyHash}' }, invalidKeys],
    [{ KEYFRONT_QUOTA_URL: url, KEYFRONT_QUOTA_KEYS: 'a b {keyHash}' }, invalidKeys],
  ])('reject %j with a message that repeats no password', (env, words) => {
    const attempt = () => readConfig(env);
    expect(attempt).toThrow(words);
    expect(attempt).not.toThrow('a-password');
  });

  it.each([
    url,
    'rediss://redis.internal',
    'redis://user:p%40ss@127.0.0.1:1/',
    'redis://[::1]:6379',
    'redis+sentinel://first,[::1]:26380/counters/1',
  ])('accept %s', (given) => {
    const { secrets } = readConfig({ KEYFRONT_QUOTA_URL: given });
    expect(secrets.quotaURL).toBe(given);
  });

  it('are not printed', () => {
    const { config, secrets } = readConfig({ KEYFRONT_QUOTA_URL: url });
    for (const shown of [inspect([config, secrets]), JSON.stringify([config, secrets])]) {
      expect(shown).not.toContain('a-password');
    }
  });

  it('store both keys of a counter in one hash slot, which the braces determine', () => {
    expect(keyNames('quota-{keyHash}', 'ab12')).toEqual(['quota-ab12', 'keyfront:{quota-ab12}']);
  });
});

describe('the command line with unreachable live counters', () => {
  it('changes keys, reports a pending reset, and prints no unknown figures', async () => {
    const c = await makeOwnCommandLine();
    const env = { KEYFRONT_QUOTA_URL: 'redis://:a-password@127.0.0.1:1' };
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 10, quota_remaining: 4 });
    await t.close();
    const text = await c.keyfront(['keys', 'reset', 'k'], env);
    expect([text.code, text.out]).toEqual([0, expect.stringContaining('is reset as soon as the counter is reachable')]);
    const json = await c.keyfront(['keys', 'reset', 'k', '--json'], env);
    expect(JSON.parse(json.out)).toMatchObject({ quota: null, quota_reset: 'pending' });
    const exported = await c.keyfront(['keys', 'export'], env);
    expect([exported.code, exported.out]).toEqual([1, '']);
    expect(exported.stderr).toContain('The live quota cannot be reached');
    expect([text, json, exported].map(({ stderr }) => stderr).join('')).not.toContain('a-password');
    // The store itself knows of both resets.
    expect((await c.keyfront(['keys', 'export'])).out).toContain('"quota_remaining":10');
  });
});

describe('Sentinels that name no primary', () => {
  it('are reported without the password, and do not keep the service from starting', async () => {
    const { env } = await makeOwnPlace(sqlite);
    const sentinels = `redis+sentinel://:a-password@127.0.0.1:${await freePort()}/counters`;
    const t = await startOwnApp({ ...env, KEYFRONT_QUOTA_URL: sentinels });
    await t.importKeys({ key_id: 'k', org_id: 'acme', quota_max: 100 });
    const { body } = await sendRequest(t, 'POST', '/svc/org/keys/k/quota', { amount: 1 });
    expect(body['message']).toBe('The live quota cannot be reached; nothing was counted.');
    expect(t.logs()).toContain('The live counters in Redis cannot be reached: Sentinel: connect ECONNREFUSED');
    expect(t.logs()).not.toContain('a-password');
  });
});

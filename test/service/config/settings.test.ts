import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';
import { describeSettings } from '../../../src/config/settings.js';

/** The settings that are plain texts, or names of files that are read later. */
const anyText = [
  'KEYFRONT_DATA',
  'KEYFRONT_KEY_RING',
  'KEYFRONT_KEY_HASH_PEPPER',
  'KEYFRONT_TRUSTED_DOCUMENTS',
  'KEYFRONT_OIDC_AUDIENCE',
  'KEYFRONT_OIDC_CLIENT_ID',
  'KEYFRONT_TLS_CERT',
  'KEYFRONT_TLS_KEY',
  'KEYFRONT_URL',
  'KEYFRONT_SERVICE_CREDENTIAL',
  'KEYFRONT_MANAGEMENT_CREDENTIAL',
];

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return String(error).split('\n  ').slice(1);
  }
}

describe('settings', () => {
  it('report every invalid setting in one error that repeats no value', () => {
    const names = Object.keys(describeSettings()).filter((name) => !anyText.includes(name));
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, 'hunter2 is wrong'])));
    for (const name of names) expect(problems).toContainEqual(expect.stringMatching(new RegExp(`^${name}(:| must) `)));
    expect(problems.join()).not.toContain('hunter2');
  });

  it.each<[string, readonly string[], string]>([
    ['PORT', ['', 'x', '-1', '1.5', '65536', '4000 ', '0x10'], 'must be a number from 0 to 65535.'],
    [
      'NODE_ENV',
      ['prod', 'Production', 'PRODUCTION', 'staging', ' production', ''],
      'must be one of development, test, production.',
    ],
    ['KEYFRONT_METRICS_PORT', ['', '65536', 'on'], 'must be a number from 0 to 65535.'],
    ['KEYFRONT_INTROSPECTION', ['', 'on', 'closed', 'OPEN'], 'must be one of open, credential.'],
    ['KEYFRONT_TRUSTED_PROXIES', ['all', '11', ''], 'must be a number from 0 to 10.'],
    [
      'KEYFRONT_WORKER_TIMEOUT_SECONDS',
      ['', '0', '-1', '1.5', '3601', '10s'],
      'must be a number of seconds from 1 to 3600.',
    ],
    [
      'KEYFRONT_KEY_HASH',
      ['md5', 'SHA256', 'murmur', ''],
      'must be one of sha256, hmac-sha256, murmur32, murmur64, murmur128.',
    ],
  ])('reject each invalid value of %s', (name, values, problem) => {
    for (const value of values) {
      expect([value, ...problemsOf({ [name]: value })]).toEqual([value, `${name} ${problem}`]);
    }
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com', '1270.0.0.1'])(
    'T-01 reject HOST=%j in development',
    (HOST) => {
      const problem = 'HOST: development listens on loopback only; set NODE_ENV=production to listen anywhere else.';
      expect(problemsOf({ HOST })).toEqual([problem]);
    },
  );

  it.each<[Record<string, string>, string]>([
    [{ NODE_ENV: 'production', HOST: '' }, 'HOST must not be empty: give an address, 0.0.0.0 for all of IPv4.'],
    [{ NODE_ENV: 'production', HOST: ' ' }, 'HOST must not be empty: give an address, 0.0.0.0 for all of IPv4.'],
    [
      { NODE_ENV: 'production', KEYFRONT_METRICS_PORT: '9464', KEYFRONT_METRICS_HOST: '' },
      'KEYFRONT_METRICS_HOST must not be empty',
    ],
    [{ KEYFRONT_METRICS_PORT: '4000' }, 'KEYFRONT_METRICS_PORT must be another port than PORT'],
    [{ KEYFRONT_METRICS_HOST: '127.0.0.1' }, 'KEYFRONT_METRICS_HOST requires KEYFRONT_METRICS_PORT.'],
    [{ KEYFRONT_METRICS_PORT: '9464', KEYFRONT_METRICS_HOST: '0.0.0.0' }, 'development listens on loopback only'],
    [{ KEYFRONT_KEY_HASH: 'hmac-sha256' }, 'KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes'],
    [
      { KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: 'p'.repeat(31) },
      'KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes',
    ],
    [{ KEYFRONT_DATA: '' }, 'KEYFRONT_DATA'],
    [{ KEYFRONT_KEY_RING: '' }, 'KEYFRONT_KEY_RING'],
    [{ KEYFRONT_GRAPHIQL: '' }, 'KEYFRONT_GRAPHIQL'],
    [{ KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'yes' }, 'KEYFRONT_ONLY_TRUSTED_DOCUMENTS'],
    [{ KEYFRONT_TRUSTED_DOCUMENTS: ' ' }, 'KEYFRONT_TRUSTED_DOCUMENTS'],
    [
      { KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on' },
      'KEYFRONT_ONLY_TRUSTED_DOCUMENTS=on requires KEYFRONT_TRUSTED_DOCUMENTS.',
    ],
  ])('reject %j', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)]);
  });

  it('O-08 reject a pepper that the hash algorithm would ignore', () => {
    for (const algorithm of [undefined, 'sha256', 'murmur64']) {
      const env = { KEYFRONT_KEY_HASH_PEPPER: 'p'.repeat(32), ...(algorithm && { KEYFRONT_KEY_HASH: algorithm }) };
      expect(problemsOf(env)).toEqual(['KEYFRONT_KEY_HASH_PEPPER requires KEYFRONT_KEY_HASH=hmac-sha256.']);
    }
  });

  it('measure nothing without a port, and measure on loopback by default', () => {
    const metrics = (env: Record<string, string>) => readConfig(env).config.metrics;
    expect(metrics({})).toBeUndefined();
    expect(metrics({ KEYFRONT_METRICS_PORT: '9464' })).toEqual({ host: '127.0.0.1', port: 9464 });
    const everywhere = { NODE_ENV: 'production', KEYFRONT_METRICS_PORT: '9464', KEYFRONT_METRICS_HOST: '0.0.0.0' };
    expect(metrics(everywhere)).toEqual({ host: '0.0.0.0', port: 9464 });
  });

  it('have 30 seconds for a worker by default', () => {
    expect(readConfig({}).config.workerTimeoutMs).toBe(30_000);
    expect(readConfig({ KEYFRONT_WORKER_TIMEOUT_SECONDS: '5' }).config.workerTimeoutMs).toBe(5_000);
  });

  it.each(['KEYFRONT_DATABASE_URL', 'KEYFRONT_QUOTA_URL'])('reject an invalid %s without its password', (name) => {
    const problems = problemsOf({ [name]: 'http://user:hunter2@host' });
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be a URL of the form \\w+://user:PASS@`)),
    ]);
  });

  it('accept several hosts of PostgreSQL, each of which must be valid', () => {
    const problemsWith = (hosts: string) =>
      problemsOf({ KEYFRONT_DATABASE_URL: `postgres://user:hunter2@${hosts}/keyfront` });
    expect(problemsWith('first:5432,second:5433')).toEqual([]);
    expect(problemsWith('first:5432,second:port')).toHaveLength(1);
  });

  it.each(['development', 'production'])('have the documented defaults in %s', (profile) => {
    const defaults = Object.entries(describeSettings()).flatMap(([name, meaning]) => {
      const [, both, inDevelopment, inProduction] =
        / Default: (?:(\S+)|(\S+) in development, (\S+) in production)\.$/.exec(meaning) ?? [];
      const value = both ?? (profile === 'production' ? inProduction : inDevelopment);
      return value === undefined || value === 'none' || name.startsWith('KEYFRONT_QUOTA') ? [] : [[name, value]];
    });
    expect(defaults.length).toBeGreaterThan(12);
    const port = { KEYFRONT_METRICS_PORT: '9464' };
    const env = { ...Object.fromEntries(defaults), NODE_ENV: profile, ...port } as Record<string, string>;
    expect(readConfig(env)).toEqual(readConfig({ NODE_ENV: profile, ...port }));
  });
});

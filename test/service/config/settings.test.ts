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
  'KEYFRONT_OIDC_ORG_CLAIM',
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

import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringifyJSON } from '../../../src/lib/json.js';
import { asJSON, jsonLines, makeOwnCommandLine, type CommandLine, type CommandStreams } from '../../support/cli.js';
import { startOwnServer, type TestServer } from '../../support/server.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const good = {
  alias: 'Billing',
  org_id: 'acme',
  key_id: 'acme-demo',
  rate: 100,
  per: 60,
  apply_policies: ['silver'],
};
const goodHash = '3adde5e43b9524a987b429b97780564c8e685865f0d0950a0a90d723e323849e';
const odd = { ...good, apply_policy_id: 'gold' };
const bad = { alias: 7, quota_maxx: 1, access_rights: { invoices: { limit: { quota_max: 1.5 } } } };
const terminal = { isTerminal: true };

/** Runs a command with --json. */
const keyfront = async (args: readonly string[], ...more: [Record<string, string>?, boolean?, CommandStreams?]) =>
  c.keyfront(asJSON(args), ...more);

/** Previews one definition. */
const preview = async (
  definition: object,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  streams: CommandStreams = {},
) => c.keyfront(['preview', await c.file('definition.json', stringifyJSON(definition)), ...args], env, false, streams);

describe('keyfront preview', () => {
  it('prints the same as text, colored on a terminal', async () => {
    const file = await c.file('bad.json', stringifyJSON(bad));
    const { code, out } = await c.keyfront(['preview', file], {}, false, terminal);
    expect(code).toBe(1);
    expect(out).toContain('\u001b[31merror  \u001b[39m');
    const { out: plain } = await c.keyfront(['preview', file], { NO_COLOR: '1' }, false, terminal);
    expect(plain).toBe(
      `${file}: invalid\n` +
        '  error    access_rights.invoices.limit.quota_max must be an integer  NOT_INTEGER\n' +
        '  error    alias must be a string  WRONG_TYPE\n' +
        '  error    quota_maxx is an unknown field; did you mean `quota_max`?  UNKNOWN_FIELD\n',
    );
  });

  it.each([
    [{}, false, ['--json'], false, 'JSON'],
    [{}, false, [], false, 'text'],
    [{ FORCE_COLOR: '1' }, false, [], true, 'text'],
    [{ FORCE_COLOR: '0' }, true, [], false, 'text'],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, [], true, 'text'],
    [{ NO_COLOR: '' }, true, [], true, 'text'],
    [{ TERM: 'dumb' }, true, [], false, 'text'],
    [{ FORCE_COLOR: '1' }, true, ['--json'], false, 'JSON'],
  ])('with %j, on a terminal %j, and %j paints %j and speaks %s', async (env, isTerminal, args, isPainted, form) => {
    const { code, out } = await preview(odd, args, env, { isTerminal });
    expect(code).toBe(0);
    expect(out.includes('\u001b[')).toBe(isPainted);
    expect(out.startsWith('{')).toBe(form === 'JSON');
    expect(out).toContain('DEPRECATED_FIELD');
  });

  it.each([
    ['{"alias": }', 'MALFORMED_JSON', 'is not valid JSON (line 1, column 11)'],
    ['{"alias":"a","alias":"b"}', 'DUPLICATE_MEMBER', 'occurs more than once in its object'],
    ['"a text"', 'WRONG_TYPE', 'must be an object'],
    [Buffer.from([0x22, 0xff, 0x22]), 'MALFORMED_TEXT', 'is not valid UTF-8'],
  ])('reports %j as invalid', async (content, problem, message) => {
    const file = await c.file('odd.json', content);
    const { code, out } = await keyfront(['preview', file]);
    expect(code).toBe(1);
    expect(jsonLines(out)[0]?.['issues']).toMatchObject([{ code: problem, message }]);
  });

  it('opens no data folder and writes nothing', async () => {
    await preview(good);
    expect(existsSync(c.folder)).toBe(false);
  });

  it('hashes with the algorithm of the environment', async () => {
    const env = { KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: 'p'.repeat(32) };
    const { out } = await preview(good, ['--json'], env);
    expect(jsonLines(out)[0]?.['key_hash']).toMatch(/^[\da-f]{64}$/);
    expect(out).not.toContain(goodHash);
    expect((await preview(good, [], { KEYFRONT_KEY_HASH: 'md5' })).code).toBe(2);
  });

  it('prints no control characters of a definition', async () => {
    const evil = '\u001b[2J\u009b31m\u202e';
    const file = await c.file(
      'evil.json',
      stringifyJSON({ alias: evil, access_rights: { [evil]: { api_id: 7 } }, [evil]: 1 }),
    );
    const fine = await c.file(`fine.json`, stringifyJSON({ alias: evil }));
    for (const args of [[], ['--json']]) {
      const { out, stderr } = await keyfront(['preview', file, fine, ...args], { NO_COLOR: '1' }, true, terminal);
      // eslint accepts no other pattern for "any control character but the line feed".
      expect(
        [...(out + stderr)].filter((character) => /[\p{Cc}\u202e]/u.test(character) && character !== '\n'),
      ).toEqual([]);
    }
    const { out } = await keyfront(['preview', fine]);
    expect(jsonLines(out)[0]).toMatchObject({ data: { alias: evil } });
  });
});

describe('keyfront preview --import', () => {
  const rows = [
    good,
    { org_id: 'acme' },
    { key_id: 'nameless' },
    { ...good, alias: 'again' },
    bad,
    { key_id: 'late', org_id: 'acme', quota_renewal_rate: 9223372036854775807n },
    { key_id: 'old', org_id: 'acme', expires: 1, apply_policies: ['gold'] },
    { key_hash: goodHash.replaceAll(/./g, 'a'), org_id: 'acme' },
  ];
  const content = rows.map((row) => `${stringifyJSON(row)}\n`).join('');

  it('reports the problems that the import reports, and names duplicates', async () => {
    const file = await c.file('keys.jsonl', content);
    const { code, out } = await keyfront(['preview', '--import', file]);
    expect(code).toBe(1);
    expect(jsonLines(out)).toMatchObject([
      { valid: true, key_hash: goodHash, data: { alias: 'Billing', org_id: 'acme' }, warnings: [] },
      { valid: false, issues: [{ path: 'key_id', code: 'MISSING' }] },
      { valid: false, issues: [{ path: 'org_id', code: 'MISSING' }] },
      {
        valid: true,
        warnings: [{ path: 'key_id', code: 'DUPLICATE', message: expect.stringContaining(`${file}:1;`) }],
      },
      { valid: false, issues: [{ path: 'key_id', code: 'MISSING' }] },
      { valid: false, issues: [{ path: 'quota_renewal_rate', code: 'OUT_OF_RANGE' }] },
      { valid: true, warnings: [{ path: 'expires', code: 'EXPIRES_IN_PAST' }] },
      { valid: true, key_hash: goodHash.replaceAll(/./g, 'a') },
    ]);
    const imported = await keyfront(['keys', 'import', file]);
    const invalid = jsonLines(out).flatMap(({ valid }, index) => (valid === true ? [] : [index + 1]));
    expect([...imported.stderr.matchAll(/^line (\d+): (?!skipped)/gm)].map(([, line]) => Number(line))).toStrictEqual(
      invalid,
    );
    expect(imported.stderr).toContain('line 4: skipped, because line 1 has the same key_id\n');
  });

  it('has no warning for the dates of an exported key, which an import stores', async () => {
    const dates = { date_created: '2026-01-01T00:00:00Z', last_updated: '1767225600' };
    const warnings = async (...args: string[]) =>
      jsonLines((await preview({ ...good, ...dates }, asJSON(args))).out)[0]?.['warnings'];
    expect(await warnings('--import', '--strict')).toStrictEqual([]);
    expect(await warnings()).toMatchObject([{ code: 'SERVER_OWNED' }, { code: 'SERVER_OWNED' }]);
  });

  it('takes the owner from --org, and hashes from --passwords-are-hashed', async () => {
    const hashed = { key_id: 'k', basic_auth_data: { password: `$2b$04$${'a'.repeat(53)}` } };
    const args = ['--import', '--org', 'acme'];
    expect((await preview(hashed, [...args, '--passwords-are-hashed'])).code).toBe(0);
    const plain = { key_id: 'k', basic_auth_data: { password: 'plain' } };
    expect((await preview(plain, args)).code).toBe(0);
    const rejected = await preview(plain, [...args, '--passwords-are-hashed', '--json']);
    expect(jsonLines(rejected.out)[0]?.['issues']).toMatchObject([{ code: 'UNKNOWN_HASH_TYPE' }]);
    expect(existsSync(c.folder)).toBe(false);
  });
});

describe('keyfront preview --url', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startOwnServer();
  });

  it('prints the same as without --url, and neither secret nor credential', async () => {
    const secrets = { ...odd, hmac_string: 'secret-1', jwt_data: { secret: 'secret-2' } };
    const files = [
      await c.file('secrets.json', stringifyJSON(secrets)),
      await c.file('bad.json', stringifyJSON(bad)),
      await c.file('large.json', stringifyJSON({ ...good, quota_max: 9007199254740993n })),
    ];
    const env = { KEYFRONT_MANAGEMENT_CREDENTIAL: server.t.management };
    const there = await keyfront(['preview', '--url', server.url, ...files], env);
    const here = await keyfront(['preview', ...files]);
    expect(there).toStrictEqual(here);
    expect(there.code).toBe(1);
    expect(there.out).toContain('9007199254740993');
    expect(there.out).not.toMatch(/secret-\d/);
    expect(there.out + there.stderr).not.toContain(server.t.management);
  });

  it('uses the service that KEYFRONT_URL names', async () => {
    const { code, stderr } = await preview(good, [], { KEYFRONT_URL: server.url });
    expect([code, stderr]).toStrictEqual([2, expect.stringContaining('KEYFRONT_MANAGEMENT_CREDENTIAL is not set')]);
    const env = { KEYFRONT_URL: server.url, KEYFRONT_MANAGEMENT_CREDENTIAL: server.t.management };
    expect((await preview(good, [], env)).code).toBe(0);
  });

  it('reads the credential from a file', async () => {
    const credential = await c.file('credential', `${server.t.management}\n`);
    await chmod(credential, 0o600);
    expect((await preview(good, ['--url', server.url, '--credential-file', credential])).code).toBe(0);
  });

  it('exits with 2 for an invalid credential and does not print it', async () => {
    const env = { KEYFRONT_MANAGEMENT_CREDENTIAL: 'wrong-credential' };
    const { code, out, stderr } = await preview(good, ['--url', server.url], env);
    expect([code, out]).toStrictEqual([2, '']);
    expect(stderr).not.toContain('wrong-credential');
  });
});

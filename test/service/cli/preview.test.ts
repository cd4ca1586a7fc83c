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
const badIssues = [
  { path: 'access_rights.invoices.limit.quota_max', code: 'NOT_INTEGER', message: 'must be an integer' },
  { path: 'alias', code: 'WRONG_TYPE', message: 'must be a string' },
  { path: 'quota_maxx', code: 'UNKNOWN_FIELD', message: 'is an unknown field; did you mean `quota_max`?' },
];
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
  it('prints the normal form and hash of a valid definition as JSON, with exit code 0', async () => {
    const file = await c.file(
      'good.json',
      stringifyJSON({ ...good, tags: [' a', 'a'], expires: 9223372036854775807n }),
    );
    const { code, out, stderr } = await keyfront(['preview', file]);
    expect(code).toBe(0);
    expect(out).toBe(
      `{"definition":${JSON.stringify(file)},"valid":true,"key_hash":"${goodHash}","data":{"alias":"Billing","apply_policies":["silver"],` +
        '"expires":9223372036854775807,"key_id":"acme-demo","org_id":"acme","per":60,"rate":100,"tags":["a"]},' +
        '"warnings":[{"path":"expires","code":"EXPIRES_IN_MILLISECONDS","message":"looks like milliseconds, and is read as seconds"}]}\n',
    );
    expect(stderr).toBe('1 previewed: 1 valid (1 with warnings), 0 invalid.\n');
  });

  it('names every problem with its path in the names of REST, and exits with 1', async () => {
    const file = await c.file('bad.json', stringifyJSON(bad));
    const { code, out } = await keyfront(['preview', file]);
    expect(code).toBe(1);
    expect(jsonLines(out)).toStrictEqual([{ definition: file, valid: false, issues: badIssues }]);
  });

  it('prints the same as text, coloured on a terminal', async () => {
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

  it('exits with 0 for warnings, and with 1 with --strict', async () => {
    expect((await preview(odd)).code).toBe(0);
    const strict = await preview(odd, ['--strict']);
    expect(strict.code).toBe(1);
    expect(strict.stderr).toMatch(/\nFailed because of --strict: a definition has warnings\.\n$/);
    expect((await preview(good, ['--strict'])).code).toBe(0);
  });

  it('reads several files, arrays and lines, and names each definition', async () => {
    const one = await c.file('one.json', stringifyJSON(good));
    const array = await c.file('array.json', stringifyJSON([good, bad]));
    const many = await c.file('many.jsonl', `${stringifyJSON(good)}\n\n${stringifyJSON(odd)}\n{"alias":\n`);
    const { code, out, stderr } = await keyfront(['preview', one, array, many]);
    expect(code).toBe(1);
    expect(jsonLines(out).map(({ definition, valid }) => [definition, valid])).toStrictEqual([
      [one, true],
      [`${array}[0]`, true],
      [`${array}[1]`, false],
      [`${many}:1`, true],
      [`${many}:3`, true],
      [`${many}:4`, false],
    ]);
    expect(stderr).toBe('6 previewed: 4 valid (1 with warnings), 2 invalid.\n');
  });

  it.each([
    ['one', stringifyJSON(good), 1],
    ['one over several lines', stringifyJSON(good, 2), 1],
    ['an array', stringifyJSON([good, odd]), 2],
    ['lines', `${stringifyJSON(good)}\n${stringifyJSON(odd)}\n`, 2],
  ])('reads %s from standard input', async (_, input, count) => {
    const { code, out } = await keyfront(['preview', '-'], {}, false, { input });
    expect(code).toBe(0);
    expect(jsonLines(out)).toHaveLength(count);
    expect(out).toContain(goodHash);
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

  it.each(['', '[]'])('exits with 2 for a file that contains %j', async (content) => {
    const file = await c.file('empty.json', content);
    expect(await c.keyfront(['preview', file])).toMatchObject({ code: 2, stderr: `${file} contains no definition.\n` });
  });

  it.each([['nowhere.json'], ['/'], ['-']])('exits with 2 if %s cannot be read', async (file) => {
    const { code, stderr } = await c.keyfront(['preview', file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Cannot read|There is no standard input/);
  });

  it('opens no data folder and writes nothing', async () => {
    await preview(good);
    expect(existsSync(c.folder)).toBe(false);
  });

  it('prints no hash of a generated identifier', async () => {
    const file = await c.file('nameless.json', '{"alias":"a","apply_policies":["gold"]}');
    const { out } = await keyfront(['preview', file]);
    expect(jsonLines(out)).toStrictEqual([
      { definition: file, valid: true, data: { alias: 'a', apply_policies: ['gold'] }, warnings: [] },
    ]);
  });

  it('hashes with the algorithm of the environment', async () => {
    const env = { KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: 'p'.repeat(32) };
    const { out } = await preview(good, ['--json'], env);
    expect(jsonLines(out)[0]?.['key_hash']).toMatch(/^[\da-f]{64}$/);
    expect(out).not.toContain(goodHash);
    expect((await preview(good, [], { KEYFRONT_KEY_HASH: 'md5' })).code).toBe(2);
  });

  it('prints no secret', async () => {
    const secrets = {
      ...good,
      hmac_string: 'secret-1',
      jwt_data: { secret: 'secret-2' },
      basic_auth_data: { password: 'secret-3' },
    };
    for (const args of [[], ['--json']]) {
      const { code, out, stderr } = await preview(secrets, args);
      expect(code).toBe(0);
      expect(out + stderr).not.toMatch(/secret-\d/);
    }
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

  it('fails for a duplicate with --strict', async () => {
    const file = await c.file('keys.jsonl', `${stringifyJSON(good)}\n${stringifyJSON(good)}\n`);
    expect((await c.keyfront(['preview', '--import', file])).code).toBe(0);
    const { code, stderr } = await c.keyfront(['preview', '--import', '--strict', file]);
    expect(code).toBe(1);
    expect(stderr).toContain('Failed because of --strict: a definition has warnings.\n');
  });

  it.each([
    [['--org', 'acme'], {}, '--org and --passwords-are-hashed require --import.\n'],
    [['--import', '--url', 'https://keys.example.com'], {}, '--import applies the rules of a data folder.'],
    [['--import'], { KEYFRONT_URL: 'https://keys.example.com' }, '--import applies the rules of a data folder.'],
  ])('exits with 2 for %j and %j', async (args, env: Record<string, string>, message) => {
    const { code, stderr } = await preview(good, args, env);
    expect([code, stderr]).toStrictEqual([2, expect.stringContaining(message)]);
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

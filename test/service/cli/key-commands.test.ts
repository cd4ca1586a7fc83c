import { parse, validate } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import { documents } from '../../../src/cli/client/operations.js';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import {
  asJSON,
  jsonLines,
  makeOwnCommandLine,
  serveFolder,
  type CommandLine,
  type Outcome,
} from '../../support/cli.js';

const hash = '8805bb626b61fcb32e4c55b535399c92ecc8c2bb0dcaa3d327ec5a19da7adbd4';
const stored = {
  key_id: 'acme-billing',
  org_id: 'acme',
  alias: 'Billing',
  rate: 100,
  per: 60,
  quota_max: 10_000,
  quota_remaining: 1_880,
  quota_renewal_rate: 2_592_000,
  tags: ['billing'],
  hmac_string: 'stored-secret',
  meta_data: { big: 9007199254740993n, nothing: null },
  access_rights: { invoices: { api_id: 'invoices', limit: { rate: 5, per: 1 } } },
};

type Reply = Record<string, unknown> & { readonly changes: readonly Record<string, unknown>[] };
const reply = ({ out }: Outcome) => parseJSON(out) as unknown as Reply;

it('sends only operations that are valid and within the limits', () => {
  for (const document of Object.values(documents)) expect(validate(schema, parse(document))).toEqual([]);
});

describe.each(['the data folder', 'a service'])('commands for a key of %s', (place) => {
  let c: CommandLine;
  let env: Record<string, string> = {};
  /** Runs a command with --json. */
  const keyfront = async (args: readonly string[], more: Record<string, string> = {}) =>
    c.keyfront(asJSON(args), { ...env, ...more });
  /** Runs a command without --json. */
  const printed = async (args: readonly string[], more: Record<string, string> = {}, isTerminal = false) =>
    c.keyfront(args, { ...env, ...more }, false, { isTerminal });
  const definition = async (value: unknown) => c.file('definition.json', stringifyJSON(value));
  const { key_id: keyID, hmac_string: hmac, ...plain } = stored;

  beforeEach(async () => {
    c = await makeOwnCommandLine();
    await c.importKeys([stored]);
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  });

  it('create generates the identifier, with a readable prefix', async () => {
    const file = await definition({ org_id: 'acme', alias: 'Mobile', expires: 1, apply_policies: ['gold'] });
    const created = await keyfront(['create', file, '--prefix', 'acme_live_', '--reason', 'new customer']);
    expect(created.code).toBe(0);
    const { key, ...rest } = reply(created);
    expect(key).toMatch(/^acme_live_[\da-f]{40}$/);
    expect(rest).toMatchObject({ action: 'added', version: 1, warnings: [{ code: 'EXPIRES_IN_PAST' }] });
    const [entry] = jsonLines((await keyfront(['history', String(key)])).out);
    expect(entry).toMatchObject({ operation: 'create', reason: 'new customer' });
    const other = await printed(['create', file]);
    expect(other.out).toMatch(/^acme_[\da-f]{40}\n$/);
    expect(other.stderr).toMatch(/^Created with the hash [\da-f]{64}\.\n {2}warning/);
  });

  it.each(['', '-x', 'a b', 'a/b', 'é', 'x'.repeat(65)])('create rejects the prefix %j', async (prefix) => {
    const file = await definition({ org_id: 'acme' });
    const { code, out } = await keyfront(['create', file, `--prefix=${prefix}`]);
    expect(code).toBe(1);
    expect(parseJSON(out)).toMatchObject({ code: 'INVALID', issues: [{ code: 'MALFORMED_KEY_ID' }] });
  });

  it('create takes the owner from --org if the definition has none', async () => {
    const file = await definition({ alias: 'Mobile' });
    expect(await keyfront(['create', file])).toMatchObject({ code: 1 });
    expect(reply(await keyfront(['create', file, '--org', 'globex']))['key']).toMatch(/^globex_[\da-f]{40}$/);
  });

  it('put makes no version after a reset if only the fields differ that the reset has stored', async () => {
    const { quota_remaining: remaining, ...rest } = plain;
    const file = await definition(rest);
    expect(reply(await keyfront(['put', keyID, file, '--reset-quota']))).toMatchObject({ version: 2 });
    expect(reply(await keyfront(['diff', keyID, file]))).toMatchObject({ same: true, version: 2, changed: false });
    expect(reply(await keyfront(['put', keyID, file]))).toMatchObject({ version: 2, changed: false, changes: [] });
    expect((await printed(['history', keyID])).out).toMatch(
      /^ {2}\+ quota_renews {2}(\d+) \(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z\)$/m,
    );
    expect(await printed(['diff', keyID, file])).toMatchObject({ code: 0, out: 'No differences.\n' });
    const different = await keyfront(['diff', keyID, await definition({ ...rest, quota_remaining: 5, rate: 7 })]);
    const paths = reply(different).changes.map(({ path }) => path);
    expect([different.code, paths.toSorted()]).toStrictEqual([1, ['quota_remaining', 'rate']]);
    const other = await definition({ ...rest, rate: 7 });
    expect(reply(await keyfront(['put', keyID, other]))).toMatchObject({ version: 3, changed: true });
  });

  it('history shows only the Unix seconds of fields as dates, not numbers in metadata', async () => {
    await keyfront(['put', keyID, await definition({ ...plain, expires: 1_893_456_000, meta_data: { expires: 5 } })]);
    const { out } = await printed(['history', keyID]);
    expect(out).toContain('expires  1893456000 (2030-01-01T00:00:00.000Z)');
    expect(out).toMatch(/^ {2}\+ meta_data.expires {2}5$/m);
  });

  it('keys export writes all keys without secrets', async () => {
    const { code, out, stderr } = await keyfront(['keys', 'export']);
    expect([code, stderr]).toStrictEqual([0, 'Exported keys: 1, without secrets.\n']);
    const { hmac_string: _, ...expected } = stored;
    expect(parseJSON(out)).toMatchObject({ ...expected, quota_remaining: 1_880 });
    expect(out).not.toContain(hmac);
  });

  it('get prints a definition that put accepts, exactly and without secrets', async () => {
    const got = await printed(['get', keyID]);
    expect(got.code).toBe(0);
    expect(got.stderr).toMatch(
      new RegExp(
        `^Version 1 of ${hash}, without secrets\\.\nLive quota: 8,120 used, 1,880 remaining, renews at 20.*Z\\.\n$`,
      ),
    );
    expect(parseJSON(got.out)).toStrictEqual(plain);
    const same = await keyfront(['diff', keyID, await c.file('again.json', got.out)]);
    expect(same.code).toBe(0);
    expect(reply(same)).toMatchObject({ same: true, changed: false, changes: [], version: 1, key_hash: hash });
  });

  it('put changes nothing if the key has the definition already', async () => {
    const file = await definition(plain);
    const done = await keyfront(['put', keyID, file]);
    expect(done.code).toBe(0);
    expect(reply(done)).toMatchObject({ action: 'modified', changed: false, version: 1, changes: [] });
    expect((await printed(['put', keyID, file])).out).toBe('No changes (version 1).\n');
    expect(await keyfront(['put', keyID, file, '--expected-version', '2'])).toMatchObject({ code: 1 });
    expect(jsonLines((await keyfront(['history', keyID])).out)).toHaveLength(1);
  });

  it('diff prints the changes of an update in the names of REST, exits with 1, and changes nothing', async () => {
    const next = {
      ...plain,
      quota_max: 9223372036854775807n,
      tags: undefined,
      apply_policy_id: 'gold',
      hmac_string: 'new-secret',
      access_rights: {
        invoices: { api_id: 'invoices', limit: { rate: 6, per: 1 } },
        reports: { api_id: 'reports', limit: { quota_max: 9007199254740993n, quota_renewal_rate: 1 } },
      },
    };
    const first = await keyfront(['diff', keyID, await definition(next)]);
    expect(first.code).toBe(1);
    expect(reply(first)).toMatchObject({
      same: false,
      key_hash: hash,
      version: 2,
      changes: expect.arrayContaining([
        { path: 'quota_max', kind: 'CHANGED', before: 10_000, after: 9223372036854775807n },
        { path: 'tags', kind: 'REMOVED', before: ['billing'] },
        { path: 'apply_policies', kind: 'ADDED', after: ['gold'] },
        { path: 'access_rights.invoices.limit.rate', kind: 'CHANGED', before: 5, after: 6 },
        {
          path: 'access_rights.reports',
          kind: 'ADDED',
          after: { api_id: 'reports', limit: { quota_max: 9007199254740993n, quota_renewal_rate: 1 } },
        },
        { path: 'hmac_string', kind: 'CHANGED' },
      ]) as unknown,
      warnings: [{ path: 'apply_policy_id', code: 'DEPRECATED_FIELD', message: 'was moved into `apply_policies`' }],
    });
    expect(reply(first).changes).toHaveLength(6);
    expect(first.out + first.stderr).not.toMatch(/new-secret|stored-secret/);
    expect((await keyfront(['diff', keyID, await definition(next)])).out).toBe(first.out);
  });

  it('diff prints one line per change as text', async () => {
    const { tags, ...next } = plain;
    const file = await definition({ ...next, rate: 200, hmac_string: 'x', session_lifetime: 60 });
    const { code, out } = await printed(['diff', keyID, file], { NO_COLOR: '1' }, true);
    expect(code).toBe(1);
    expect(out.split('\n').toSorted()).toStrictEqual(
      [
        '  * hmac_string  secret changed',
        '  + session_lifetime  60',
        '  - tags  ["billing"]',
        '  ~ rate  100 → 200',
        '',
      ].toSorted(),
    );
    const painted = await printed(['diff', keyID, file], {}, true);
    expect(painted.out).toContain('\u001b[31m100\u001b[39m → \u001b[32m200\u001b[39m');
  });

  it('diff counts the reset of a quota as a difference', async () => {
    const { code, out } = await printed(['diff', keyID, await definition(plain), '--reset-quota']);
    expect(code).toBe(1);
    expect(out).toMatch(/live quota: 8,120 used of 10,000.* → 0 used of 10,000, renews at /);
  });

  it('put replaces the definition, keeps its secrets, and records the reason in the history', async () => {
    const file = await definition({ ...plain, rate: 300 });
    const done = await keyfront(['put', keyID, file, '--reset-quota', '--expected-version', '1', '--reason', 'OPS-17']);
    expect(done.code).toBe(0);
    expect(reply(done)).toMatchObject({
      action: 'modified',
      key_hash: hash,
      version: 2,
      quota: { after: { used: 0 } },
    });
    const again = await printed(['put', keyID, file]);
    expect([again.code, again.out]).toStrictEqual([0, expect.stringContaining('Updated to version 3.\n')]);
    const entries = jsonLines((await keyfront(['history', keyID])).out) as Reply[];
    expect(entries.map(({ version, operation, reason }) => [version, operation, reason])).toStrictEqual([
      [3, 'update', undefined],
      [2, 'update', 'OPS-17'],
      [1, 'import', undefined],
    ]);
    expect(entries[1]).toMatchObject({ quota_used_before_reset: 8120 });
    expect(entries[1]?.changes).toContainEqual({ path: 'rate', kind: 'CHANGED', before: 100, after: 300 });
    expect(entries[1]?.['credential_id'] === 'cli').toBe(place === 'the data folder');
    if (place === 'the data folder') expect(entries[1]?.['credential_label']).toMatch(/^.+@.+ \(keyfront keys put\)$/);
    const shown = await c.keyfront(['keys', 'export', '--with-secrets']);
    expect(shown.out).toContain('stored-secret');
  });

  it('--actor names who changes a data folder, and is rejected for a service', async () => {
    const done = await keyfront(['put', keyID, await definition({ ...plain, rate: 300 }), '--actor', 'ana']);
    if (place === 'a service') {
      expect([done.code, done.stderr]).toStrictEqual([
        2,
        '--actor is for a data folder; a service records the credential.\n',
      ]);
      return;
    }
    expect((await keyfront(['history', keyID])).out).toContain('"ana (keyfront keys put)"');
    for (const actor of ['', ' ', 'a\nb', 'x'.repeat(101)]) {
      expect((await keyfront(['delete', keyID, '--actor', actor])).code).toBe(2);
    }
  });

  it('put rejects a stale version with 1 and names the fields that have changed', async () => {
    await keyfront(['put', keyID, await definition({ ...plain, rate: 300 })]);
    const { code, out } = await keyfront(['put', keyID, await definition(plain), '--expected-version', '1']);
    expect(code).toBe(1);
    expect(parseJSON(out)).toStrictEqual({
      status: 'error',
      code: 'CONFLICT',
      message: 'The key has version 2; the expected version is 1.',
      issues: [{ path: 'rate', code: 'CHANGED_SINCE', message: 'has changed since version 1' }],
    });
  });

  it('put names every problem with its path, exits with 1, and changes nothing', async () => {
    const bad = { alias: 7, quota_maxx: 1, access_rights: { invoices: { limit: { quota_max: 1.5 } } }, key_id: 'x' };
    const json = await keyfront(['put', keyID, await definition(bad)]);
    expect(json.code).toBe(1);
    expect(reply(json)['issues']).toStrictEqual([
      { path: 'access_rights.invoices.limit.quota_max', code: 'NOT_INTEGER', message: 'must be an integer' },
      { path: 'alias', code: 'WRONG_TYPE', message: 'must be a string' },
      { path: 'quota_maxx', code: 'UNKNOWN_FIELD', message: 'is an unknown field; did you mean `quota_max`?' },
      { path: 'key_id', code: 'WRONG_VARIANT', message: 'belongs to the preview only' },
    ]);
    const text = await printed(['put', keyID, await definition(bad)]);
    expect(text.stderr).toContain('error    alias must be a string  WRONG_TYPE\n');
    expect((await keyfront(['diff', keyID, await definition(bad)])).code).toBe(2);
    expect((await printed(['get', keyID])).stderr).toContain('Version 1 of');
  });

  it('put rejects a definition that is not an object', async () => {
    const { code, out } = await keyfront(['put', keyID, await definition('text')]);
    expect(code).toBe(1);
    expect(out).toContain('must be an object');
    expect((await keyfront(['put', keyID, await definition([plain, plain])])).code).toBe(2);
  });

  it('put creates a key only with --create, from standard input', async () => {
    const missing = await keyfront(['put', 'acme-new', await definition(plain)]);
    expect(missing.code).toBe(1);
    expect(reply(missing)).toMatchObject({ code: 'NOT_FOUND', message: 'There is no such key.' });
    if (place === 'a service') {
      const rejected = await keyfront(['put', 'acme-new', await definition(plain), '--create']);
      expect(reply(rejected)).toMatchObject({ code: 'INVALID', issues: [{ path: 'meta_data', code: 'IMPRECISE' }] });
    }
    const added = { ...plain, meta_data: { small: 1 } };
    const created = await c.keyfront(['put', 'acme-new', '-', '--create', '--json'], env, false, {
      input: stringifyJSON(added),
    });
    expect(created.code).toBe(0);
    expect(reply(created)).toMatchObject({ action: 'added', version: 1 });
    const updated = await keyfront(['put', 'acme-new', await definition({ ...added, rate: 101 }), '--create']);
    expect(reply(updated)).toMatchObject({ action: 'modified', version: 2 });
  });

  it('reset resets the quota and leaves the definition exactly unchanged', async () => {
    const { code, out } = await keyfront(['reset', keyID, '--reason', 'paid']);
    expect(code).toBe(0);
    const { action, version, quota, changes } = parseJSON(out) as unknown as Reply;
    expect({ action, version, quota }).toMatchObject({
      action: 'modified',
      version: 2,
      quota: { before: { used: 8120, remaining: 1880 }, after: { used: 0, remaining: 10_000 } },
    });
    expect(changes.map(({ path }) => path).toSorted()).toStrictEqual(['quota_remaining', 'quota_renews']);
    const got = parseJSON((await printed(['get', keyID])).out) as Record<string, unknown>;
    expect(got).toStrictEqual({ ...plain, quota_remaining: 10_000, quota_renews: got['quota_renews'] });
    expect((await c.keyfront(['keys', 'export', '--with-secrets'])).out).toContain('stored-secret');
  });

  it('reset retries after a concurrent change and overwrites nothing', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(async () => keyfront(['reset', keyID])));
    expect(outcomes.map(({ code }) => code)).toStrictEqual([0, 0, 0]);
    expect((await printed(['get', keyID])).stderr).toContain('Version 4 of');
  });

  it('revert restores an earlier definition', async () => {
    await keyfront(['put', keyID, await definition({ org_id: 'acme' })]);
    const { code, out } = await keyfront(['revert', keyID, '--to', '1', '--reason', 'oops']);
    expect(code).toBe(0);
    expect(parseJSON(out)).toMatchObject({ action: 'modified', version: 3 });
    expect(parseJSON((await printed(['get', keyID])).out)).toStrictEqual(plain);
    expect((await keyfront(['revert', keyID, '--to', '9'])).code).toBe(1);
    expect((await keyfront(['revert', keyID, '--to', '1', '--expected-version', '1'])).code).toBe(1);
  });

  it('history prints the newest entries first, up to the limit, also as text', async () => {
    for (const rate of [1, 2, 3]) await keyfront(['put', keyID, await definition({ ...plain, rate })]);
    const { out } = await printed(['history', keyID, '--limit', '2']);
    expect(out.match(/^version \d+/gm)).toStrictEqual(['version 4', 'version 3']);
    expect(out).toContain('  ~ rate  2 → 3\n');
  });

  it('delete deletes a key at the expected version only, and undelete restores it unchanged', async () => {
    const stale = await keyfront(['delete', keyID, '--expected-version', '7']);
    expect(stale.code).toBe(1);
    expect(reply(stale)).toMatchObject({ status: 'error', code: 'CONFLICT' });
    const deleted = await keyfront(['delete', keyID, '--expected-version', '1', '--reason', 'contract ended']);
    expect(deleted.code).toBe(0);
    expect(reply(deleted)).toMatchObject({ action: 'deleted', key_hash: hash, version: 2 });
    expect(await keyfront(['get', keyID])).toMatchObject({ code: 1, stderr: 'NOT_FOUND: There is no such key.\n' });
    expect((await keyfront(['delete', keyID])).code).toBe(1);
    const restored = await printed(['undelete', keyID], { NO_COLOR: '1' }, true);
    expect(restored).toMatchObject({ code: 0, out: 'Restored (version 3).\n' });
    expect(parseJSON((await printed(['get', keyID])).out)).toStrictEqual(plain);
    const [, entry] = jsonLines((await keyfront(['history', keyID])).out);
    expect(entry).toMatchObject({ operation: 'delete', reason: 'contract ended' });
    expect((await keyfront(['undelete', keyID])).code).toBe(1);
  });

  it('shows and restores a deleted key by its identifier or its hash', async () => {
    await keyfront(['delete', keyID, '--reason', 'contract ended']);
    for (const reference of [[keyID], ['--key-hash', hash]]) {
      const history = jsonLines((await keyfront(['history', ...reference])).out);
      expect(history).toMatchObject([{ operation: 'delete', reason: 'contract ended' }, { operation: 'import' }]);
      expect((await printed(['get', ...reference])).stderr).toBe('NOT_FOUND: There is no such key.\n');
      const got = await printed(['get', ...reference, '--deleted']);
      expect([got.code, parseJSON(got.out)]).toStrictEqual([0, plain]);
      expect(got.stderr).toContain(`Version 2 of ${hash}, deleted, without secrets.\n`);
      expect(reply(await keyfront(['get', ...reference, '--deleted']))).toMatchObject({ state: 'DELETED', version: 2 });
    }
    expect(reply(await keyfront(['undelete', '--key-hash', hash]))).toMatchObject({ action: 'restored', version: 3 });
  });

  describe('list', () => {
    const others = Array.from({ length: 240 }, (_, index) => ({
      key_id: `other-${index}`,
      org_id: 'globex',
      alias: `Other ${String(index).padStart(3, '0')}`,
    }));
    beforeEach(() => c.importKeys(others));
    const listed = async (...args: string[]) => {
      const { code, out, stderr } = await keyfront(['list', ...args]);
      return { code, stderr, keys: jsonLines(out) };
    };

    it('prints a key with its state and live quota, without its identifier', async () => {
      const { keys, ...rest } = await listed('--org', 'acme');
      expect(rest).toEqual({ code: 0, stderr: '' });
      expect(keys).toStrictEqual([
        {
          key_hash: hash,
          org_id: 'acme',
          state: 'ACTIVE',
          version: 1,
          alias: 'Billing',
          tags: ['billing'],
          last_updated: expect.anything() as unknown,
          quota: { used: 8_120, remaining: 1_880, renews_at: expect.anything() as unknown },
        },
      ]);
      const { out } = await printed(['list', '--tag', 'billing'], {}, true);
      expect(out).toBe(
        `ALIAS    ORGANIZATION  HASH          STATE   QUOTA          EXPIRES\nBilling  acme          ${hash.slice(0, 12)}  ACTIVE  8120 of 10000  never\n`,
      );
    });

    it('follows the pages up to the limit, and reports that more keys match', async () => {
      const cut = await listed('--org', 'globex', '--limit', '230');
      expect(cut.keys).toHaveLength(230);
      const [, cursor = ''] = /^More keys match\. The next ones: --cursor (\S+)\n$/.exec(cut.stderr) ?? [];
      const rest = await listed('--org', 'globex', '--limit', '230', '--cursor', cursor);
      expect([rest.keys.length, rest.stderr]).toStrictEqual([10, '']);
      const hashes = [...cut.keys, ...rest.keys].map(({ key_hash: keyHash }) => keyHash);
      expect(new Set(hashes).size).toBe(240);
      expect((await listed('--org', 'acme', '--cursor', cursor)).code).toBe(1);
      const all = await listed('--alias-prefix', 'Other', '--limit', '240');
      expect(all.stderr).toBe('');
      expect(all.keys.map(({ alias }) => alias)).toStrictEqual(others.map(({ alias }) => alias));
      expect((await listed()).keys).toHaveLength(100);
    });

    it('filters by policy, API and state, and prints nothing if no key matches', async () => {
      expect((await listed('--api', 'invoices')).keys).toHaveLength(1);
      expect((await listed('--policy', 'gold')).keys).toHaveLength(0);
      await keyfront(['delete', keyID]);
      expect((await listed('--org', 'acme')).keys).toHaveLength(0);
      expect((await listed('--org', 'acme', '--state', 'deleted')).keys).toMatchObject([{ state: 'DELETED' }]);
      const none = await printed(['list', '--tag', 'none'], {}, true);
      expect(none).toMatchObject({ code: 0, out: '', stderr: 'No key matches.\n' });
    });

    it('sorts by alias, by hash and by the last update, also in reverse', async () => {
      const aliases = async (...args: string[]) =>
        (await listed('--org', 'globex', '--limit', '3', ...args)).keys.map(({ alias }) => alias);
      expect(await aliases('--sort', 'alias')).toStrictEqual(['Other 000', 'Other 001', 'Other 002']);
      expect(await aliases('--sort=-alias')).toStrictEqual(['Other 239', 'Other 238', 'Other 237']);
      await keyfront(['put', 'other-7', await definition({ alias: 'Changed' })]);
      expect((await aliases('--sort', '-updated'))[0]).toBe('Changed');
      const hashes = (await listed('--sort', 'hash')).keys.map(({ key_hash: keyHash }) => String(keyHash));
      expect(hashes).toStrictEqual(hashes.toSorted());
      expect(await listed('--sort', 'size')).toMatchObject({
        code: 2,
        stderr: '--sort must be one of hash, alias, updated, with or without a hyphen before it.\n',
      });
    });

    it('finds a key by an unambiguous beginning of its hash, also a deleted one', async () => {
      const version = async (keyHash: string) => {
        const { code, out, stderr } = await printed(['get', '--deleted', '--key-hash', keyHash]);
        return [code, out === '' ? stderr : stderr.split(' ').slice(0, 4).join(' ')];
      };
      expect(await version(hash.slice(0, 12))).toStrictEqual([0, `Version 1 of ${hash},`]);
      expect(await version('f')).toStrictEqual([1, 'INVALID: Several hashes begin with f. Write more of it.\n']);
      expect(await version('zz')).toStrictEqual([1, 'NOT_FOUND: There is no such key.\n']);
      await keyfront(['delete', '--key-hash', hash.slice(0, 12)]);
      expect(await version(hash.slice(0, 12))).toStrictEqual([0, `Version 2 of ${hash},`]);
      expect(await keyfront(['undelete', '--key-hash', hash.slice(0, 12)])).toMatchObject({ code: 0 });
    });

    it('rejects a state that does not exist, and suggests the nearest', async () => {
      const { code, stderr } = await listed('--state', 'actve');
      expect(code).toBe(2);
      expect(stderr).toContain('--state must be one of ACTIVE');
      expect(stderr).toContain('did you mean ACTIVE?');
    });
  });

  it('accepts the hash of a key or a file with its identifier', async () => {
    const file = await c.file('key-id', `${keyID}\n`);
    for (const named of [
      ['--key-hash', hash],
      ['--key-id-file', file],
    ]) {
      expect((await keyfront(['get', ...named])).code).toBe(0);
      expect((await keyfront(['diff', await definition(plain), ...named])).code).toBe(0);
      expect((await keyfront(['get', keyID, ...named])).code).toBe(2);
    }
    expect((await keyfront(['get', '--key-hash', '0'.repeat(64)])).code).toBe(1);
    expect((await keyfront(['get', '--key-id-file', '/nowhere/id'])).stderr).toBe(
      'Cannot read the file /nowhere/id: it does not exist; check the path (ENOENT).\n',
    );
    expect((await keyfront(['get'])).code).toBe(2);
    expect((await keyfront(['diff', await definition(plain)])).code).toBe(2);
  });

  it.each([['get'], ['history'], ['reset'], ['delete'], ['undelete'], ['revert', '--to', '1']])(
    'exits with 1 for %s of a key that does not exist',
    async (name, ...more) => {
      const { code, out } = await keyfront([name, 'unknown', ...more]);
      expect(code).toBe(1);
      expect(parseJSON(out)).toMatchObject({ status: 'error', code: 'NOT_FOUND' });
    },
  );

  it.each([
    [['put', keyID, 'f', '--expected-version', '0']],
    [['put', keyID, 'f', '--expected-version', 'x']],
    [['put', keyID, 'f', '--create', '--expected-version', '1']],
    [['revert', keyID]],
    [['revert', keyID, '--to', '-1']],
    [['history', keyID, '--limit', '101']],
    [['diff', keyID, '/nowhere.json']],
  ])('exits with 2 for %j', async (args) => {
    expect((await keyfront(args)).code).toBe(2);
  });
});

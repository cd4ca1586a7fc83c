import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringifyJSON, type JSONValue } from '../../../src/lib/json.js';
import { startOwnApp } from '../../support/app.js';
import { jsonLines, makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { emptySession } from '../../support/tyk-session.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const session = (key: string, changes: Record<string, JSONValue> = {}) => ({
  key,
  value: { ...emptySession, org_id: 'acme', apply_policies: ['gold'], ...changes },
});

async function imported(lines: readonly (object | string)[], ...options: string[]) {
  const text = lines.map((line) => `${typeof line === 'string' ? line : stringifyJSON(line)}\n`).join('');
  return c.keyfront(['keys', 'import', await c.file('sessions.jsonl', text), '--from', 'tyk', ...options]);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('keys import --from tyk', () => {
  it('imports sessions as the gateway writes them, and says once what it does otherwise', async () => {
    const lines = [
      session('apikey-k1', {
        alias: 'one',
        rate: 10,
        per: 0,
        quota_max: 5n,
        quota_remaining: 0n,
        quota_renews: 1_893_456_000n,
        expires: -1n,
      }),
      session('k2', { is_inactive: true, date_created: '2020-05-01T12:00:00Z', last_updated: '1600000000' }),
      session('orgkey.acme', { quota_max: 1000n }),
      '{"key": "k3", "value": {"alias": "a", "alias": "b"}}',
      session('k4', { quota_max: 9_223_372_036_854_775_807n }),
    ];
    const { code, out, stderr } = await imported(lines, '--json');
    expect(stderr).toContain('line 3: The session limits all keys of an organization together');
    expect(stderr).toMatch(/line 4: .*alias/);
    expect(stderr).toContain('RATE_OFF, keys: 1. A member of these is not kept');
    expect(code).toBe(1);
    expect(jsonLines(out)).toEqual([
      {
        dry_run: false,
        ...{ imported: 3, updated: 0, existing: 0, invalid: 2, warned: expect.any(Number) as number, expired: 0 },
        differences: { RATE_OFF: 1, POLICY_REPLACES: 2, INACTIVE_WITH_POLICY: 1 },
      },
    ]);
    const exported = jsonLines((await c.keyfront(['keys', 'export'])).out);
    expect(Object.fromEntries(exported.map((line) => [line['key_id'], line]))).toMatchObject({
      k1: { alias: 'one', quota_max: 5, quota_remaining: 0, apply_policies: ['gold'] },
      k2: { is_inactive: true, date_created: '2020-05-01T12:00:00Z', last_updated: '1600000000' },
      k4: { quota_max: 9_223_372_036_854_775_807n },
    });
    expect(exported[0]).not.toHaveProperty('rate');
  });

  it('changes nothing in a dry run, and names each difference by its line and path', async () => {
    await c.create();
    const secret = 'c4n4ry-of-a-key';
    const { code, stderr } = await imported([session(secret, { post_expiry_action: 'retain' })], '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toContain('line 1: post_expiry_action is not kept: Keyfront has no such field\n');
    expect(stderr).not.toContain(secret);
    expect((await c.keyfront(['keys', 'export'])).out).toBe('');
  });

  it('is continued by the same command, and is no second import', async () => {
    const lines = [session('k1'), session('k2')];
    expect((await imported(lines.slice(0, 1))).stderr).toContain('1 imported, 0 skipped');
    expect((await imported(lines)).stderr).toContain('1 imported, 1 skipped (already exist)');
    const again = await imported([session('k1', { alias: 'new' }), session('k2')], '--update');
    expect(again.stderr).toContain('0 imported, 1 updated, 1 unchanged');
  });

  it('keeps members without a field if you ask for it', async () => {
    expect((await imported([session('k1', { post_expiry_action: 'retain' })], '--keep-unknown')).code).toBe(0);
    expect(jsonLines((await c.keyfront(['keys', 'export'])).out)).toMatchObject([
      { meta_data: { tyk: { post_expiry_action: 'retain' } } },
    ]);
  });

  it('imports a key by the hash of its identifier, which then works by its identifier', async () => {
    const lines = [
      session(`apikey-${sha256('unknown-to-us')}`, { quota_max: 5n }),
      session('apikey-d5f8ee32'),
      session('apikey-no-hash'),
    ];
    const { code, stderr } = await imported(lines, '--names-are-hashes');
    expect(code).toBe(1);
    expect(stderr).toContain('line 2: key_hash must have 64 lower-case hex digits');
    expect(stderr).toContain('line 3: key_hash must have 64 lower-case hex digits');
    expect(stderr).toContain('HASH_ONLY, keys: 1.');

    const [exported] = jsonLines((await c.keyfront(['keys', 'export'])).out);
    expect(exported).toMatchObject({ key_hash: sha256('unknown-to-us') });
    expect(exported).not.toHaveProperty('key_id');

    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    const verified = await t.graphql('mutation { verifyKey(keyID: "unknown-to-us") { code keyHash } }');
    expect(verified.body).toMatchObject({ data: { verifyKey: { keyHash: sha256('unknown-to-us') } } });
    const by = `by: { keyHash: "${sha256('unknown-to-us')}" }`;
    const read = await t.graphql(`{ orgKey(${by}) { keyID } }`);
    expect(read.body).toEqual({ data: { orgKey: { keyID: null } } });
    const deliver = { 'x-svc-authorization': (await t.issue('service', { scopes: ['deliver'] })).secret };
    const delivered = await t.graphql(`{ deliverKey(${by}) { keyID keyHash } }`, {}, deliver);
    expect(delivered.body).toMatchObject({ data: { deliverKey: { keyID: null } } });
    const page = await t.send('/svc/keys/deliver', { headers: deliver });
    expect(page.text).toContain(`{"key":null,"key_hash":"${sha256('unknown-to-us')}"`);
    const rest = await t.send('/svc/org/keys/unknown-to-us', { headers: t.credentials });
    expect(rest.body).toMatchObject({ key: null, key_hash: sha256('unknown-to-us') });
    const rotated = await t.graphql(
      `mutation { rotateOrgKey(keyHash: "${sha256('unknown-to-us')}") { keyID orgKey { rotation { oldKeyID } } } }`,
    );
    expect(rotated.body).toMatchObject({
      data: { rotateOrgKey: { keyID: expect.any(String) as string, orgKey: { rotation: { oldKeyID: null } } } },
    });
  });

  it('says why a command cannot use a key that is known by its hash alone', async () => {
    await imported([session(`apikey-${sha256('k1')}`)], '--names-are-hashes');
    const { code, stderr } = await c.keyfront(['keys', 'delete', '--key-hash', sha256('k1'), '--yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Use GraphQL with `keyHash`.')]);
  });

  it('imports its own export of such a key', async () => {
    await imported([session(`apikey-${sha256('k1')}`)], '--names-are-hashes');
    const { out } = await c.keyfront(['keys', 'export']);
    const other = await makeOwnCommandLine();
    expect((await other.keyfront(['keys', 'import', await other.file('keys.jsonl', out)])).code).toBe(0);
    expect((await other.keyfront(['keys', 'export'])).out).toBe(out);
  });

  it.each([
    [['--from', 'kong'], '--from must be tyk.'],
    [['--names-are-hashes'], '--names-are-hashes needs --from.'],
    [['--keep-unknown'], '--keep-unknown needs --from.'],
    [['--from', 'tyk', '--passwords-are-hashed'], '--passwords-are-hashed is not for --from'],
  ])('rejects %j', async (options, message) => {
    const { code, stderr } = await c.keyfront(['keys', 'import', await c.file('k.jsonl', ''), ...options]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

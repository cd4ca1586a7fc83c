import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseJSON, stringifyJSON } from '../../../src/lib/json.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';

describe.each(['the data folder', 'a service'])('apply to %s', (place) => {
  let c: CommandLine;
  let env: Record<string, string> = {};
  let folder = '';
  const keyfront = async (args: readonly string[]) => c.keyfront(args, env);
  const apply = async (...options: string[]) => keyfront(['apply', folder, ...options]);
  const write = async (name: string, value: unknown) => writeFile(join(folder, name), stringifyJSON(value));
  const versions = async () =>
    Object.fromEntries(
      jsonLines((await keyfront(['list', '--json'])).out).map(({ alias, version }) => [String(alias), version]),
    );

  beforeEach(async () => {
    c = await makeOwnCommandLine();
    await c.create();
    folder = join(c.folder, '..', 'keys');
    await mkdir(join(folder, 'mobile'), { recursive: true });
    await write('billing.json', { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 1, per: 1 });
    await write('mobile/app.json', { key_id: 'app', alias: 'App', quota_max: 10 });
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  });

  it('creates keys that do not exist, and changes nothing the second time', async () => {
    const first = await apply('--org', 'acme', '--reason', 'start');
    expect(first).toMatchObject({
      code: 0,
      stderr: 'Applied: 2 created, 0 updated, 0 restored, 0 deleted, 0 unchanged, 0 rejected.\n',
    });
    expect((await apply('--org', 'acme')).stderr).toContain('0 created, 0 updated, 0 restored, 0 deleted, 2 unchanged');
    expect(await versions()).toStrictEqual({ Billing: 1, App: 1 });
    expect((await keyfront(['history', 'app', '--json'])).out).toContain('"reason":"start"');
  });

  it('plans with exit code 2 if there are changes and 0 if there are none, and stores nothing', async () => {
    const plan = await apply('--org', 'acme', '--plan');
    expect([plan.code, plan.stderr]).toStrictEqual([
      2,
      'Plan: 2 to create, 0 to update, 0 to restore, 0 to delete, 0 unchanged, 0 rejected.\n',
    ]);
    expect(await versions()).toStrictEqual({});
    await apply('--org', 'acme');
    expect((await apply('--plan')).code).toBe(0);
    await write('billing.json', { key_id: 'billing', alias: 'Billing', rate: 2, per: 1 });
    const update = await apply('--plan', '--json');
    expect(update.code).toBe(2);
    expect(parseJSON(update.out)).toMatchObject({
      action: 'update',
      applied: false,
      changes: [{ path: 'rate', kind: 'CHANGED', before: 1, after: 2 }],
    });
    expect((await apply('--plan')).out).toMatch(
      /^update {2}.*billing\.json {2}Billing {2}[\da-f]{12}\n {2}~ rate {2}1 → 2\n {2}warning {2}access_rights is .*NO_ACCESS_RIGHTS\n$/,
    );
    expect(await versions()).toStrictEqual({ Billing: 1, App: 1 });
    expect((await apply()).code).toBe(0);
    expect(await versions()).toStrictEqual({ Billing: 2, App: 1 });
  });

  it.each(['', null])('takes the owner of --org for a file whose org_id is %j', async (owner) => {
    await write('billing.json', { key_id: 'billing', org_id: owner, alias: 'Billing' });
    await apply('--org', 'globex');
    const listed = jsonLines((await keyfront(['list', '--json'])).out).map(({ alias, org_id }) => [alias, org_id]);
    expect(Object.fromEntries(listed)).toStrictEqual({ Billing: 'globex', App: 'globex' });
    expect((await apply('--org', 'globex', '--plan')).code).toBe(0);
  });

  it('sees no difference after a quota was reset', async () => {
    await apply('--org', 'acme');
    await keyfront(['reset', 'app']);
    expect((await apply('--plan')).code).toBe(0);
  });

  it('deletes the other keys of one organisation with --prune, and they can be restored', async () => {
    await apply('--org', 'acme');
    await write('other.json', { key_id: 'other', org_id: 'globex', alias: 'Other' });
    await apply();
    await rm(join(folder, 'mobile/app.json'));
    await rm(join(folder, 'other.json'));
    const plan = await apply('--org', 'acme', '--prune', '--plan');
    expect([plan.code, plan.stderr]).toStrictEqual([2, expect.stringContaining('1 to delete')]);
    expect((await apply('--org', 'acme', '--prune')).stderr).toContain('1 deleted, 1 unchanged');
    expect(await versions()).toStrictEqual({ Billing: 1, Other: 1 });
    expect((await keyfront(['undelete', 'app'])).code).toBe(0);
  });

  it('restores a deleted key that a file defines, with the changes of the file, as the plan states', async () => {
    await apply('--org', 'acme');
    await keyfront(['delete', 'app']);
    await write('mobile/app.json', { key_id: 'app', alias: 'App 2', quota_max: 10 });
    const plan = await apply('--plan', '--json');
    expect(plan.code).toBe(2);
    expect(parseJSON(plan.out)).toMatchObject({
      action: 'restore',
      file: join(folder, 'mobile/app.json'),
      alias: 'App 2',
      key_hash: expect.stringMatching(/^[\da-f]{64}$/) as string,
      applied: false,
      changes: [{ path: 'alias', before: 'App', after: 'App 2' }],
    });
    expect((await apply()).stderr).toContain('0 created, 0 updated, 1 restored, 0 deleted, 1 unchanged, 0 rejected');
    expect(await versions()).toStrictEqual({ Billing: 1, 'App 2': 4 });
    expect((await apply('--plan')).code).toBe(0);
  });

  it('lists every field of a key that it creates, and no secret', async () => {
    await write('billing.json', { key_id: 'billing', org_id: 'acme', alias: 'Billing', hmac_string: 'hidden-value' });
    const { out } = await apply('--org', 'acme', '--plan');
    expect(out).toMatch(
      /^create {2}.*billing\.json {2}Billing {2}([\da-f]{12}|\(new key\))\n {2}\+ alias {2}"Billing"\n {2}\+ org_id {2}"acme"\n {2}\* hmac_string {2}secret set\n/,
    );
    expect(out).not.toContain('hidden-value');
  });

  it('reads YAML, also several documents and lists, exactly, and names files of other types', async () => {
    await write('README.md', 'Keys of acme.');
    await write('.notes', '');
    await rm(join(folder, 'billing.json'));
    await writeFile(
      join(folder, 'more.yaml'),
      'key_id: y1\nalias: One # a comment\nquota_max: 9223372036854775807\n---\n- key_id: y2\n  alias: Two\n  meta_data: &m { date: 2026-01-31, yes: yes }\n- { key_id: y3, alias: Three, meta_data: *m }\n',
    );
    const { code, stderr } = await apply('--org', 'acme');
    expect([code, stderr]).toStrictEqual([
      0,
      'Not read, because the type is not one of .json, .jsonl, .ndjson, .yaml and .yml: README.md.\nApplied: 4 created, 0 updated, 0 restored, 0 deleted, 0 unchanged, 0 rejected.\n',
    ]);
    expect(parseJSON((await keyfront(['get', 'y1'])).out)).toMatchObject({ quota_max: 9223372036854775807n });
    expect(parseJSON((await keyfront(['get', 'y3'])).out)).toMatchObject({
      meta_data: { date: '2026-01-31', yes: 'yes' },
    });
    expect((await apply('--plan')).code).toBe(0);
  });

  it.each([
    ['a: b: c\n', 'block as implicit key'],
    ['alias: x\nalias: y\n', 'duplicate key (line 2, column 1)'],
    ['rate: .inf\n', 'JSON has no such number (line 1, column 7)'],
    ['alias: *none\n', 'YAML'],
    ['alias: !!binary eA==\n', 'YAML'],
    [`${'['.repeat(50_000)}`, 'YAML'],
  ])('names the place of the problem in the YAML %j', async (text, message) => {
    await writeFile(join(folder, 'bad.yml'), text);
    const { code, stderr } = await apply('--org', 'acme');
    expect([code, stderr]).toStrictEqual([1, expect.stringContaining(`bad.yml: is not valid YAML: `)]);
    expect(stderr).toContain(message);
    expect(await versions()).toStrictEqual({});
  });

  it('applies the valid definitions, names the others, deletes nothing then, and exits with 1', async () => {
    await apply('--org', 'acme');
    await write('billing.json', { key_id: 'billing', alias: 'Renamed' });
    await write('mobile/app.json', { key_id: 'app', rate: -5 });
    await write('new.json', { key_id: 'new', alias: 'No owner' });
    const { code, out, stderr } = await apply('--prune', '--org', 'umbrella', '--json');
    expect([code, stderr]).toStrictEqual([
      1,
      expect.stringContaining('1 updated, 0 restored, 0 deleted, 0 unchanged, 1 rejected'),
    ]);
    expect(out).toContain('"path":"rate","code":"OUT_OF_RANGE"');
    expect(Object.keys(await versions()).toSorted()).toStrictEqual(['App', 'No owner', 'Renamed']);
  });

  it.each([
    ['a definition without key_id', { alias: 'x' }, '`key_id` is missing'],
    ['a key in two files', { key_id: 'billing' }, 'defines the same key'],
    ['a file that is no object', 17, 'must be an object'],
  ])('changes nothing for %s', async (_, value, message) => {
    await write('z.json', value);
    expect(await apply('--org', 'acme')).toMatchObject({ code: 1, stderr: expect.stringContaining(message) as string });
    expect(await versions()).toStrictEqual({});
  });

  it('rejects a file that is none, such as a FIFO without a writer, and changes nothing', async () => {
    const fifo = join(folder, 'mobile', 'fifo.json');
    execFileSync('mkfifo', [fifo]);
    const message = `${fifo} must be a regular file, and is not.\n`;
    expect(await apply('--org', 'acme')).toMatchObject({ code: 1, stderr: message });
    await rm(fifo);
    await symlink('/dev/null', fifo);
    expect(await apply('--org', 'acme')).toMatchObject({ code: 1, stderr: message });
    expect(await versions()).toStrictEqual({});
  });

  it('reads the files of a subfolder whose name ends like that of a file, and a file behind a link', async () => {
    await mkdir(join(folder, 'more.json'));
    await write('more.json/linked', { key_id: 'linked', alias: 'Linked' });
    await symlink(join(folder, 'more.json/linked'), join(folder, 'more.json/linked.json'));
    expect((await apply('--org', 'acme')).stderr).toContain('3 created');
    expect(await versions()).toStrictEqual({ Billing: 1, App: 1, Linked: 1 });
  });

  it('exits with 1, never with the 2 of a plan with changes, after an invalid call', async () => {
    for (const args of [['--prune'], ['--plan', '--pruned'], ['--org', '']]) {
      expect((await apply(...args)).code).toBe(1);
    }
    expect((await keyfront(['apply'])).code).toBe(1);
    expect((await keyfront(['apply', join(folder, 'missing'), '--plan'])).code).toBe(1);
    const invalid = { KEYFRONT_URL: 'http://127.0.0.1:9', KEYFRONT_SERVICE_CREDENTIAL: 'x' };
    expect((await c.keyfront(['apply', folder, '--plan'], invalid)).code).toBe(1);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { hashOf } from '../../support/factories.js';
import { proposeIn } from '../../support/proposals.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys([{ key_id: 'acme-billing', org_id: 'acme', alias: 'Billing' }]);
});

const propose = (alias: string, applyAt?: Date) => proposeIn(c.folder, alias, { applyAt });

describe.each(['the data folder', 'a service'])('keyfront proposals on %s', (place) => {
  let env: Record<string, string> = {};
  const keyfront = async (...args: string[]) => c.keyfront(['proposals', ...args], env);
  const serve = async () => {
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  };

  it('lists and shows what waits, and approves it', async () => {
    const ids = [await propose('one'), await propose('two')];
    await serve();
    const listed = await keyfront('list', '--json');
    expect(listed.code).toBe(0);
    expect(jsonLines(listed.out)).toMatchObject([{ id: ids[1] }, { id: ids[0], state: 'OPEN', kind: 'PATCH' }]);
    expect((await keyfront('list', '--limit', '1', '--json')).out.split('\n')).toHaveLength(2);
    expect(await keyfront('list')).toMatchObject({ code: 0, out: expect.stringContaining('OPS-812') });
    expect(await keyfront('show', String(ids[0]))).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /open {2}patch of version 1\n.*by Ann \(cred_1\): OPS-812\n.*alias {2}"Billing" → "one"\n/s,
      ),
    });
    const approved = await keyfront('approve', String(ids[0]), '--reason', 'agreed', '--json');
    expect(approved.code).toBe(0);
    expect(jsonLines(approved.out)).toMatchObject([{ id: ids[0], state: 'APPLIED', approval_reason: 'agreed' }]);
    const history = await c.keyfront(['keys', 'history', 'acme-billing', '--json'], env);
    expect(jsonLines(history.out)[0]).toMatchObject({
      version: 2,
      actor: { label: 'Ann' },
      proposal_id: ids[0],
      approved_by: { label: expect.any(String) as string },
    });
    // The other one is for version 1.
    const stale = await keyfront('approve', String(ids[1]));
    expect(stale).toMatchObject({
      code: 1,
      out: expect.stringMatching(/stale {2}patch.*problem.*alias has changed since version 1\n/s),
    });
    expect(await keyfront('list')).toMatchObject({ code: 0, out: '', stderr: 'There are no such proposals.\n' });
    expect(jsonLines((await keyfront('list', '--state', 'applied,stale', '--json')).out)).toHaveLength(2);
    expect(jsonLines((await keyfront('list', '--state', 'all', '--org', 'globex', '--json')).out)).toEqual([]);
  });

  it('rejects, and says what it cannot do', async () => {
    const id = await propose('one', new Date(Date.now() + 3_600_000));
    await serve();
    expect(await keyfront('withdraw', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('can withdraw') });
    expect(await keyfront('approve', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('no approval') });
    expect(await keyfront('reject', id, '--reason', 'no')).toMatchObject({
      code: 0,
      out: expect.stringContaining(': no'),
    });
    expect(await keyfront('reject', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('rejected already'),
    });
    expect(await keyfront('show', 'prop_0')).toMatchObject({ code: 1, stderr: 'There is no proposal prop_0.\n' });
    expect(await keyfront('approve', 'prop_0')).toMatchObject({ code: 1, stderr: expect.stringContaining('no such') });
    expect(await keyfront('list', '--state', 'scheduld')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean scheduled?'),
    });
    expect(await keyfront('list', '--org', 'acme')).toMatchObject({ stderr: 'There are no such proposals.\n' });
    const history = await c.keyfront(['keys', 'get', '--key-hash', hashOf('acme-billing'), '--json'], env);
    expect(history.out).toContain('Billing');
  });
});

describe.each(['the data folder', 'a service'])('--propose and --at on %s', (place) => {
  let env: Record<string, string> = {};
  const keyfront = async (...args: string[]) => c.keyfront(['keys', ...args], env);
  beforeEach(async () => {
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  });
  const key = async () => jsonLines((await keyfront('get', 'acme-billing', '--json')).out)[0];

  const changes = {
    put: ['acme-billing', '{"alias":"New"}', 'UPDATE', [{ path: 'alias', before: 'Billing', after: 'New' }]],
    patch: ['acme-billing', '{"tags":["a"]}', 'PATCH', [{ path: 'tags', kind: 'ADDED', after: ['a'] }]],
    create: [undefined, '{"org_id":"acme","alias":"New"}', 'CREATE', [{ path: 'alias', kind: 'ADDED', after: 'New' }]],
    rotate: ['acme-billing', undefined, 'ROTATE', [{ path: 'identifier_hash' }, {}, {}]],
    delete: ['acme-billing', undefined, 'DELETE', []],
    reset: ['acme-billing', undefined, 'PATCH', []],
  } as const;

  it.each(Object.entries(changes))('%s stores the change, and changes nothing', async (command, change) => {
    const [keyID, definition, kind, fields] = change;
    const before = await key();
    const file = definition === undefined ? [] : [await c.file('given.json', definition)];
    const call = [command, ...(keyID === undefined ? [] : [keyID]), ...file];
    const proposed = await keyfront(...call, '--propose', '--reason', 'OPS-1', '--json');
    expect(proposed).toMatchObject({ code: 0, stderr: '' });
    const [proposal] = jsonLines(proposed.out);
    expect(proposal).toMatchObject({ state: 'OPEN', kind, reason: 'OPS-1', changes: fields });
    expect(await key()).toStrictEqual(before);
    const shown = await c.keyfront(['proposals', 'show', String(proposal?.['id']), '--json'], env);
    expect(jsonLines(shown.out)).toStrictEqual([proposal]);
  });

  it('proposes what needs a state of the key', async () => {
    await keyfront('patch', 'acme-billing', await c.file('rate.json', '{"rate":5,"per":1}'));
    expect(await keyfront('revert', 'acme-billing', '--to', '1', '--propose')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/open {2}revert of version 2\n.*- rate {2}5\n/s),
    });
    await keyfront('rotate', 'acme-billing');
    expect(await keyfront('cancel-rotation', 'acme-billing', '--propose')).toMatchObject({
      code: 0,
      out: expect.stringContaining('cancel_rotation of version 3'),
    });
    await keyfront('delete', 'acme-billing');
    expect(await keyfront('restore', 'acme-billing', '--propose')).toMatchObject({
      code: 0,
      out: expect.stringContaining('restore of version 4'),
    });
  });

  it('schedules a change', async () => {
    const at = new Date(Date.now() + 3_600_000);
    const local = `${new Date(at.getTime() + 7_200_000).toISOString().slice(0, -1)}+02:00`;
    const scheduled = await keyfront('delete', 'acme-billing', '--at', local, '--json');
    expect(scheduled.code).toBe(0);
    expect(jsonLines(scheduled.out)).toMatchObject([{ state: 'SCHEDULED', apply_at: at.toISOString() }]);
    expect(await key()).toMatchObject({ version: 1, data: { alias: 'Billing' } });
    const both = await keyfront('delete', 'acme-billing', '--propose', '--at', at.toISOString());
    expect(both).toMatchObject({ code: 0, out: expect.stringContaining(`  at        ${at.toISOString()}\n`) });
  });

  it('keeps integers beyond 2^53 and the other access rights', async () => {
    const rights = '{"access_rights":{"a":{"api_id":"a"},"b":{"api_id":"b"}},"quota_max":9007199254740993}';
    await keyfront('put', 'acme-billing', await c.file('rights.json', rights));
    const file = await c.file('one.json', '{"access_rights":{"b":null},"quota_max":9223372036854775807}');
    const proposed = await keyfront('patch', 'acme-billing', file, '--propose');
    expect(proposed).toMatchObject({
      code: 0,
      out: expect.stringContaining('quota_max  9007199254740993 → 9223372036854775807'),
    });
    expect(proposed.out).toContain('- access_rights.b');
    expect(proposed.out).not.toContain('access_rights.a');
  });

  it('reports what is wrong as the change does, and stores nothing', async () => {
    const file = await c.file('wrong.json', '{"rate":-5,"access_rights":{"b":{"api_ids":"b"}}}');
    const direct = await keyfront('patch', 'acme-billing', file);
    expect(direct).toMatchObject({ code: 1, stderr: expect.stringContaining('access_rights.b.api_ids') });
    expect(await keyfront('patch', 'acme-billing', file, '--propose')).toStrictEqual(direct);
    expect(await keyfront('put', 'acme-billing', file, '--propose')).toStrictEqual(
      await keyfront('put', 'acme-billing', file),
    );
    expect(await keyfront('create', file, '--org', 'acme', '--propose')).toStrictEqual(
      await keyfront('create', file, '--org', 'acme'),
    );
    const same = await c.file('same.json', '{"alias":"Billing"}');
    expect(await keyfront('patch', 'acme-billing', same, '--propose')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NO_CHANGE'),
    });
    expect(await keyfront('delete', 'acme-billing', '--propose', '--expected-version', '2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The key has version 1; the expected version is 2.'),
    });
    expect(await keyfront('delete', 'unknown', '--propose')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such key.'),
    });
    for (const at of ['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z']) {
      expect(await keyfront('delete', 'acme-billing', '--at', at)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('must be in the future, at most 90 days ahead'),
      });
    }
    expect((await c.keyfront(['proposals', 'list', '--state', 'all'], env)).out).toBe('');
  });

  it('rejects options that do not fit', async () => {
    const file = await c.file('given.json', '{"alias":"New"}');
    for (const [args, message] of [
      [
        ['delete', 'acme-billing', '--at', 'tomorrow'],
        '--at must be an RFC 3339 date and time with an offset, such as',
      ],
      [['delete', 'acme-billing', '--at', ''], '--at must be an RFC 3339 date and time with an offset, such as'],
      [['delete', 'acme-billing', '--propose', '--wait', 'edge-1'], '--wait and --propose cannot be used together'],
      [['put', 'acme-billing', file, '--create', '--at', '2999-01-01T00:00:00Z'], '--create and --at cannot be used'],
    ] as const) {
      expect(await keyfront(...args)).toMatchObject({ code: 2, out: '', stderr: expect.stringContaining(message) });
    }
    expect((await c.keyfront(['proposals', 'list', '--state', 'all'], env)).out).toBe('');
  });
});

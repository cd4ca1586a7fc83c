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

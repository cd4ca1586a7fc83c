import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { temporaryFolder } from '../../support/folder.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys(['k1', 'k2'].map((key_id) => ({ key_id, org_id: 'acme' })));
});

const person = (input: string) => ({ input, isInteractive: true, isTerminal: true });
const count = async () => (await c.keyfront(['list'])).out.split('\n').length - 1;

describe('the confirmation of keyfront delete', () => {
  it.each(['n\n', '\n', '', 'yesterday\n'])('keeps the key for the input %j', async (input) => {
    const { code, stderr } = await c.keyfront(['delete', 'k1'], {}, false, person(input));
    expect([code, stderr]).toStrictEqual([1, 'Delete the key? It stops working at once. [y/N] Nothing was changed.\n']);
    expect(await count()).toBe(2);
  });

  it.each(['y\n', 'YES\r\nn\n', 'y'])('deletes the key for the input %j', async (input) => {
    expect(await c.keyfront(['delete', 'k1'], {}, false, person(input))).toMatchObject({ code: 0 });
    expect(await count()).toBe(1);
  });

  it('is skipped with --yes, and without a terminal', async () => {
    const outcome = await c.keyfront(['delete', 'k1', '--yes'], {}, false, person('n\n'));
    expect([outcome.code, outcome.stderr]).toStrictEqual([0, '']);
    expect(await c.keyfront(['delete', 'k2'], {}, false, { input: 'n\n' })).toMatchObject({ code: 0, stderr: '' });
    expect(await count()).toBe(0);
  });
});

it('lists what apply deletes before it asks, and changes nothing at all for a no', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'k1.json'), '{"key_id":"k1","org_id":"acme","alias":"Changed"}');
  await writeFile(join(folder, 'k3.json'), '{"key_id":"k3","org_id":"acme"}');
  const args = ['apply', folder, '--prune', '--org', 'acme'];
  const { code, out, stderr } = await c.keyfront(args, { NO_COLOR: '1' }, false, person('n\n'));
  expect(code).toBe(1);
  expect(out).toMatch(
    /^update {2}.*k1\.json {2}Changed {2}[\da-f]{12}\n[^]*\ncreate {2}.*k3\.json[^]*\ndelete {2}\(no file\) {2}[\da-f]{12}\n$/,
  );
  expect(stderr).toBe(
    'Apply this plan, and delete this key of acme? Clients of the gateway lose access when the gateway learns of it. [y/N] Nothing was changed.\n',
  );
  const json = await c.keyfront([...args, '--json'], { NO_COLOR: '1' }, false, person('n\n'));
  expect(json).toMatchObject({ code: 1, out: '', stderr: expect.stringMatching(/^delete {2}\(no file\)/) as string });
  expect((await c.keyfront(['apply', folder, '--plan'])).stderr).toContain('1 to create, 1 to update,');
  expect(await count()).toBe(2);
  await rm(join(folder, 'k3.json'));
  await c.keyfront(args, {}, false, person('y\n'));
  expect(await count()).toBe(1);
});

it.each([
  ['credentials', 'revoke', 'cred_0'],
  ['webhooks', 'remove', 'hook_0'],
  ['webhooks', 'discard', 'hook_0'],
  ['secrets', 'prune'],
  ['keys', 'discard', 'ab'],
])('requires confirmation before %s %s', async (...args) => {
  const { code, stderr } = await c.keyfront(args, {}, false, person('n\n'));
  expect([code, stderr]).toStrictEqual([1, expect.stringMatching(/ \[y\/N\] Nothing was changed\.\n$/)]);
});

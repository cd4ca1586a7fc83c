import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { hashOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys(['k1', 'k2'].map((key_id) => ({ key_id, org_id: 'acme', alias: `Key of ${key_id}` })));
});

const person = (input: string) => ({ input, isInteractive: true, isTerminal: true });
const count = async () => (await c.keyfront(['list', '--json'])).out.split('\n').length - 1;

describe('the confirmation of keyfront delete', () => {
  it.each(['n\n', '\n', '', 'yesterday\n'])('keeps the key for the input %j', async (input) => {
    const { code, stderr } = await c.keyfront(['delete', 'k1'], {}, false, person(input));
    expect([code, stderr]).toStrictEqual([
      1,
      'Delete key k1 (Key of k1) of acme? Clients of the gateway lose access when the gateway learns of it. [y/N] Nothing was changed.\n',
    ]);
    expect(await count()).toBe(2);
  });

  it.each(['y\n', 'YES\r\nn\n', 'y'])('deletes the key for the input %j', async (input) => {
    expect(await c.keyfront(['delete', 'k1'], {}, false, person(input))).toMatchObject({ code: 0 });
    expect(await count()).toBe(1);
  });

  it('names the hash in place of an identifier that is not in the arguments', async () => {
    const { stderr } = await c.keyfront(['delete', '--key-hash', hashOf('k1')], {}, false, person('n\n'));
    expect(stderr).toContain(`Delete key ${hashOf('k1').slice(0, 12)} (Key of k1) of acme?`);
  });

  it('is skipped with --yes, and without a terminal', async () => {
    const outcome = await c.keyfront(['delete', 'k1', '--yes'], {}, false, person('n\n'));
    expect([outcome.code, outcome.stderr]).toStrictEqual([0, '']);
    expect(await c.keyfront(['delete', 'k2'], {}, false, { input: 'n\n' })).toMatchObject({ code: 0, stderr: '' });
    expect(await count()).toBe(0);
  });
});

it('lists what apply deletes before the question, and changes nothing at all for a no', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'k1.json'), '{"key_id":"k1","org_id":"acme","alias":"Changed"}');
  await writeFile(join(folder, 'k3.json'), '{"key_id":"k3","org_id":"acme"}');
  const args = ['apply', folder, '--prune', '--org', 'acme'];
  const { code, out, stderr } = await c.keyfront(args, { NO_COLOR: '1' }, false, person('n\n'));
  expect(code).toBe(1);
  expect(out).toMatch(
    /^update {2}.*k1\.json {2}Changed {2}[\da-f]{12}\n[^]*\ncreate {2}.*k3\.json[^]*\ndelete {2}\(no file\) {2}Key of k2 {2}[\da-f]{12}\n$/,
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

const id = async (...args: string[]) => {
  const { out } = await c.keyfront([...args, '--json']);
  return String((JSON.parse(out) as { id: string }).id);
};
const webhook = () => id('webhooks', 'add', '--url', 'http://127.0.0.1:9/secret', '--label', 'billing');

it.each<[string, () => Promise<string[]>, RegExp]>([
  [
    'credentials revoke',
    async () => [await id('credentials', 'issue', '--kind', 'service', '--label', 'dashboard', '--org', 'acme')],
    /^Revoke the service credential cred_\w+ \(dashboard\) of acme, never used\? Running services reject it/,
  ],
  [
    'webhooks remove',
    async () => [await webhook()],
    /^Remove the webhook hook_\w+ \(billing, http:\/\/127\.0\.0\.1:9\S*\), with its pending events and 0 dead letters\?/,
  ],
  [
    'webhooks discard',
    async () => [await webhook()],
    /^Delete 0 dead letters of the webhook hook_\w+ \(billing, http:\/\/127\.0\.0\.1:9\S*\)\? The receiver never/,
  ],
  [
    'secrets prune',
    async () => {
      expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
      return [];
    },
    /^Remove the keys k1 from the key ring \S+key-ring\.json\? Backups from before/,
  ],
  ['keys discard', () => Promise.resolve(['ab']), /^Delete the damaged key ab and its history permanently\?/],
])('requires confirmation before %s, and names what it does', async (command, prepare, question) => {
  const args = [...command.split(' '), ...(await prepare())];
  const { code, stderr } = await c.keyfront(args, {}, false, person('n\n'));
  expect([code, stderr]).toStrictEqual([1, expect.stringMatching(question)]);
  expect(stderr).toMatch(/ \[y\/N\] Nothing was changed\.\n$/);
  expect(stderr).not.toContain('secret)');
});

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { runCommand, type Outcome } from '../../support/cli.js';
import { hashOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';
import { sendRequest } from '../../support/responses.js';
import { startOwnServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { writeFile } from 'node:fs/promises';

/** Identifiers that would be something else in the file of a gateway. */
const special = ['k 3"', 'k;', 'k{', '#k', '$k'];

let s: TestServer;
let folder: string;
let file: string;
let credential: string;
beforeEach(async () => {
  s = await startOwnServer();
  // The command compares times with those of the service.
  s.t.clock.now = new Date();
  folder = await temporaryFolder();
  file = join(folder, 'keys');
  credential = (await s.t.issue('service', { scopes: ['read', 'deliver'] })).secret;
  await s.t.importKeys(
    { key_id: 'k1', org_id: 'acme', rate: 5, hmac_string: 'secret of k1' },
    { key_id: 'k2', org_id: 'acme', is_inactive: true },
    ...[...special, 'default', '~.*'].map((keyID) => ({ key_id: keyID, org_id: 'acme' })),
    { key_id: 'g1', org_id: 'globex' },
  );
});

/** Runs the command until the work is done. */
async function whileDelivering(args: readonly string[], work: () => Promise<unknown>): Promise<Outcome> {
  let stop = () => undefined as void;
  const env = { KEYFRONT_URL: s.url, KEYFRONT_SERVICE_CREDENTIAL: credential };
  const ended = runCommand(['deliver', 'file', file, ...args], env, false, {
    onStop: (callback) => (stop = callback),
  });
  await Promise.race([work(), ended]);
  stop();
  return ended;
}

async function template(line: string): Promise<string[]> {
  const path = join(folder, 'line.txt');
  await writeFile(path, line);
  return ['--template', path];
}

const content = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const untilFile = (text: string) => until(() => content() === text, `The file ${text}`);

it('writes all keys with their secrets as JSON, and each change', async () => {
  const { code } = await whileDelivering(['--org', 'acme'], async () => {
    await until(() => content() !== '');
    const keys = JSON.parse(content()) as { key: string; state: string; data: { hmac_string?: string } }[];
    expect(keys.map(({ key }) => key).toSorted()).toEqual([...special, 'k1', 'k2', 'default', '~.*'].toSorted());
    expect(keys.find(({ key }) => key === 'k1')).toMatchObject({ data: { hmac_string: 'secret of k1' } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await sendRequest(s.t, 'DELETE', '/svc/org/keys/k2');
    await until(() => !content().includes('"k2"'), 'The file without a deleted key');
    await sendRequest(s.t, 'POST', '/svc/org/keys/k1/rotate', { overlap: 600, silence: 60 });
    await until(() => content().includes('"silence"'), 'The file with a rotation');
    const rotated = (JSON.parse(content()) as { rotation?: object }[]).find(({ rotation }) => rotation);
    expect(rotated?.rotation).toEqual({
      old_key: 'k1',
      old_identifier_hash: hashOf('k1'),
      retires_at: expect.any(String),
      silence: 60,
    });
  });
  expect(code).toBe(0);
});

it('writes a line for each identifier that can be used, leaves out what is not plain, and runs the command', async () => {
  const log = join(folder, 'log');
  const first = join(folder, 'first');
  // The first run fails, and is repeated.
  const command = `test -e ${first} || { touch ${first}; exit 7; }; cat ${file} >> ${log}`;
  const args = [...(await template('{key} {data.rate} {org_id}\n')), '--org', 'acme', '--run', command];
  let rotated = '';
  const { code, stderr } = await whileDelivering(args, async () => {
    await untilFile('k1 5 acme\n');
    await until(() => existsSync(log), 'The command');
    const { body } = await sendRequest(s.t, 'POST', '/svc/org/keys/k1/rotate');
    rotated = String(body['key']);
    await untilFile(`${rotated} 5 acme\nk1 5 acme\n`);
    await until(() => readFileSync(log, 'utf8').includes(rotated), 'The command after the change');
  });
  expect(code).toBe(0);
  expect(readFileSync(log, 'utf8')).toBe(`k1 5 acme\n${rotated} 5 acme\nk1 5 acme\n`);
  expect(stderr).toContain('The command ended with 7. It is run again.');
  for (const keyID of [...special, 'default', '~.*']) {
    expect(
      stderr.split(`Left out the key ${hashOf(keyID).slice(0, 12)}: a value has special characters.`),
    ).toHaveLength(2);
    expect(stderr).not.toContain(keyID);
  }
});

it('leaves the file as it was if the service rejects the credential, and names the error', async () => {
  await writeFile(file, 'before');
  credential = (await s.t.issue('service')).secret;
  const { code, stderr } = await whileDelivering([], () => new Promise(() => undefined));
  expect([code, content()]).toEqual([1, 'before']);
  expect(stderr).toContain('The credential does not have the scope `deliver`.');
});

it('writes the file in place of the draft that a killed process left', async () => {
  await writeFile(`${file}.new`, 'half');
  const { code } = await whileDelivering(await template('{key} {org_id}'), () => untilFile('k1 acme\ng1 globex\n'));
  expect([code, readdirSync(folder).toSorted()]).toEqual([0, ['keys', 'line.txt']]);
});

it('ends if the file cannot be written', async () => {
  mkdirSync(file);
  const { code, stderr } = await whileDelivering([], () => new Promise(() => undefined));
  expect([code, stderr]).toEqual([1, `Cannot write ${file}: it is a folder; name a file (EISDIR).\n`]);
});

it('rejects an empty command', async () => {
  const { code, stderr } = await whileDelivering(['--run', ' '], () => new Promise(() => undefined));
  expect([code, stderr]).toEqual([2, '--run must not be empty.\n']);
});

it.each([
  ['{org_id}', 'The template must be one line with {key} or {key_hash}.'],
  ['{key}\n{key}', 'The template must be one line with {key} or {key_hash}.'],
])('rejects the template %j', async (line, message) => {
  const { code, stderr } = await whileDelivering(await template(line), () => new Promise(() => undefined));
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.js';
import { openServices } from '../../../src/storage/open-storage.js';
import { addKey } from '../../../src/crypto/key-ring.js';
import { addWebhook } from '../../../src/webhooks/manage.js';
import { startOwnApp } from '../../support/app.js';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { aDeadLetter } from '../../support/factories.js';
import { startOwnReceiver, verificationErrorOf, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { quick } from '../../support/webhooks.js';

let c: CommandLine;
let receiver: Receiver;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.create();
  receiver = await startOwnReceiver();
});

const webhooks = (...args: string[]) => c.keyfront(['webhooks', ...args]);
const add = async (...more: string[]) => {
  const { code, out, stderr } = await webhooks('add', '--to', receiver.url, ...more);
  expect([code, stderr]).toStrictEqual([
    0,
    expect.stringMatching(
      /^Added hook_[0-9a-f]{16}\. It receives every change from now on\. Save this secret now; it is not shown again:\n$/,
    ),
  ]);
  return { id: /hook_\w+/.exec(stderr)?.[0] ?? '', secret: out.trim() };
};
const listed = async () => jsonLines((await webhooks('list', '--json')).out);
const serve = (pace = quick) => startOwnApp({ KEYFRONT_DATA: c.folder }, { dispatcherOptions: pace });

describe('webhooks add', () => {
  it('prints only the secret on standard output, and stores URL and secret encrypted', async () => {
    const { id, secret } = await add('--label', 'billing', '--org', 'acme');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await listed()).toMatchObject([
      { id, label: 'billing', org_id: 'acme', receiver: `http://127.0.0.1:${receiver.port}/…`, dead_letters: 0 },
    ]);
    const { out } = await c.keyfront(['webhooks', 'list'], {}, false, { isTerminal: true });
    expect(out.split('\n')[1]).toMatch(new RegExp(`^${id}  active  0 .* acme .* billing$`));
    for (const name of ['keyfront.db', 'keyfront.db-wal']) {
      const file = await readFile(join(c.folder, name)).catch(() => Buffer.of());
      expect(file.includes(secret.slice(6)) || file.includes('127.0.0.1')).toBe(false);
    }
  });
});

describe('webhooks add --events', () => {
  it('stores the types, in one order, and list shows them', async () => {
    const args = ['--to', receiver.url, '--events', 'orgKey.expired, orgKey.deleted,orgKey.expired'];
    const { code, stderr } = await webhooks('add', ...args);
    expect([code, stderr]).toStrictEqual([
      0,
      expect.stringContaining('It receives every event of these types from now on'),
    ]);
    expect((await webhooks('add', '--to', receiver.url)).code).toBe(0);
    expect((await listed()).map(({ events }) => events)).toStrictEqual([
      ['orgKey.deleted', 'orgKey.expired'],
      undefined,
    ]);
    const { out } = await c.keyfront(['webhooks', 'list'], {}, false, { isTerminal: true });
    expect(out).toContain('orgKey.deleted, orgKey.expired');
    expect((await c.keyfront(['check'])).code).toBe(0);
  });

  it.each([
    ['orgKey.expires', 'Did you mean orgKey.expired?'],
    ['nothing-like-it', 'The types are orgKey.imported, '],
  ])('rejects %s and adds nothing', async (type, advice) => {
    const { code, stderr } = await webhooks('add', '--to', receiver.url, '--events', `orgKey.deleted,${type}`);
    expect([code, stderr]).toStrictEqual([2, expect.stringContaining(`no type of event "${type}". ${advice}`)]);
    expect(await listed()).toStrictEqual([]);
  });
});

describe('webhooks', () => {
  it('test sends a signed ping and prints the status of the response', async () => {
    const { id, secret } = await add();
    expect(await webhooks('test', id)).toStrictEqual({ code: 0, out: '', stderr: 'The receiver returned 204.\n' });
    const [ping] = receiver.received;
    expect(ping).toMatchObject({ type: 'webhook.ping', data: { webhook_id: id } });
    expect(ping && verificationErrorOf(secret, ping)).toBeUndefined();
    receiver.behavior = () => 500;
    expect(await webhooks('test', id)).toMatchObject({ code: 1, stderr: 'The receiver returned 500.\n' });
    const near = await c.keyfront(['webhooks', 'test', id], { KEYFRONT_WEBHOOKS_TO: 'public' });
    expect(near).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^No response: the address is loopback/) as string,
    });
  });

  it('are added, paused, resumed, rotated and removed while a service runs, with effect before the command returns', async () => {
    // The service looks for changes so seldom that it would miss all of these commands if they did not wait for it.
    const app = await serve({ ...quick, pollIntervalMs: 500 });
    const { id, secret } = await add();
    await app.importKeys({ key_id: 'a', org_id: 'acme' });
    await receiver.until((taken) => taken.length === 1);
    const rotated = await webhooks('rotate', id, '--overlap', '0');
    expect(rotated.stderr).toBe(
      `Rotated the secret of ${id}. Save this secret now; it is not shown again:\nThe old secret no longer signs.\n`,
    );
    expect(await webhooks('pause', id)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Paused/) as string });
    expect(await listed()).toMatchObject([{ paused_why: 'by the command line' }]);
    await app.update('a', { alias: 'meanwhile' });
    expect((await webhooks('resume', id)).code).toBe(0);
    await receiver.until((taken) => taken.length === 2);
    const [before, after] = receiver.accepted();
    expect(before && verificationErrorOf(secret, before)).toBeUndefined();
    expect(after && verificationErrorOf(secret, after)).toBe('No matching signature found');
    expect(after && verificationErrorOf(rotated.out.trim(), after)).toBeUndefined();
    expect(await webhooks('remove', id)).toMatchObject({ code: 0 });
    expect(await listed()).toStrictEqual([]);
  });

  it('dead lists dead letters, replay queues them with their identifiers, and discard deletes them', async () => {
    const app = await serve({ ...quick, retryPolicy: { delaysMs: [5], maxAttempts: 2 } });
    const { id } = await add();
    receiver.behavior = () => 500;
    await app.importKeys(
      { key_id: 'a', org_id: 'acme' },
      { key_id: 'b', org_id: 'acme' },
      { key_id: 'c', org_id: 'acme' },
    );
    const dead = async () => jsonLines((await webhooks('dead', id, '--json')).out);
    await until(async () => (await dead()).length >= 3, 'Three dead letters');
    const letters = (await dead()) as Record<string, string>[];
    expect(letters).toMatchObject(Array.from({ length: 3 }, () => ({ version: 1, attempts: 2, why: 'returned 500' })));
    const { out } = await c.keyfront(['webhooks', 'dead', id], {}, false, { isTerminal: true });
    expect(out).toMatch(/^EVENT +KEY HASH +VERSION +GIVEN UP +ATTEMPTS +WHY\nevt_/);
    receiver.behavior = () => 200;
    const [first, second] = letters;
    expect(await webhooks('replay', id, '--event', first?.['event'] ?? '')).toMatchObject({
      code: 0,
      stderr: 'Queued dead letters: 1.\n',
    });
    await receiver.until((taken) => taken.length === 1);
    expect(receiver.accepted()[0]?.id).toBe(first?.['event']);
    expect(await webhooks('discard', id, '--event', second?.['event'] ?? '')).toMatchObject({ code: 0 });
    expect(await webhooks('replay', id, '--event', 'evt_nothing')).toMatchObject({
      code: 1,
      stderr: 'There is no dead letter evt_nothing.\n',
    });
    expect((await webhooks('replay', id)).code).toBe(0);
    await receiver.until((taken) => taken.length === 2);
  });
});

describe('with --url', () => {
  const serve = () => serveFolder(c, { dispatcherOptions: quick });
  /** Nothing is delivered. */
  const serveQuietly = () => serveFolder(c, { dispatcherOptions: { ...quick, pollIntervalMs: 2 ** 31 - 1 } });
  const addAt = async (env: Record<string, string>, ...more: string[]) => {
    const { code, out, stderr } = await c.keyfront(['webhooks', 'add', '--to', receiver.url, ...more], env);
    expect([code, stderr]).toStrictEqual([0, expect.stringContaining('Save this secret now')]);
    return { id: /hook_\w+/.exec(stderr)?.[0] ?? '', secret: out.trim() };
  };

  it('the commands show and change the webhooks of a service', async () => {
    const { server, env } = await serve();
    const at = (...args: string[]) => c.keyfront(['webhooks', ...args], env);
    const both = async (...args: string[]) => {
      const [remote, local] = [await at(...args), await webhooks(...args)];
      expect(remote).toStrictEqual(local);
      return remote;
    };
    await both('list');
    const url = ['--url', env['KEYFRONT_URL'] ?? ''];
    const { id, secret } = await addAt(env, '--org', 'acme', '--label', 'billing', ...url);
    server.t.clock.now = new Date(server.t.clock.now.getTime() + 1);
    const { id: other } = await addAt(env, '--events', 'orgKey.deleted');
    const list = await both('list', '--json');
    expect(jsonLines(list.out)).toMatchObject([
      { id, label: 'billing', org_id: 'acme', receiver: `http://127.0.0.1:${receiver.port}/…`, dead_letters: 0 },
      { id: other, label: '', events: ['orgKey.deleted'] },
    ]);
    expect((await both('list')).out).toContain('billing');
    expect(await at('test', id)).toStrictEqual({ code: 0, out: '', stderr: 'The receiver returned 204.\n' });
    const [ping] = receiver.received;
    expect(ping && verificationErrorOf(secret, ping)).toBeUndefined();

    expect(await at('pause', id, '--json')).toMatchObject({ code: 0, out: `{"id":"${id}","state":"paused"}\n` });
    expect((await both('list')).out).toContain('paused: by the API');
    expect((await at('pause', id)).stderr).toContain(`${id} is paused already.`);
    await server.t.importKeys({ key_id: 'a', org_id: 'acme' });
    const rotated = await at('rotate', id, '--overlap', '7d');
    expect(rotated.stderr).toMatch(/also signs until 20/);
    const last = await at('rotate', id, '--overlap', '0');
    expect(last.stderr).toContain('The old secret no longer signs.');
    expect(await at('resume', id)).toMatchObject({ code: 0, stderr: `Resumed ${id}.\n` });
    expect(await at('resume', id)).toMatchObject({ code: 0, stderr: `${id} is active already.\n` });
    await receiver.until((taken) => taken.length === 2);
    const message = receiver.received.at(-1);
    const isSignedBy = (one: string) => message && verificationErrorOf(one, message) === undefined;
    expect([secret, rotated.out.trim(), last.out.trim()].map(isSignedBy)).toStrictEqual([false, false, true]);

    const person = { input: 'no\n', isInteractive: true, isTerminal: true };
    const asked = await c.keyfront(['webhooks', 'remove', id], env, false, person);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain(`Remove the webhook ${id} (billing, http://127.0.0.1:${receiver.port}/…)`);
    expect(await at('remove', id, '--json')).toMatchObject({ code: 0, out: `{"id":"${id}","removed":true}\n` });
    expect(await listed()).toMatchObject([{ id: other }]);
  });

  it('the commands read, replay and discard dead letters, on all pages', async () => {
    const { server, env } = await serveQuietly();
    const at = (...args: string[]) => c.keyfront(['webhooks', ...args], env);
    const { id } = await addAt(env);
    const { webhooks: store } = server.t.app.services;
    await store.acquireLeases('a test', 60_000);
    const events = Array.from({ length: 103 }, (_, n) => `evt_${n}`);
    for (const event of events) await store.recordResults('a test', id, { dead: aDeadLetter(event) });
    await store.releaseLeases('a test');
    const dead = async () => jsonLines((await webhooks('dead', id, '--json')).out);
    expect(await dead()).toHaveLength(events.length);
    expect(jsonLines((await at('dead', id, '--json')).out)).toStrictEqual(await dead());
    expect((await at('dead', id)).out).toBe((await webhooks('dead', id)).out);
    const [first, second] = (await dead()) as Record<string, string>[];
    await at('pause', id);
    expect(await at('replay', id, '--event', first?.['event'] ?? '')).toMatchObject({
      code: 0,
      stderr: 'Queued dead letters: 1; they are sent after `webhooks resume`.\n',
    });
    const none = { code: 1, stderr: 'There is no dead letter evt_none.\n' };
    for (const action of ['replay', 'discard']) expect(await at(action, id, '--event', 'evt_none')).toMatchObject(none);
    expect(jsonLines((await at('dead', id, '--json')).out)[0]).toMatchObject({ replayed: true });
    const one = ['discard', id, '--event', second?.['event'] ?? '', '--json'];
    expect(await at(...one)).toMatchObject({ code: 0, out: `{"id":"${id}","deleted":1}\n` });
    expect(await at('discard', id)).toMatchObject({ code: 0, stderr: 'Deleted dead letters: 102.\n' });
  });

  it('the commands say why the service rejects them', async () => {
    const { server, env } = await serve();
    const { secret } = await server.t.issue('service', { orgID: 'acme', scopes: ['admin'] });
    const at = (args: readonly string[], credential = secret) =>
      c.keyfront(['webhooks', ...args], { ...env, KEYFRONT_SERVICE_CREDENTIAL: credential });
    const { id } = await addAt(env, '--org', 'globex');
    for (const action of ['test', 'pause', 'resume', 'rotate', 'remove', 'dead', 'replay', 'discard']) {
      const stderr = `There is no webhook ${id}.\n`;
      expect(await at([action, id])).toMatchObject({ code: 1, out: '', stderr });
    }
    expect(await at(['list'])).toMatchObject({ code: 0, stderr: 'There are no webhooks.\n' });
    expect(await at(['add', '--to', receiver.url])).toMatchObject({
      code: 1,
      out: '',
      stderr: 'The credential does not have the scope `read`.\n',
    });
    const invalid = await at(['add', '--to', 'ftp://127.0.0.1/'], server.t.service);
    expect(invalid).toMatchObject({ code: 2, stderr: expect.stringMatching(/https or http URL/) as string });
    expect(invalid).toStrictEqual(await webhooks('add', '--to', 'ftp://127.0.0.1/'));
    expect(await at(['list'], '')).toMatchObject({ code: 2 });
    expect(await at(['list', '--url', 'http://127.0.0.1:1'])).toMatchObject({ code: 1 });
  });

  it('the commands name a damaged webhook, which can be removed', async () => {
    const { env } = await serveQuietly();
    const { id } = await addAt(env);
    const database = new Database(join(c.folder, 'keyfront.db'));
    database.prepare('UPDATE webhooks SET label = ? WHERE id = ?').run('forged', id);
    database.close();
    const at = (...args: string[]) => c.keyfront(['webhooks', ...args], env);
    for (const args of [['list'], ['test', id], ['dead', id], ['replay', id]]) {
      const [remote, local] = [await at(...args), await webhooks(...args)];
      expect(remote).toStrictEqual(local);
      expect(remote.stderr).toContain(`The row of the webhook ${id} fails the integrity check.`);
    }
    expect(await at('remove', id)).toMatchObject({ code: 0 });
    expect(await at('list')).toMatchObject({ code: 0 });
  });
});

describe('the stored state of webhooks', () => {
  it('is encrypted again by secrets rotate, so that a webhook still signs after secrets prune', async () => {
    const { id, secret } = await add();
    const second = (await webhooks('rotate', id, '--overlap', '7d')).out.trim();
    await c.keyfront(['secrets', 'rotate']);
    expect(await c.keyfront(['secrets', 'prune'])).toMatchObject({ code: 0 });
    expect(await c.keyfront(['check'])).toMatchObject({ code: 0 });
    expect((await webhooks('test', id)).code).toBe(0);
    const [ping] = receiver.received;
    for (const one of [secret, second]) expect(ping && verificationErrorOf(one, ping)).toBeUndefined();
  });

  it('stops secrets prune from removing a key with which a webhook is encrypted', async () => {
    const { config, secrets } = readConfig({ KEYFRONT_DATA: c.folder });
    const installation = await openServices(config, secrets);
    await addWebhook(installation, { url: new URL(receiver.url), label: '', orgID: undefined, eventTypes: [] });
    addKey(config.keyRingFile, new Date());
    // All rows are signed anew, and what is sealed is not.
    await installation.signatures.renew(() => undefined);
    await installation.close();
    expect(await c.keyfront(['secrets', 'prune'])).toMatchObject({
      code: 1,
      stderr: 'An older key is still in use. Run `keyfront secrets rotate` first.\n',
    });
  });

  it('is restored with a backup and continues at the same position', async () => {
    const app = await serve();
    const { id, secret } = await add();
    await app.importKeys({ key_id: 'a', org_id: 'acme' });
    await receiver.until((taken) => taken.length === 1);
    await webhooks('pause', id);
    await app.importKeys({ key_id: 'b', org_id: 'acme' });
    const folder = join(c.folder, '..', 'copy');
    expect((await c.keyfront(['backup', folder])).code).toBe(0);
    await app.close();
    const ring = await readFile(join(c.folder, 'key-ring.json'));
    const other = { KEYFRONT_DATA: join(c.folder, '..', 'restored') };
    const ringFile = await c.file('ring.json', ring);
    await chmod(ringFile, 0o600);
    const env = { ...other, KEYFRONT_KEY_RING: ringFile };
    expect(await c.keyfront(['restore', folder], env)).toMatchObject({ code: 0 });
    expect((await c.keyfront(['webhooks', 'resume', id], env)).code).toBe(0);
    await startOwnApp(env, { dispatcherOptions: quick });
    await receiver.until((taken) => taken.length === 2);
    const last = receiver.accepted().at(-1);
    expect(last && verificationErrorOf(secret, last)).toBeUndefined();
    expect(receiver.received).toHaveLength(2);
  });
});

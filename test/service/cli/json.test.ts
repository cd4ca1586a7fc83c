import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { makeOwnPlace, postgres } from '../../support/engines.js';
import { hashOf, rowIDOf } from '../../support/factories.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { tamper } from '../../support/tamper.js';

let c: CommandLine;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => receiver.close());
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await prepare('init', '--json');
  await c.importKeys([{ key_id: 'k1', org_id: 'acme', hmac_string: 's' }]);
});

/** Runs a command that the command under test depends on, and returns its JSON. */
async function prepare(...args: string[]): Promise<Record<string, string>> {
  const { code, out, stderr } = await c.keyfront(args);
  expect([code, stderr]).toStrictEqual([0, stderr]);
  return out === '' ? {} : (JSON.parse(out) as Record<string, string>);
}

const definition = () => c.file('definition.json', '{"org_id":"acme","alias":"new"}');
const credential = async () =>
  (await prepare('credentials', 'issue', '--kind', 'service', '--label', 'l', '--json'))['id'] ?? '';
const webhook = async () => (await prepare('webhooks', 'add', '--url', receiver.url, '--json'))['id'] ?? '';
const damaged = () => {
  tamper(join(c.folder, 'keyfront.db'), `UPDATE keys SET alias = 'forged' WHERE id = ${rowIDOf(hashOf('k1'))}`);
  return hashOf('k1');
};

/** The arguments of a command that runs after another one. */
const after =
  (first: () => Promise<unknown>, ...args: string[]) =>
  async () => {
    await first();
    return args;
  };

/** A folder with a backup; the data folder then contains only the key ring. */
async function emptiedAfterBackup(): Promise<string> {
  const folder = `${c.folder}-backup`;
  await prepare('backup', folder);
  for (const suffix of ['', '-wal', '-shm']) await rm(join(c.folder, `keyfront.db${suffix}`), { force: true });
  return folder;
}

async function folderWith(content: string): Promise<string> {
  const folder = join(c.folder, '..', 'keys');
  await mkdir(folder);
  await writeFile(join(folder, 'keys.json'), content);
  return folder;
}

interface Case {
  /** Prepares the installation and returns what follows the name of the command. */
  readonly args?: () => Promise<readonly string[]> | readonly string[];
  readonly env?: () => Promise<Record<string, string>>;
  /** Default: 0. */
  readonly code?: number;
  /** What the first line contains, if there is a line. */
  readonly result?: object;
  /** Nothing to list is no line. */
  readonly isEmpty?: true;
  /** Why the case cannot run here. */
  readonly missing?: string;
}

const migrated: Case = {
  env: async () => {
    const place = await makeOwnPlace(postgres);
    return { KEYFRONT_DATABASE_URL: place.env['KEYFRONT_DATABASE_URL'] ?? '' };
  },
  result: { copied: { keys: 1, entries: 1, credentials: 2 } },
  ...(postgres.isMissing && { missing: postgres.name }),
};

/** Commands without `--json`, with the reason. */
const exempt = {
  serve: 'its log is JSON Lines already',
  completion: 'it prints a script for a shell',
};

const cases: Readonly<Record<string, Case>> = {
  init: {
    env: () => Promise.resolve({ KEYFRONT_DATA: `${c.folder}-new` }),
    result: { management: expect.any(String) as string, service: expect.any(String) as string },
  },
  'credentials issue': {
    args: () => ['--kind', 'service', '--label', 'l'],
    result: { id: expect.any(String) as string },
  },
  'credentials list': { result: { state: 'active' } },
  'credentials rotate': { args: async () => [await credential()], result: { secret: expect.any(String) as string } },
  'credentials revoke': { args: async () => [await credential()], result: { revoked: true } },
  'webhooks add': { args: () => ['--url', receiver.url], result: { secret: expect.any(String) as string } },
  'webhooks list': { args: after(webhook), result: { dead_letters: 0 } },
  'webhooks test': { args: async () => [await webhook()], result: { status: 204 } },
  'webhooks pause': { args: async () => [await webhook()], result: { state: 'paused' } },
  'webhooks resume': { args: async () => [await webhook()], result: { state: 'active' } },
  'webhooks rotate': { args: async () => [await webhook()], result: { secret: expect.any(String) as string } },
  'webhooks remove': { args: async () => [await webhook()], result: { removed: true } },
  'webhooks dead': { args: async () => [await webhook()], isEmpty: true },
  'webhooks replay': { args: async () => [await webhook()], code: 1, result: { queued: 0 } },
  'webhooks discard': { args: async () => [await webhook()], code: 1, result: { deleted: 0 } },
  'keys import': {
    args: async () => [await c.file('more.jsonl', '{"key_id":"k2","org_id":"acme"}')],
    result: { imported: 1 },
  },
  'keys export': { result: { key_id: 'k1' } },
  'keys discard': { args: () => [damaged(), '--yes'], result: { deleted: true } },
  'keys preview': { args: async () => [await definition()], result: { valid: true } },
  'keys list': { result: { key_hash: hashOf('k1') } },
  'keys get': { args: () => ['k1'], result: { version: 1, data: { org_id: 'acme' } } },
  'keys diff': { args: async () => ['k1', await definition()], code: 1, result: { changed: true } },
  'keys create': { args: async () => [await definition()], result: { action: 'added' } },
  'keys put': { args: async () => ['k1', await definition()], result: { action: 'modified' } },
  'keys apply': {
    args: async () => [await folderWith('{"key_id":"k1","org_id":"acme","alias":"new"}')],
    result: { action: 'update' },
  },
  'keys reset': { args: () => ['k1'], result: { action: 'modified' } },
  'keys delete': { args: () => ['k1'], result: { action: 'deleted' } },
  'keys restore': { args: after(() => prepare('delete', 'k1', '--json'), 'k1'), result: { action: 'restored' } },
  'keys history': { args: () => ['k1'], result: { version: 1 } },
  'keys follow': { isEmpty: true },
  'keys revert': { args: () => ['k1', '--to', '1'], result: { version: 1, changed: false } },
  backup: { args: () => [`${c.folder}-backup`], result: { keys: 1 } },
  restore: { args: async () => [await emptiedAfterBackup()], result: { keys: 1 } },
  'migrate-store': migrated,
  check: { result: { keys: 1, pending_resets: 0, problems: [] } },
  head: {},
  doctor: { result: { check: 'configuration', status: 'ok' } },
  'secrets status': { result: { stage: 'complete', primary_id: 'k1' } },
  'secrets add': { result: { stage: 'added', pending_id: 'k2' } },
  'secrets promote': { args: after(() => prepare('secrets', 'add')), result: { primary_id: 'k2' } },
  'secrets rotate': { result: { primary_id: 'k2', keys: 1, damaged_keys: 0 } },
  'secrets prune': { args: after(() => prepare('secrets', 'rotate')), result: { removed: ['k1'] } },
};

function parseLines(out: string): unknown[] {
  const lines = out.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as unknown);
}

describe('--json', () => {
  it('has a case for every command', () => {
    expect([...Object.keys(exempt), ...Object.keys(cases)].toSorted()).toStrictEqual(
      commands.map(({ name }) => name).toSorted(),
    );
  });

  it.each(Object.entries(exempt))('is not an option of %s: %s', (name) => {
    expect(commands.find((command) => command.name === name)?.options?.['json']).toBeUndefined();
  });

  for (const [name, { args, env, code: expected = 0, result, isEmpty, missing }] of Object.entries(cases)) {
    it.skipIf(missing !== undefined)(
      `makes ${name} print JSON objects and nothing else${missing === undefined ? '' : ` (${missing})`}`,
      async () => {
        const words = (await args?.()) ?? [];
        const { code, out, stderr } = await c.keyfront([...name.split(' '), ...words, '--json'], await env?.(), false, {
          isTerminal: true,
        });
        expect([code, stderr]).toStrictEqual([expected, stderr]);
        const objects = parseLines(out);
        for (const object of objects) expect(object).toStrictEqual(expect.any(Object));
        if (result) expect(objects[0]).toMatchObject(result);
        expect(objects.length === 0).toBe(isEmpty === true);
      },
    );
  }
});

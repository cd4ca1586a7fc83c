import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { run } from '../../../src/cli/main.js';
import type { PrimaryMessage } from '../../../src/cli/serve/worker-channel.js';
import { makeOwnCommandLine } from '../../support/cli.js';

/** Runs a worker whose primary stops it once it is ready. Returns its exit code and its standard error. */
async function runWorkerWith(data: string, args: readonly string[]) {
  let stderr = '';
  const listeners: ((message: PrimaryMessage, connection: undefined) => void)[] = [];
  const code = await run(['(worker)', ...args], {
    env: { KEYFRONT_DATA: data, LOG_LEVEL: 'silent' },
    stdout: () => undefined,
    isStderrTTY: false,
    stderr: (text) => void (stderr += text),
    onStop: () => undefined,
    primary: {
      send: ({ kind }) => {
        if (kind === 'ready') for (const listener of listeners) listener({ kind: 'stop' }, undefined);
      },
      onMessage: (callback) => void listeners.push(callback),
      onDisconnect: () => undefined,
      exit: () => undefined,
    },
  });
  return { code, stderr };
}

it('serves a file that was copied to a database only with permission, such as a worker that starts again', async () => {
  const c = await makeOwnCommandLine();
  await c.create();
  expect(await runWorkerWith(c.folder, [])).toStrictEqual({ code: 0, stderr: '' });
  const database = new Database(join(c.folder, 'keyfront.db'));
  database.prepare("INSERT INTO settings (name, value) VALUES ('migrated_to', 'postgres://elsewhere')").run();
  database.close();
  const { code, stderr } = await runWorkerWith(c.folder, []);
  expect([code, stderr]).toStrictEqual([1, expect.stringContaining('was copied to the database ')]);
  expect(await runWorkerWith(c.folder, ['--allow-migrated'])).toStrictEqual({ code: 0, stderr: '' });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutputWriter } from '../../../src/cli/stdout.js';
import { OutputClosedError, type IO } from '../../../src/cli/io.js';
import { run } from '../../../src/cli/main.js';
import { buildMain } from '../../support/build.mjs';
import { startApp } from '../../support/app.js';
import { eventLoopTurns, timersDueWithin, until } from '../../support/until.js';

let main: string;
let folder: string;
let data: string;
const count = 3_000;

beforeAll(async () => {
  main = await buildMain();
  folder = await mkdtemp(join(tmpdir(), 'keyfront-output-'));
  data = join(folder, 'data');
  const t = await startApp({ KEYFRONT_DATA: data });
  const tags = ['x'.repeat(200), 'y'.repeat(200), 'z'.repeat(200)];
  await t.importKeys(
    ...Array.from({ length: count }, (_, index) => ({ key_id: `key-${index}`, org_id: 'acme', tags })),
  );
  await t.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** A reader that reads only when a test calls it. */
function slowReader() {
  const waiting: (() => void)[] = [];
  let bytes = 0;
  const stream = new Writable({
    highWaterMark: 16_384,
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      waiting.push(done);
    },
  });
  return { stream, read: () => waiting.shift()?.(), bytes: () => bytes };
}

describe('keyfront keys export', () => {
  it('keeps at most a page of unread output in memory', async () => {
    const { stream, read, bytes } = slowReader();
    const output = createOutputWriter(stream, () => undefined);
    let most = 0;
    const io: IO = {
      env: { KEYFRONT_DATA: data },
      stdout: (text) => {
        output.write(text);
        most = Math.max(most, stream.writableLength);
      },
      stdoutDrained: output.drained,
      stderr: () => undefined,
      isStderrTTY: false,
      onStop: () => undefined,
    };
    let isOver = false;
    const exported = run(['keys', 'export'], io).finally(() => (isOver = true));
    await until(() => stream.writableNeedDrain, 'A full buffer');
    await eventLoopTurns();
    // Nothing has been read, and so next to nothing has been written.
    expect(isOver).toBe(false);
    expect(stream.writableLength).toBeLessThan(2 * 16_384);
    while (!isOver) {
      read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await exported).toBe(0);
    expect(most).toBeLessThan(2 * 16_384);
    while (stream.writableLength > 0) read();
    expect(bytes()).toBeGreaterThan(count * 600);
  });
});

describe('results', () => {
  it('reject with an error after a write error, which is reported unless the reader closed the pipe', async () => {
    for (const [code, exit, words] of [
      ['EPIPE', 141, ''],
      ['ENOSPC', 1, 'Cannot write results to standard output (ENOSPC).\n'],
    ] as const) {
      let stderr = '';
      const stream = new Writable({
        write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
      });
      const output = createOutputWriter(stream, (text) => (stderr += text));
      output.write('text');
      expect(await output.end()).toBe(exit);
      expect(stderr).toBe(words);
      await expect(output.drained()).rejects.toThrow(OutputClosedError);
      output.write('more');
    }
  });
});

/** Runs the real command line with its standard output at hand. */
async function keyfront(args: readonly string[], reader: (child: ReturnType<typeof spawn>) => void) {
  const env = { PATH: process.env['PATH'], KEYFRONT_DATA: data };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  reader(child);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

describe('the real process', () => {
  it('ends without a message if the reader of an export closes the pipe, with exit code 141', async () => {
    const { code, stderr } = await keyfront(['keys', 'export'], ({ stdout }) => {
      stdout?.once('data', () => stdout.destroy());
    });
    expect([code, stderr]).toStrictEqual([141, '']);
  });

  it('writes everything to a slow reader', async () => {
    let bytes = 0;
    const { code, stderr } = await keyfront(['keys', 'export'], ({ stdout }) => {
      stdout?.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        stdout.pause();
        void timersDueWithin(2).then(() => stdout.resume());
      });
    });
    expect(code).toBe(0);
    // On a busy machine, progress precedes it.
    expect(stderr).toMatch(
      new RegExp(`^([^\\n]+ per second[^\\n]*\\n)*Exported keys: ${count}, without secrets\\.\\n$`),
    );
    expect(bytes).toBeGreaterThan(count * 600);
  });

  it.each([
    [['--help'], 0],
    [['nonsense'], 2],
    [['preview', '/nowhere.json'], 2],
    [['get', 'unknown'], 1],
  ])('ends after %j with exit code %i', async (args, expected) => {
    const { code } = await keyfront(args, ({ stdout }) => stdout?.resume());
    expect(code).toBe(expected);
  });

  it('reports an export that a full disk has cut off', async () => {
    const child = spawn('/bin/sh', ['-c', '"$0" "$1" keys export > /dev/full', process.execPath, main], {
      env: { PATH: process.env['PATH'], KEYFRONT_DATA: data },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(1);
    expect(stderr).toContain('Cannot write results to standard output (ENOSPC).\n');
  });
});

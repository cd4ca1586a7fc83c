import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from '../../src/cli/main.js';
import { readConfig } from '../../src/config/config.js';
import { parseJSON } from '../../src/lib/json.js';
import { openServices } from '../../src/storage/open-storage.js';
import { startOwnServer, type TestServer } from './server.js';

export interface Outcome {
  readonly code: number;
  /** Standard output: results. */
  readonly out: string;
  /** Standard error: everything for people. */
  readonly stderr: string;
}

/** The lines of a result in JSON Lines, integers beyond 2^53 as bigints. */
export const jsonLines = (out: string) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJSON(line) as Record<string, unknown>);

/** What a command may find around itself, beside its environment. */
export interface Around {
  /** What is piped in. */
  readonly input?: string | AsyncIterable<Uint8Array>;
  /** Whether a terminal shows its results. */
  readonly isTerminal?: boolean;
  /** Whether standard input is a terminal, with `input`. */
  readonly isInteractive?: boolean;
  /** Registers what a signal to stop does. Default: the signal comes at once, but not to an import. */
  readonly onStop?: (callback: () => void) => void;
  /** Receives each text of standard output, as it is printed. */
  readonly onPrint?: (text: string) => void;
  /** Receives each text of standard error. */
  readonly onSay?: (text: string) => void;
}

export interface CommandLine {
  readonly folder: string;
  /** Runs one command on the data folder, in memory but for the folder itself. */
  keyfront(
    args: readonly string[],
    env?: Record<string, string>,
    isWatched?: boolean,
    around?: Around,
  ): Promise<Outcome>;
  /** Writes a file beside the data folder and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
  /** Creates an installation without keys and credentials in the data folder, or of `env`. */
  create(env?: Record<string, string>): Promise<void>;
  remove(): Promise<void>;
}

/** Runs one command in this process, and returns what it has printed. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isWatched = false,
  around: Around = {},
): Promise<Outcome> {
  const { input, isTerminal = false, isInteractive = false, onPrint, onSay } = around;
  let out = '';
  let stderr = '';
  const code = await run(args, {
    env,
    stdout: (text) => {
      out += text;
      onPrint?.(text);
    },
    stderr: (text) => {
      stderr += text;
      onSay?.(text);
    },
    ...(input !== undefined && { stdin: typeof input === 'string' ? piped(input) : input }),
    isStdinTTY: isInteractive,
    isStderrTTY: isWatched || isInteractive,
    // Long commands would print progress, and a busy machine makes commands long.
    ...(!isWatched && { nowMs: () => 0 }),
    isStdoutTTY: isTerminal,
    onStop: around.onStop ?? ((callback) => args[1] !== 'import' && callback()),
  });
  return { code, out, stderr };
}

/** A fresh data folder and the command line over it. */
export async function makeCommandLine(): Promise<CommandLine> {
  const root = await mkdtemp(join(tmpdir(), 'keyfront-cli-'));
  const folder = join(root, 'data');
  return {
    folder,
    keyfront: (args, env = {}, isWatched = false, around = {}) =>
      runCommand(args, { KEYFRONT_DATA: folder, ...env }, isWatched, around),
    file: async (name, content) => {
      const path = join(root, name);
      await writeFile(path, content);
      return path;
    },
    create: async (env = {}) => {
      const { config, secrets } = readConfig({ KEYFRONT_DATA: folder, ...env });
      await (await openServices(config, secrets, {}, { access: 'create' })).close();
    },
    remove: async () => rm(root, { recursive: true, force: true }),
  };
}

/** A command line for the running test, after which its folder is removed. */
export async function makeOwnCommandLine(): Promise<CommandLine> {
  const c = await makeCommandLine();
  onTestFinished(() => c.remove());
  return c;
}

/** In two pieces, as a pipe may have it. */
async function* piped(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const middle = bytes.length >> 1;
  yield bytes.subarray(0, middle);
  yield await Promise.resolve(bytes.subarray(middle));
}

/** Serves the data folder of a command line for the running test. With `env`, commands use the service instead of the folder. */
export async function serveFolder({
  folder,
}: CommandLine): Promise<{ readonly server: TestServer; readonly env: Record<string, string> }> {
  const server = await startOwnServer({ KEYFRONT_DATA: folder });
  server.t.clock.now = new Date();
  return { server, env: { KEYFRONT_URL: server.url, KEYFRONT_SERVICE_CREDENTIAL: server.t.service } };
}

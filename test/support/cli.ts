import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { AppOverrides } from '../../src/app.js';
import { run } from '../../src/cli/main.js';
import { readConfig } from '../../src/config/config.js';
import { parseJSON, stringifyJSON } from '../../src/lib/json.js';
import { openServices } from '../../src/storage/open-storage.js';
import { startOwnServer, type TestServer } from './server.js';

export interface Outcome {
  readonly code: number;
  /** Standard output: results. */
  readonly out: string;
  /** Standard error: progress, warnings and errors. */
  readonly stderr: string;
}

/** The arguments with `--json`. */
export const asJSON = (args: readonly string[]): readonly string[] =>
  args.includes('--json') ? args : [...args, '--json'];

/** The parsed lines of a result in JSON Lines; integers beyond 2^53 are bigints. */
export const jsonLines = (out: string) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJSON(line) as Record<string, unknown>);

/** The streams and signals of a command. */
export interface CommandStreams {
  /** Standard input. */
  readonly input?: string | AsyncIterable<Uint8Array>;
  /** Whether standard output is a terminal. */
  readonly isTerminal?: boolean;
  /** Whether standard input is a terminal, with `input`. */
  readonly isInteractive?: boolean;
  /** Registers the callback of a signal to stop. Default: calls it at once, except for an import. */
  readonly onStop?: (callback: () => void) => void;
  /** Receives each text of standard output. */
  readonly onStdout?: (text: string) => void;
  /** Receives each text of standard error. */
  readonly onStderr?: (text: string) => void;
}

export interface CommandLine {
  readonly folder: string;
  /** Runs one command on the data folder, in this process. */
  keyfront(
    args: readonly string[],
    env?: Record<string, string>,
    isStderrTTY?: boolean,
    streams?: CommandStreams,
  ): Promise<Outcome>;
  /** Writes a file beside the data folder and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
  /** Creates an installation without keys and credentials in the data folder, or of `env`. */
  create(env?: Record<string, string>): Promise<void>;
  /** Runs `keys import`, which also creates an installation. Each key is `{ key_id, ...definition }` in the names of REST. */
  importKeys(keys: readonly object[], env?: Record<string, string>): Promise<void>;
  remove(): Promise<void>;
}

/** Runs one command in this process, and resolves to its exit code and its output. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isStderrTTY = false,
  streams: CommandStreams = {},
): Promise<Outcome> {
  const { input, isTerminal = false, isInteractive = false, onStdout, onStderr } = streams;
  let out = '';
  let stderr = '';
  const code = await run(args, {
    env,
    stdout: (text) => {
      out += text;
      onStdout?.(text);
    },
    stderr: (text) => {
      stderr += text;
      onStderr?.(text);
    },
    ...(input !== undefined && { stdin: typeof input === 'string' ? piped(input) : input }),
    isStdinTTY: isInteractive,
    isStderrTTY: isStderrTTY || isInteractive,
    // Without progress, which slow commands print, and any command may be slow on a busy machine.
    ...(!isStderrTTY && { nowMs: () => 0 }),
    isStdoutTTY: isTerminal,
    onStop: streams.onStop ?? ((callback) => args[1] !== 'import' && callback()),
  });
  return { code, out, stderr };
}

/** Creates an empty data folder and its command line. */
export async function makeCommandLine(): Promise<CommandLine> {
  const root = await mkdtemp(join(tmpdir(), 'keyfront-cli-'));
  const folder = join(root, 'data');
  const keyfront: CommandLine['keyfront'] = (args, env = {}, isStderrTTY = false, streams = {}) =>
    runCommand(args, { KEYFRONT_DATA: folder, ...env }, isStderrTTY, streams);
  return {
    folder,
    keyfront,
    file: async (name, content) => {
      const path = join(root, name);
      await writeFile(path, content);
      return path;
    },
    create: async (env = {}) => {
      const { config, secrets } = readConfig({ KEYFRONT_DATA: folder, ...env });
      await (await openServices(config, secrets, {}, { access: 'create' })).close();
    },
    importKeys: async (keys, env) => {
      const input = keys.map((key) => `${stringifyJSON(key)}\n`).join('');
      expect(await keyfront(['keys', 'import', '-'], env, false, { input })).toMatchObject({ code: 0 });
    },
    remove: async () => rm(root, { recursive: true, force: true }),
  };
}

/** Creates a command line, and removes its folder after the running test. */
export async function makeOwnCommandLine(): Promise<CommandLine> {
  const c = await makeCommandLine();
  onTestFinished(() => c.remove());
  return c;
}

/** Yields the text in two chunks, as a pipe may. */
async function* piped(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const middle = bytes.length >> 1;
  yield bytes.subarray(0, middle);
  yield await Promise.resolve(bytes.subarray(middle));
}

/** Serves the data folder of a command line during the running test. With `env`, commands use the service. */
export async function serveFolder(
  { folder }: CommandLine,
  overrides: AppOverrides = {},
): Promise<{ readonly server: TestServer; readonly env: Record<string, string> }> {
  const server = await startOwnServer({ KEYFRONT_DATA: folder }, {}, overrides);
  server.t.clock.now = new Date();
  return { server, env: { KEYFRONT_URL: server.url, KEYFRONT_SERVICE_CREDENTIAL: server.t.service } };
}

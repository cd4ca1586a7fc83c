import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.js';

const root = new URL('../..', import.meta.url).pathname;

export interface Running {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends the signal without waiting. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Resolves when the text was written to standard error. */
  readonly untilLogged: (text: string) => Promise<void>;
  readonly exited: Promise<Exit>;
}

/** Returns the options of Node in `npm start`. */
async function nodeOptions(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Starts a process as `npm start` does, on a free port. Resolves when it listens. */
export async function start(
  main: string,
  data: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const command = args[0] === 'serve' ? args : ['serve', ...args];
  return startCommand(process.execPath, [...(await nodeOptions()), main, ...command], {
    cwd: tmpdir(),
    env: { KEYFRONT_DATA: data, ...env },
  });
}

interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of the service or of a command. */
export interface Process {
  readonly pid: number;
  /** Resolves to the URL when the process listens, to undefined if it ends before. */
  readonly listening: Promise<URL | undefined>;
  readonly exited: Promise<Exit>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Starts a command without waiting for it. A service listens on a free port. */
export function launchCommand(command: string, args: readonly string[], { cwd, env }: CommandOptions): Process {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error('The process did not start.');
  let stdout = '';
  let stderr = '';
  const { promise: listening, resolve: listens } = Promise.withResolvers<URL | undefined>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    const url = /Keyfront listens on (https?:\/\/[\d.]+:\d+)/.exec(stdout)?.[1];
    if (url !== undefined) listens(new URL(url));
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const exited = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(([code, signal]) => {
    listens(undefined);
    return { code, signal };
  });
  return {
    pid: child.pid,
    listening,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
  };
}

/** Starts a command that serves on a free port. Resolves when it listens. */
export async function startCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<Running> {
  const { pid, listening, exited, stdout, stderr, kill } = launchCommand(command, args, options);
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  const endedEarly = () => new Error(`The process ended early:\n${stdout()}${stderr()}`);
  const url = await listening;
  if (!url) throw endedEarly();
  return {
    pid,
    url: url.origin,
    port: Number(url.port),
    stdout,
    stderr,
    signal: kill,
    untilLogged: (text) =>
      until(() => {
        const isLogged = stderr().includes(text);
        if (!isLogged && isOver) throw endedEarly();
        return isLogged;
      }, `The line ${text}`),
    exited,
  };
}

/** Returns the ids of the processes that the main thread of a process has started. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Sends bytes, and resolves to the response when the server closes the connection. */
export async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return readResponse(socket);
}

export async function readResponse(socket: Socket): Promise<string> {
  let response = '';
  for await (const chunk of socket) response += (chunk as Buffer).toString('utf8');
  return response;
}

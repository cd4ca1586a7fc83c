import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** The options of Node of `npm start`. */
async function nodeOptions(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Starts the real process, as `npm start` would, on a free port and resolves once it listens. */
export async function start(
  main: string,
  data: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  return startCommand(process.execPath, [...(await nodeOptions()), main, ...args], {
    cwd: tmpdir(),
    env: { KEYFRONT_DATA: data, ...env },
  });
}

interface CommandOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** Starts a command that serves on a free port, and resolves once it listens. */
export async function startCommand(
  command: string,
  args: readonly string[],
  { cwd, env }: CommandOptions,
): Promise<Running> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  let isOver = false;
  const exited = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(([code, signal]) => {
    isOver = true;
    return { code, signal };
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) {
      if (isOver) throw new Error(`The process ended early:\n${stdout}${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const listening = /Keyfront listens on (https?:\/\/[\d.]+:(\d+))/;
  await until(() => listening.test(stdout));
  const [, url = '', port = ''] = listening.exec(stdout) ?? [];
  return {
    pid: child.pid ?? 0,
    url,
    port: Number(port),
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
    untilLogged: async (text) => until(() => stderr.includes(text)),
    exited,
  };
}

/** Sends bytes and returns all that comes back until the other side closes. */
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

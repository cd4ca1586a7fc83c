import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

export interface Launch {
  /** The built command line. */
  readonly main: string;
  readonly data: string;
  /** A command; without one it serves. */
  readonly args?: readonly string[];
  /** The command line with an injected bug, to start instead; see `buildMain`. */
  readonly mutant?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of ours: the service, or a command. */
export interface Process {
  readonly pid: number;
  /** Resolves to the port once it listens, to undefined where it ends before. */
  readonly listening: Promise<number | undefined>;
  readonly exited: Promise<Exit>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Starts the command line as a process of its own and does not wait for it. */
export function launch({ main, data, args = [], mutant, env = {} }: Launch): Process {
  const child = spawn(process.execPath, [mutant ?? main, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'warn', KEYFRONT_DATA: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error('The process did not start.');
  let stdout = '';
  let stderr = '';
  let listens: (port: number | undefined) => void = () => undefined;
  const listening = new Promise<number | undefined>((resolve) => {
    listens = resolve;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    const port = /Keyfront listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(stdout)?.[1];
    if (port !== undefined) listens(Number(port));
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

/** The port of a service that must come up. */
export async function portOf(service: Process): Promise<number> {
  const port = await service.listening;
  if (port === undefined) throw new Error(`The service did not start:\n${service.stdout()}${service.stderr()}`);
  return port;
}

/** Ends a process without giving it a chance to do anything. */
export async function killNow(service: Process): Promise<Exit> {
  service.kill('SIGKILL');
  return service.exited;
}

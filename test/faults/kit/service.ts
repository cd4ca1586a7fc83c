import { tmpdir } from 'node:os';
import { launchCommand, type Exit, type Process } from '../../support/process.js';

export interface Launch {
  /** The built command line. */
  readonly main: string;
  readonly data: string;
  /** A command and its arguments, or options of `serve`. */
  readonly args?: readonly string[];
  /** The command line of a mutant, which replaces `main`; see `buildMain`. */
  readonly mutant?: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the command line as a process, and does not wait for it. */
export function launch({ main, data, args = [], mutant, env = {} }: Launch): Process {
  const command = args[0] === undefined || args[0].startsWith('-') ? ['serve', ...args] : args;
  return launchCommand(process.execPath, [mutant ?? main, ...command], {
    cwd: tmpdir(),
    env: { LOG_LEVEL: 'warn', KEYFRONT_DATA: data, ...env },
  });
}

/** Resolves to the port of a service, which must start. */
export async function portOf(service: Process): Promise<number> {
  const url = await service.listening;
  if (!url) throw new Error(`The service did not start:\n${service.stdout()}${service.stderr()}`);
  return Number(url.port);
}

/** Sends SIGTERM to a process, and SIGKILL if it has not ended within the time. Resolves to its exit. */
export async function stopWithin(service: Process, ms: number): Promise<Exit> {
  service.kill('SIGTERM');
  const timeout = setTimeout(() => void killNow(service), ms);
  const exit = await service.exited;
  clearTimeout(timeout);
  return exit;
}

/** Sends SIGKILL to a process, and waits for its exit. */
export async function killNow(service: Process): Promise<Exit> {
  service.kill('SIGKILL');
  return service.exited;
}

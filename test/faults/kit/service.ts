import { tmpdir } from 'node:os';
import { launchCommand, type Exit, type Process } from '../../support/process.js';

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

/** Starts the command line as a process of its own and does not wait for it. */
export function launch({ main, data, args = [], mutant, env = {} }: Launch): Process {
  return launchCommand(process.execPath, [mutant ?? main, ...args], {
    cwd: tmpdir(),
    env: { LOG_LEVEL: 'warn', KEYFRONT_DATA: data, ...env },
  });
}

/** The port of a service that must come up. */
export async function portOf(service: Process): Promise<number> {
  const url = await service.listening;
  if (!url) throw new Error(`The service did not start:\n${service.stdout()}${service.stderr()}`);
  return Number(url.port);
}

/** Ends a process without giving it a chance to do anything. */
export async function killNow(service: Process): Promise<Exit> {
  service.kill('SIGKILL');
  return service.exited;
}

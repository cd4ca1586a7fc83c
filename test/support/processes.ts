import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { buildMain } from './build.mjs';
import { start, type Running } from './process.js';

export interface Processes {
  /** The built program. */
  readonly main: () => string;
  /** The path of a file in the folder of the test. */
  readonly path: (name: string) => string;
  /** Starts the service on a data folder in the folder of the test, by default `data`. */
  readonly start: (args?: readonly string[], env?: Record<string, string>, data?: string) => Promise<Running>;
}

/** Builds the program once. Each test of the file has its own folder and its own processes, which end with the test. */
export function useProcesses(): Processes {
  let main = '';
  let folder = '';
  const running: Running[] = [];
  beforeAll(async () => {
    main = await buildMain();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keyfront-process-'));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(kill));
    await rm(folder, { recursive: true });
  });
  const path = (name: string) => join(folder, name);
  return {
    main: () => main,
    path,
    start: async (args = [], env = {}, data = 'data') => {
      const started = await start(main, path(data), args, env);
      running.push(started);
      return started;
    },
  };
}

/** Sends SIGKILL to a process, and waits for its exit. */
export async function kill(running: Running): Promise<void> {
  running.signal('SIGKILL');
  await running.exited;
}

/** Updates a key, by default one of the sample keys. `target` is its identifier, with a query if there is one. */
export function putKey(
  url: string,
  service: string,
  definition: object,
  target = 'acme-billing',
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/svc/org/keys/${target}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'x-svc-authorization': service, ...headers },
    body: JSON.stringify(definition),
  });
}

/** Returns the credentials that a first start has printed. */
export function printedBy({ stdout }: Running): { readonly management: string; readonly service: string } {
  const find = (kind: string) => new RegExp(`kf_${kind}_\\w{38}`).exec(stdout())?.[0] ?? '';
  return { management: find('mgt'), service: find('svc') };
}

// Starts servers, and measures them through /proc, which a blocked event loop does not affect.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** Clock ticks per second in /proc (USER_HZ), the same on all Linux machines. */
const ticksPerSecond = 100;
const pollMs = 2;
const timeoutMs = 60_000;

/** @typedef {Awaited<ReturnType<typeof startServer>>} Running */

/** Returns the processor of the server and those of the load; undefined without a second one or `taskset`. */
function processorsWith(/** @type {number} */ server) {
  const all = Array.from({ length: availableParallelism() }, (_, cpu) => cpu);
  if (all.length === 1 || !existsSync('/usr/bin/taskset')) return undefined;
  return { server: String(server), load: all.filter((cpu) => cpu !== server).join(',') };
}

export const processors = processorsWith(0);

/** Returns the command of a Node process with a CPU affinity. */
function nodeCommand(/** @type {string | undefined} */ cpus, /** @type {readonly string[]} */ args) {
  const command = [...(cpus === undefined ? [] : ['/usr/bin/taskset', '-c', cpus]), process.execPath, ...args];
  return { file: /** @type {string} */ (command[0]), args: command.slice(1) };
}

/** Starts a Node process with a CPU affinity. */
export function node(
  /** @type {string | undefined} */ cpus,
  /** @type {readonly string[]} */ args,
  /** @type {import('node:child_process').SpawnOptions} */ options,
) {
  const command = nodeCommand(cpus, args);
  return spawn(command.file, command.args, options);
}

/**
 * Starts a server, and resolves when it listens. Its output goes to a file, because reading it would take CPU time of
 * the load.
 */
export async function startServer(
  /** @type {import('./servers.mjs').Server} */ { name, script, args = [], env = {}, isPeer = false },
  /** @type {{ data: string, log: string, flags: readonly string[], cpus: string | undefined, more?: Record<string, string>, ipc?: boolean }} */
  { data, log, flags, cpus, more = {}, ipc = false },
) {
  const file = openSync(log, 'w');
  const began = performance.now();
  const hook = isPeer ? ['--import', new URL('peers/graphql-16.mjs', import.meta.url).href] : [];
  const child = node(cpus, [...flags, ...hook, new URL(script, import.meta.url).pathname, ...args], {
    // Without the environment of this process, which could contain options of Node.
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: '0', KEYFRONT_DATA: data, ...env, ...more },
    stdio: ['ignore', file, file, ...(ipc ? [/** @type {const} */ ('ipc')] : [])],
  });
  closeSync(file);
  const exited = once(child, 'exit');
  const output = () => readFileSync(log, 'utf8').slice(0, 10_000);
  const listening = /listens on (http:\/\/[\w.:]+)(\S*)/;
  while (!listening.test(output())) {
    if (child.exitCode !== null || performance.now() - began > timeoutMs) {
      child.kill('SIGKILL');
      throw new Error(`${name} does not listen:\n${output()}`);
    }
    await setTimeout(pollMs);
  }
  const listeningMs = performance.now() - began;
  const origin = listening.exec(output())?.[1];
  const { pid } = child;
  return {
    child,
    pid,
    origin,
    url: `${origin}/graphql`,
    listeningMs,
    began,
    /** Returns the user and system time of all its threads in microseconds. */
    cpuUs: () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6;
    },
    /** Returns the resident memory in MiB, present or peak. */
    memoryMiB: (/** @type {'VmRSS' | 'VmHWM'} */ which = 'VmRSS') => memoryMiB(pid, which),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Returns the user and system time of all processes on a processor in microseconds. */
export function busyUs(/** @type {string} */ cpu) {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`cpu${cpu} `));
  const [user, nice, system] = line?.split(' ').slice(1).map(Number) ?? [];
  return ((Number(user) + Number(nice) + Number(system)) / ticksPerSecond) * 1e6;
}

/** Returns the resident memory of a process in MiB, present or peak. */
export function memoryMiB(/** @type {number | undefined} */ pid, /** @type {'VmRSS' | 'VmHWM'} */ which) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { get as getPlain } from 'node:http';
import { get as getTLS } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { scopes } from '../../../../src/keys/key.js';
import { buildMain } from '../../../support/build.mjs';
import { certificate } from '../../../support/localhost-tls.js';
import { childrenOf, start, type Running } from '../../../support/process.js';
import { until } from '../../../support/until.js';

/** The memory of a service in bytes, after garbage was collected. */
export interface Memory {
  readonly heapUsed: number;
  readonly external: number;
}

/** A service with one or several processes, which clients attack. */
export interface AttackedService {
  readonly url: string;
  readonly port: number;
  readonly metricsPort: number;
  /** A credential of kind service, with every scope. */
  readonly credential: string;
  /** The processes that it started with serve, and it has logged nothing at level error or fatal. */
  readonly expectSound: () => Promise<void>;
  /** Collects garbage, and resolves to the memory of all processes together. */
  readonly memory: () => Promise<Memory>;
  /** Resolves when all connections are closed. */
  readonly untilUnconnected: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts the service with the sample keys. `settings` are variables of its environment. */
export async function startAttackedService(
  args: readonly string[] = [],
  settings: Record<string, string> = {},
): Promise<AttackedService> {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-sockets-'));
  const [main, data] = [await buildMain(), join(folder, 'data')];
  const running = await start(main, data, ['serve', '--sample', ...args], {
    NODE_OPTIONS: `--import=${new URL('memory-probe.mjs', import.meta.url).href}`,
    MEMORY_PROBE_FOLDER: folder,
    KEYFRONT_METRICS_PORT: '0',
    ...settings,
  });
  await running.untilLogged('"msg":"listening"');
  const pids = () => [running.pid, ...childrenOf(running.pid)].toSorted();
  const issue = [
    'credentials',
    'issue',
    '--kind',
    'service',
    '--label',
    'all',
    '--scopes',
    Object.keys(scopes).join(','),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...issue], { env: { KEYFRONT_DATA: data } });
  const credential = /kf_svc_\w+/.exec(stdout)?.[0] ?? '';
  const first = { pids: pids(), sockets: openSockets(pids()) };

  async function expectSound(): Promise<void> {
    expect(errorLines(running).slice(0, 3)).toEqual([]);
    expect(pids()).toEqual(first.pids);
    // Each connection goes to another worker.
    for (let count = 1; count <= 2; count += 1) expect(await health(running.url)).toBe('200 ok\n');
  }

  async function memory(): Promise<Memory> {
    const measured = await Promise.all(first.pids.map((pid) => measure(pid, join(folder, String(pid)))));
    const sum = (name: keyof Memory) => measured.reduce((total, one) => total + one[name], 0);
    return { heapUsed: sum('heapUsed'), external: sum('external') };
  }

  return {
    url: running.url,
    port: running.port,
    metricsPort: Number(/"url":"http:[^"]+:(\d+)\/metrics"/.exec(running.stderr())?.[1]),
    credential,
    expectSound,
    memory,
    untilUnconnected: () => until(() => openSockets(first.pids) <= first.sockets, 'The end of all connections'),
    stop: async () => {
      running.signal('SIGKILL');
      await running.exited;
      await rm(folder, { recursive: true });
    },
  };
}

async function measure(pid: number, file: string): Promise<Memory> {
  await rm(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  await until(() => existsSync(file), 'A measurement of the memory');
  return JSON.parse(readFileSync(file, 'utf8')) as Memory;
}

/** The number of sockets that the processes have open. */
function openSockets(pids: readonly number[]): number {
  const files = pids.flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((file) => `/proc/${pid}/fd/${file}`));
  return files.filter((file) => {
    try {
      return readlinkSync(file).startsWith('socket:');
    } catch {
      // Closed meanwhile.
      return false;
    }
  }).length;
}

function errorLines({ stderr }: Running): string[] {
  return stderr()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line) || (line !== '' && !line.startsWith('{')));
}

function health(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? getTLS : getPlain;
    get(`${url}/health`, { ca: certificate, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(`${response.statusCode} ${text}`));
    }).on('error', reject);
  });
}

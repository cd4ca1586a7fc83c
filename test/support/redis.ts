import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createClient, SocketClosedUnexpectedlyError } from '@redis/client';
import { freePort } from './free-port.mjs';
import { until } from './until.js';

/** The URL of a Redis server for tests, which starts on first use, or the reason why it is missing. */
export type TestRedis = { readonly url: () => Promise<string> } | { readonly missing: string };

/** The server of one test file, which can be suspended, killed and restarted with its data. */
export interface OwnRedis {
  readonly url: string;
  readonly start: () => Promise<void>;
  /** Kills the server, and waits for its exit. */
  readonly kill: () => Promise<void>;
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT') => void;
  /** Kills the server and removes its data. */
  readonly remove: () => Promise<void>;
}

let shared: Promise<OwnRedis> | undefined;

/** Whether tests can start their own servers, which they suspend and kill. */
export const hasOwnRedis = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'redis-server')));

/** Returns the server of `KEYFRONT_TEST_REDIS`; by default a `redis-server` that ends with this process. */
export function testRedis(): TestRedis {
  const given = process.env['KEYFRONT_TEST_REDIS'];
  if (given !== undefined) return { url: () => Promise.resolve(given) };
  if (!hasOwnRedis) return { missing: 'there is no redis-server on the PATH.' };
  return { url: async () => (await (shared ??= ownRedis())).url };
}

/** Returns the suffix for the name of a suite whose server is missing. */
export function unlessMissing(server: TestRedis): string {
  if (!('missing' in server)) return '';
  return ` (skipped: ${server.missing} Run it with KEYFRONT_TEST_REDIS=redis://host:6379)`;
}

/** The suffix for the name of a suite that needs its own server. */
export const unlessNoOwn = hasOwnRedis
  ? ''
  : ' (skipped: there is no redis-server on the PATH. Install it to run this.)';

/** Returns the settings of a service with live counters on this server, under unique names. */
export async function redisSettings(server: TestRedis): Promise<Record<string, string>> {
  if ('missing' in server) throw new Error(server.missing);
  const name = `test-${randomBytes(6).toString('hex')}:{keyHash}`;
  return { KEYFRONT_QUOTA_URL: await server.url(), KEYFRONT_QUOTA_KEYS: name };
}

/** Starts a server on a free port of loopback, with an append-only file in a temporary folder. */
export async function ownRedis(...options: readonly string[]): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: { readonly pid: number; readonly exited: Promise<unknown> } | undefined;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (server) process.kill(server.pid, name);
    } catch {
      // The server has exited.
    }
  };
  const kill = async () => {
    signal('SIGKILL');
    await server?.exited;
    server = undefined;
  };

  async function start(): Promise<void> {
    const address = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    const settings = [...address, '--save', '', '--appendonly', 'yes'];
    // When this process ends, its pipe to the shell closes, and the shell kills the server.
    const started = spawn('sh', ['-c', supervisorScript, 'sh', folder, ...settings, ...options], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const exited = new Promise<void>((resolve) => started.once('exit', () => resolve()));
    let output = '';
    const pid = await new Promise<number>((resolve) => {
      started.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        const [line, ...more] = output.split('\n');
        if (more.length > 0) resolve(Number(line));
      });
    });
    server = { pid, exited };
    const failed = exited.then(() => {
      throw new Error(`redis-server ended: ${output.trim().split('\n').at(-1) ?? ''}.`);
    });
    failed.catch(() => undefined);
    await Promise.race([until(() => isReady(url), 'The start of redis-server'), failed]);
  }

  await start();
  return {
    url,
    start,
    kill,
    signal,
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A shell script that runs the server, and kills it at the end of standard input. It prints the process id of the
 * server before the output of the server.
 */
const supervisorScript = `folder=$1; shift; exec 3<&0
sh -c 'echo $$; exec redis-server "$@"' sh "$@" </dev/null & server=$!
(cat <&3 >/dev/null; rm -rf "$folder"; kill -9 $server) 2>/dev/null & reader=$!
wait $server
kill $reader 2>/dev/null`;

/** Sends a command to a server, bypassing the service. May send it twice. */
export async function callRedis<T>(url: string, ...command: readonly string[]): Promise<T> {
  try {
    return await callOnce(url, command);
  } catch (error) {
    // A server closes its connections when Sentinel changes its role.
    if (error instanceof SocketClosedUnexpectedlyError) return callOnce(url, command);
    throw error;
  }
}

async function callOnce<T>(url: string, command: readonly string[]): Promise<T> {
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await callRedis<string>(url, 'PING')) === 'PONG';
  } catch (error) {
    // A server that requires a password is ready too.
    return error instanceof Error && error.message.startsWith('NOAUTH');
  }
}

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeCommandLine } from '../../support/cli.js';
import { postgres } from '../../support/engines.js';
import { buildMain } from '../../support/build.mjs';
import { start, type Running } from '../../support/process.js';
import { until } from '../../support/until.js';

let main: string;
let folder: string;
const running: Running[] = [];
beforeAll(async () => {
  main = await buildMain();
  folder = await mkdtemp(join(tmpdir(), 'keyfront-workers-'));
}, 120_000);
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.signal('SIGKILL');
    await one.exited;
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function started(name: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Running> {
  // At debug, the log contains the requests of health checks, from which `workersOf` reads the process ids.
  const options = ['serve', '--workers', '2', ...args];
  const one = await start(main, join(folder, name), options, { LOG_LEVEL: 'debug', ...env });
  running.push(one);
  return one;
}

/** Sends requests until this number of workers has responded, and reads their process ids from the log. */
async function workersOf(one: Running, but: readonly number[] = [], count = 2): Promise<number[]> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    await fetch(`${one.url}/health`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    );
    const found = [...one.stderr().matchAll(/"pid":(\d+),"requestID"/g)].map(([, pid]) => Number(pid));
    const pids = [...new Set(found)].filter((pid) => !but.includes(pid));
    if (pids.length >= count) return pids;
    await wait(10);
  }
  throw new Error(`There are no ${count} workers:\n${one.stderr()}`);
}

const isRunning = (pid: number) => existsSync(`/proc/${pid}`);
async function gone(pids: readonly number[]): Promise<void> {
  for (let attempt = 0; pids.some(isRunning); attempt += 1) {
    if (attempt > 1_000) throw new Error('They are still there.');
    await wait(10);
  }
}

describe('serve --workers 2', () => {
  it('serves from two processes that read each other’s changes, and prints credentials and the sample once', async () => {
    const one = await started('first', ['--sample']);
    expect(await workersOf(one)).toHaveLength(2);
    expect(one.stdout().match(/kf_svc_\w+/g)?.length).toBe(1);
    expect(one.stdout().match(/Sample keys: 3 imported/g)).toHaveLength(1);
    const headers = {
      'X-Svc-Authorization': /kf_svc_\w+/.exec(one.stdout())?.[0] ?? '',
      'Content-Type': 'application/json',
      connection: 'close',
    };
    const url = `${one.url}/svc/org/keys/acme-billing`;
    for (let count = 0; count < 6; count += 1) {
      const body = JSON.stringify({ alias: `Round ${count}`, rate: 1, per: 1 });
      expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(200);
      expect(await (await fetch(url, { headers })).text()).toContain(`"alias":"Round ${count}"`);
    }
    one.signal('SIGTERM');
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    const { stdout } = await started('first');
    expect(stdout()).not.toContain('kf_svc_');
  });

  it('has changes of each worker followed by keyfront tail', async () => {
    const one = await started('followed', ['--sample']);
    await workersOf(one);
    const service = /kf_svc_\w+/.exec(one.stdout())?.[0] ?? '';
    const c = await makeCommandLine();
    const env = { KEYFRONT_URL: one.url, KEYFRONT_SERVICE_CREDENTIAL: service };
    let [printed, written] = ['', ''];
    let stop = (): void => undefined;
    const ended = c.keyfront(['tail', '--json'], env, false, {
      onStop: (callback) => (stop = callback),
      onPrint: (text) => (printed += text),
      onSay: (text) => (written += text),
    });
    await until(() => written.startsWith('Waiting'));
    // The primary passes each new connection to the next worker.
    for (let rate = 1; rate <= 4; rate += 1) {
      const response = await fetch(`${one.url}/svc/org/keys/acme-billing`, {
        method: 'PUT',
        headers: { 'x-svc-authorization': service, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ rate, per: 1 }),
      });
      expect(response.status).toBe(200);
    }
    await until(() => printed.split('\n').length === 5);
    stop();
    expect((await ended).code).toBe(0);
    const changes = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { version: number });
    expect(changes.map(({ version }) => version)).toStrictEqual([2, 3, 4, 5]);
    await c.remove();
  });

  it('continues when a worker gets a signal from another program, and stops as a whole with SIGINT', async () => {
    const one = await started('signals');
    const pids = await workersOf(one);
    for (const pid of pids) process.kill(pid, 'SIGTERM');
    await wait(300);
    expect(pids.filter(isRunning)).toEqual(pids);
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);
    one.signal('SIGINT');
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('kills a suspended worker (SIGSTOP), replaces it and serves every new connection', async () => {
    const one = await started('stopped', [], { KEYFRONT_WORKER_TIMEOUT_SECONDS: '5' });
    const [stopped = 0, other = 0] = await workersOf(one);
    process.kill(stopped, 'SIGSTOP');
    await one.untilLogged(`"worker":${stopped},"reason":"no heartbeat for 5 seconds"`);
    await gone([stopped]);
    await workersOf(one, [stopped, other], 1);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await fetch(`${one.url}/health`, { headers: { connection: 'close' } });
        return response.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    one.signal('SIGTERM');
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
  });

  it('leaves no worker behind when the primary is killed', async () => {
    const one = await started('orphans');
    const pids = await workersOf(one);
    one.signal('SIGKILL');
    await gone(pids);
  });

  it('logs one line per worker, and no error, when the primary is killed under load', async () => {
    const one = await started('killed', ['--sample']);
    const pids = await workersOf(one);
    const headers = {
      'X-Svc-Authorization': /kf_svc_\w+/.exec(one.stdout())?.[0] ?? '',
      'Content-Type': 'application/json',
    };
    const write = async () => {
      const response = await fetch(`${one.url}/svc/org/keys/acme-billing/quota`, {
        method: 'POST',
        headers,
        body: '{}',
      });
      await response.text();
    };
    let written = 0;
    const clients = Array.from({ length: 16 }, async () => {
      try {
        for (;;) {
          await write();
          written += 1;
        }
      } catch {
        // The connection ends with the workers.
      }
    });
    while (written < 100) await wait(5);
    one.signal('SIGKILL');
    await gone(pids);
    await Promise.all(clients);
    await one.exited;
    expect(one.stderr()).not.toContain('"level":"fatal"');
    expect(one.stderr().split('the primary process has ended; stopping')).toHaveLength(pids.length + 1);
  });

  it('exits with 1 when workers end as soon as they are replaced', async () => {
    const one = await started('crashes');
    const killed: number[] = [];
    let isOver = false;
    void one.exited.then(() => (isOver = true));
    while (!isOver && killed.length < 20) {
      const [pid = 0] = await workersOf(one, killed, 1).catch(() => []);
      if (pid === 0) break;
      killed.push(pid);
      process.kill(pid, 'SIGKILL');
    }
    expect(await one.exited).toStrictEqual({ code: 1, signal: null });
    expect(one.stderr()).toContain('workers ended within a minute');
    expect(killed.length).toBeGreaterThanOrEqual(6);
  }, 120_000);

  it('reports once that a port is in use, leaves no process behind and prints no credential', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(started('port', [], { PORT: String(port) })).rejects.toThrow(/^(?!.*kf_)[^]*the port is in use[^]*$/);
    taken.close();
    expect((await started('port')).stdout()).toContain('kf_mgt_');
  });

  it('serves the metrics of all workers at one port, and keeps the counts of a killed worker', async () => {
    const one = await started('measured', [], { KEYFRONT_METRICS_PORT: '0' });
    const [victim = 0] = await workersOf(one);
    const url = /"url":"(http:[^"]+\/metrics)"/.exec(one.stderr())?.[1] ?? '';
    const read = async () => (await fetch(url)).text();
    const valueIn = (text: string, series: string) => Number(new RegExp(`^${series} (.+)$`, 'm').exec(text)?.[1]);
    const health = 'keyfront_requests_total\\{face="health",operation="other",verdict="ok"\\}';
    const before = await read();
    expect(valueIn(before, 'keyfront_workers')).toBe(2);
    expect(valueIn(before, 'keyfront_ready')).toBe(1);
    for (let count = 0; count < 10; count += 1) {
      await (await fetch(`${one.url}/health`, { headers: { connection: 'close' } })).text();
    }
    const total = valueIn(await read(), health);
    expect(total).toBe(valueIn(before, health) + 10);
    process.kill(victim, 'SIGKILL');
    await gone([victim]);
    await workersOf(one, [victim]);
    const after = await read();
    expect(valueIn(after, 'keyfront_workers')).toBe(2);
    expect(valueIn(after, health)).toBeGreaterThan(total);
  });

  it('serves TLS, and rejects unusable TLS files with one message', async () => {
    const files = { KEYFRONT_TLS_CERT: '/dev/null', KEYFRONT_TLS_KEY: '/dev/null' };
    await expect(started('tls', [], files)).rejects.toThrow(/KEYFRONT_TLS|certificate/i);
  });
});

describe('the option --workers', () => {
  it.each(['0', '1.5', '-1', '65', '1e1', '', 'two'])(
    'rejects %j with a message, before it changes anything',
    async (given) => {
      const line = await makeCommandLine();
      const { code, stderr } = await line.keyfront(['serve', `--workers=${given}`]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: '--workers must be a whole number from 1 to 64.\n' });
      expect(existsSync(line.folder)).toBe(false);
      await line.remove();
    },
  );
});

describe.skipIf(postgres.isMissing)(`serve --workers 2 on ${postgres.name}`, () => {
  it('serves from two processes that read each other’s changes, prints credentials once and continues without a worker', async () => {
    const place = await postgres.make();
    try {
      const one = await started('postgres', ['--sample'], place.env);
      const [victim = 0] = await workersOf(one);
      expect(one.stdout().match(/kf_svc_\w+/g)?.length).toBe(1);
      const headers = {
        'X-Svc-Authorization': /kf_svc_\w+/.exec(one.stdout())?.[0] ?? '',
        'Content-Type': 'application/json',
        connection: 'close',
      };
      const url = `${one.url}/svc/org/keys/acme-billing`;
      const put = async (alias: string) => {
        const body = JSON.stringify({ alias, rate: 1, per: 1 });
        return (await fetch(url, { method: 'PUT', headers, body })).status;
      };
      for (let count = 0; count < 6; count += 1) {
        expect(await put(`Round ${count}`)).toBe(200);
        expect(await (await fetch(url, { headers })).text()).toContain(`"alias":"Round ${count}"`);
      }
      const statuses = await Promise.all(Array.from({ length: 20 }, async (_, index) => put(`At once ${index}`)));
      expect(new Set(statuses)).toEqual(new Set([200]));
      process.kill(victim, 'SIGKILL');
      await gone([victim]);
      expect(await workersOf(one, [victim])).toHaveLength(2);
      expect(await put('after')).toBe(200);
      expect(await (await fetch(url, { headers })).text()).toContain('"alias":"after"');
      one.signal('SIGTERM');
      expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    } finally {
      await place.remove();
    }
  });
});

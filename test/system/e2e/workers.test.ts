import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeCommandLine } from '../../support/cli.js';
import { describeEngines } from '../../support/engines.js';
import type { Running } from '../../support/process.js';
import { printedBy, putKey, useProcesses } from '../../support/processes.js';
import { until } from '../../support/until.js';

const { start } = useProcesses();

const started = (args: readonly string[] = [], env: Record<string, string> = {}): Promise<Running> =>
  // At debug, the log contains the requests of health checks, from which `workersOf` reads the process ids.
  start(['serve', '--workers', '2', ...args], { LOG_LEVEL: 'debug', ...env });

/** The headers of a request that changes a key, on a connection of its own. */
const headersFor = (one: Running) => ({
  'X-Svc-Authorization': printedBy(one).service,
  'Content-Type': 'application/json',
  connection: 'close',
});

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

/** Sends SIGKILL to a worker that the primary may be stopping. */
function killUnlessEnded(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const isRunning = (pid: number) => existsSync(`/proc/${pid}`);
const gone = (pids: readonly number[]) => until(() => !pids.some(isRunning), 'The end of the workers');

describe('serve --workers 2', () => {
  it('continues when a worker gets a signal from another program, and stops as a whole with SIGINT', async () => {
    const one = await started();
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
    const one = await started([], { KEYFRONT_WORKER_TIMEOUT_SECONDS: '5' });
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

  it('logs one line per worker, and no error, when the primary is killed under load', async () => {
    const one = await started(['--sample']);
    const pids = await workersOf(one);
    const { connection: _closes, ...headers } = headersFor(one);
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
    const one = await started();
    const killed: number[] = [];
    let isOver = false;
    void one.exited.then(() => (isOver = true));
    while (!isOver && killed.length < 20) {
      const [pid = 0] = await workersOf(one, killed, 1).catch(() => []);
      if (pid === 0) break;
      killed.push(pid);
      killUnlessEnded(pid);
    }
    expect(await one.exited).toStrictEqual({ code: 1, signal: null });
    expect(one.stderr()).toContain('workers ended within a minute');
    expect(killed.length).toBeGreaterThanOrEqual(6);
  }, 120_000);

  it('reports once that a port is in use, leaves no process behind and prints no credential', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(started([], { PORT: String(port) })).rejects.toThrow(/^(?!.*kf_)[^]*the port is in use[^]*$/);
    taken.close();
    expect((await started()).stdout()).toContain('kf_mgt_');
  });

  it('serves the metrics of all workers at one port, and keeps the counts of a killed worker', async () => {
    const one = await started([], { KEYFRONT_METRICS_PORT: '0' });
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

  it('rejects unusable TLS files', async () => {
    const files = { KEYFRONT_TLS_CERT: '/dev/null', KEYFRONT_TLS_KEY: '/dev/null' };
    await expect(started([], files)).rejects.toThrow(/KEYFRONT_TLS|certificate/i);
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

describeEngines('serve --workers 2', (engine) => {
  it('serves from two processes that read each other’s changes, prints credentials once and continues without a worker', async () => {
    const place = await engine.make();
    try {
      const one = await started(['--sample'], place.env);
      const [victim = 0] = await workersOf(one);
      expect(one.stdout().match(/kf_svc_\w+/g)).toHaveLength(1);
      expect(one.stdout().match(/Sample keys: 3 imported/g)).toHaveLength(1);
      const headers = headersFor(one);
      const url = `${one.url}/svc/org/keys/acme-billing`;
      const put = async (alias: string) =>
        (await putKey(one.url, printedBy(one).service, { alias }, 'acme-billing', { connection: 'close' })).status;
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
      expect((await started([], place.env)).stdout()).not.toContain('kf_svc_');
    } finally {
      await place.remove();
    }
  });
});

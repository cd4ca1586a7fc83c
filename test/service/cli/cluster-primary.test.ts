import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createClusterPrimary } from '../../../src/cli/serve/cluster-primary.js';
import type {
  PrimaryMessage,
  WorkerMessage,
  WorkerExit,
  WorkerProcess,
} from '../../../src/cli/serve/worker-channel.js';
import { createLogger } from '../../../src/lib/log.js';

/** A worker in memory. It responds to pings unless it is hung. */
function createWorker(pid: number, becomesReady = true) {
  let receive: (message: WorkerMessage) => void = () => undefined;
  let ended: (end: WorkerExit) => void = () => undefined;
  const worker = {
    pid,
    isHung: false,
    isKilled: false,
    connections: [] as Socket[],
    write: (message: WorkerMessage) => receive(message),
    end: (unsent: readonly Socket[] = []) => ended({ isSuccess: false, reason: 'SIGKILL', unsent }),
  };
  const process: WorkerProcess = {
    pid,
    send: (message: PrimaryMessage, connection) => {
      if (connection) worker.connections.push(connection);
      if (message.kind === 'ping' && !worker.isHung) receive({ kind: 'pong' });
      if (message.kind === 'stop') ended({ isSuccess: true, reason: 'exit code 0', unsent: [] });
    },
    onMessage: (callback) => {
      receive = callback;
      if (becomesReady) queueMicrotask(() => receive({ kind: 'ready' }));
    },
    onExit: (callback) => {
      ended = callback;
    },
    kill: () => {
      worker.isKilled = true;
    },
  };
  return { worker, process };
}

async function createTestCluster(timeoutMs: number, becomesReady: (index: number) => boolean = () => true) {
  const workers: ReturnType<typeof createWorker>['worker'][] = [];
  let tick = () => undefined as void;
  let lines = '';
  const cluster = await createClusterPrimary({
    count: 2,
    startWorker: () => {
      const { worker, process } = createWorker(100 + workers.length, becomesReady(workers.length));
      workers.push(worker);
      return process;
    },
    log: createLogger('info', { write: (line: string) => void (lines += line) }),
    heartbeat: {
      timeoutMs,
      every: (_intervalMs, callback) => {
        tick = callback;
        return () => (tick = () => undefined);
      },
    },
  });
  const [first, second] = workers;
  if (!first || !second) throw new Error('Two workers were expected.');
  const take = (count: number) => {
    for (let index = 0; index < count; index += 1) cluster.dispatch({} as Socket);
  };
  const ticks = (count: number) => {
    for (let index = 0; index < count; index += 1) tick();
  };
  return { cluster, workers, first, second, take, ticks, lines: () => lines };
}

describe('the workers', () => {
  it('share connections while all of them respond', async () => {
    const { first, second, take, ticks, workers } = await createTestCluster(5_000);
    ticks(100);
    take(6);
    expect([first.connections.length, second.connections.length]).toEqual([3, 3]);
    expect(workers).toHaveLength(2);
  });

  it('receive no new connections after three pings without a response, until they respond', async () => {
    const { first, second, take, ticks } = await createTestCluster(30_000);
    first.isHung = true;
    ticks(3);
    take(4);
    expect([first.connections.length, second.connections.length]).toEqual([0, 4]);
    first.write({ kind: 'pong' });
    take(2);
    expect([first.connections.length, second.connections.length]).toEqual([1, 5]);
    expect(first.isKilled).toBe(false);
  });

  it('queue connections while no worker responds', async () => {
    const { first, second, take, ticks } = await createTestCluster(30_000);
    first.isHung = second.isHung = true;
    ticks(3);
    take(3);
    expect([first.connections.length, second.connections.length]).toEqual([0, 0]);
    second.write({ kind: 'pong' });
    expect([first.connections.length, second.connections.length]).toEqual([0, 3]);
  });

  it('are killed and replaced after the timeout, with the reason in the log', async () => {
    const { first, second, take, ticks, workers, lines } = await createTestCluster(5_000);
    first.isHung = true;
    ticks(5);
    expect(first.isKilled).toBe(false);
    ticks(1);
    expect(first.isKilled).toBe(true);
    expect(second.isKilled).toBe(false);
    expect(workers).toHaveLength(3);
    await Promise.resolve();
    take(4);
    expect(workers.map(({ connections }) => connections.length)).toEqual([0, 2, 2]);
    expect(lines()).toContain('"worker":100,"reason":"no heartbeat for 5 seconds","msg":"a worker is replaced"');
    // Its end, which may come later, is not a second failure.
    first.end();
    expect(workers).toHaveLength(3);
    expect(lines().match(/a worker is replaced/g)).toHaveLength(1);
  });

  it('are killed and replaced if they hang before they are ready, with the reason in the log', async () => {
    const { first, workers, ticks, take, lines } = await createTestCluster(5_000, (index) => index !== 2);
    first.end();
    ticks(60);
    expect(workers[2]?.isKilled).toBe(false);
    ticks(1);
    expect(workers[2]?.isKilled).toBe(true);
    expect(workers).toHaveLength(4);
    workers[2]?.end();
    await Promise.resolve();
    take(2);
    expect(workers.map(({ connections }) => connections.length)).toEqual([0, 1, 0, 1]);
    expect(lines()).toContain('"worker":102,"reason":"not ready after 60 seconds"');
    expect(lines().match(/a worker is replaced/g)).toHaveLength(2);
    ticks(200);
    expect(workers).toHaveLength(4);
  });

  it('are killed if they hang at the first start, which rejects', async () => {
    const { worker, process } = createWorker(100, false);
    let tick = () => {};
    const cluster = createClusterPrimary({
      count: 1,
      startWorker: () => ({ ...process, kill: () => worker.end() }),
      log: createLogger('silent'),
      heartbeat: {
        timeoutMs: 5_000,
        every: (_intervalMs, callback) => {
          tick = callback;
          return () => undefined;
        },
      },
    });
    for (let count = 0; count < 61; count += 1) tick();
    await expect(cluster).rejects.toThrow('A worker did not start.');
  });

  it('pass the unsent connections of a worker that ended to another', async () => {
    const { first, second, workers, lines } = await createTestCluster(5_000);
    first.end([{} as Socket, {} as Socket]);
    expect(workers).toHaveLength(3);
    expect(second.connections).toHaveLength(2);
    expect(lines()).toContain('"worker":100,"reason":"SIGKILL"');
  });
});

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { PrimaryMessage, WorkerProcess } from '../../../src/cli/serve/worker-channel.js';
import { createWorkerMetrics } from '../../../src/cli/serve/worker-metrics.js';

/** A worker in memory with two metrics of each kind that differs in how it adds up. */
function createWorker() {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({ name: 'requests_total', help: 'x', registers });
  const seconds = new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers });
  const ready = new Gauge({ name: 'ready', help: 'x', registers, aggregator: 'min' });
  const workers = new Gauge({ name: 'workers', help: 'x', registers, aggregator: 'sum' });
  const lag = new Gauge({ name: 'nodejs_eventloop_lag_p99_seconds', help: 'x', registers, aggregator: 'average' });
  workers.set(1);
  const wanted: number[] = [];
  const process: WorkerProcess = {
    pid: 1,
    send: (message: PrimaryMessage) => void (message.kind === 'metrics requested' && wanted.push(message.id)),
    onMessage: () => undefined,
    onExit: () => undefined,
    kill: () => undefined,
  };
  return { registry, requests, seconds, ready, lag, wanted, process };
}

function createCollector() {
  let giveUp: () => void = () => undefined;
  const timeout = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const metrics = createWorkerMetrics({ own: () => Promise.resolve([]), timeout: () => timeout });
  const workers = [createWorker(), createWorker()] as const;
  for (const { process } of workers) metrics.watch(process);
  const respond = async ({ wanted, process, registry }: ReturnType<typeof createWorker>) => {
    // As JSON, which is how processes send it.
    const snapshot = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) as [];
    for (const id of wanted.splice(0)) metrics.recordMessage(process, { kind: 'metrics', id, snapshot });
  };
  /** Has the workers count 3 and 4 requests, and reads them. */
  const countSeven = async () => {
    const [first, second] = workers;
    first.requests.inc(3);
    second.requests.inc(4);
    const read = metrics.read();
    await Promise.all(workers.map(respond));
    await read;
  };
  return { metrics, workers, respond, countSeven, giveUp: () => giveUp() };
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('the metrics of workers', () => {
  it('are the sum, the minimum or the maximum, depending on the metric', async () => {
    const { metrics, workers, respond } = createCollector();
    const [first, second] = workers;
    first.requests.inc(3);
    second.requests.inc(4);
    first.seconds.observe(0.5);
    second.seconds.observe(2);
    first.ready.set(1);
    second.ready.set(0);
    first.lag.set(0.001);
    second.lag.set(7);
    const read = metrics.read();
    await Promise.all(workers.map(respond));
    const { contentType, text } = await read;
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(lines(text)).toEqual([
      'requests_total 7',
      'seconds_bucket{le="1"} 1',
      'seconds_bucket{le="+Inf"} 2',
      'seconds_sum 2.5',
      'seconds_count 2',
      'ready 0',
      'workers 2',
      'nodejs_eventloop_lag_p99_seconds 7',
    ]);
  });

  it('keep the counters of a worker that does not respond in time, and omit its gauges', async () => {
    const { metrics, workers, respond, countSeven, giveUp } = createCollector();
    const [first] = workers;
    await countSeven();
    first.requests.inc();
    const read = metrics.read();
    await respond(first);
    giveUp();
    expect(lines((await read).text)).toEqual(expect.arrayContaining(['requests_total 8', 'workers 1']));
  });

  it('keep the counters of workers that have ended, so that no sum ever falls', async () => {
    const { metrics, workers, respond, countSeven } = createCollector();
    const [first, second] = workers;
    await countSeven();
    metrics.forget(first.process);
    const third = createWorker();
    metrics.watch(third.process);
    third.requests.inc(10);
    const read = metrics.read();
    await Promise.all([second, third].map(respond));
    expect(lines((await read).text)).toEqual(expect.arrayContaining(['requests_total 17', 'workers 2']));
    metrics.forget(second.process);
    metrics.forget(third.process);
    expect(lines((await metrics.read()).text)).toContain('requests_total 17');
  });
});

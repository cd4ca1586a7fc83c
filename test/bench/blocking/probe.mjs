// Loaded into the service with --import: measures how long its event loop is blocked, and reports it to the parent process.
import { monitorEventLoopDelay, performance, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const resolution = 1;

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  /** @type {PerformanceEntry[]} */
  let collections = [];
  new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({ entryTypes: ['gc'] });
  // The turn with the most CPU time of this thread between two timers, which other work on the machine does not increase.
  const none = { began: 0, ended: 0, cpuMs: 0 };
  let longest = none;
  let before = process.threadCpuUsage();
  let began = performance.now();
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    const turn = { began, ended: performance.now(), cpuMs: (user + system) / 1000 };
    if (turn.cpuMs > longest.cpuMs) longest = turn;
    before = process.threadCpuUsage();
    began = performance.now();
    setTimeout(tick, resolution).unref();
  };
  tick();
  process.on('message', (message) => {
    if (message === 'reset') {
      delay.reset();
      longest = none;
      collections = [];
    }
    // After the timers have fired: they start a new measurement after a reset, and add the last block at the end.
    setTimeout(() => {
      const within = collections.filter(({ startTime }) => startTime >= longest.began && startTime < longest.ended);
      process.send?.({
        maxMs: Math.max(0, delay.max / 1e6 - resolution),
        cpuMs: longest.cpuMs,
        collectorMs: within.reduce((sum, { duration }) => sum + duration, 0),
      });
    }, 10);
  });
  // The channel must not keep the service running.
  process.channel.unref();
}

// Loaded into the service with --import: measures how long its event loop is blocked, and reports it to the parent process.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const resolution = 1;

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // The processor time of this thread between two timers: what other work on the machine cannot lengthen.
  let cpuMs = 0;
  let before = process.threadCpuUsage();
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    cpuMs = Math.max(cpuMs, (user + system) / 1000);
    before = process.threadCpuUsage();
    setTimeout(tick, resolution).unref();
  };
  tick();
  process.on('message', (message) => {
    if (message === 'reset') {
      delay.reset();
      cpuMs = 0;
    }
    // The timers have to fire first: after a reset they measure from then on, and at the end they add the block that has
    // just ended.
    setTimeout(() => process.send?.({ maxMs: Math.max(0, delay.max / 1e6 - resolution), cpuMs }), 10);
  });
  // The service decides when it ends.
  process.channel.unref();
}

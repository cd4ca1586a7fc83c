// Loaded into the service with --import: measures how long its event loop is blocked, and reports it to the parent process.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const resolution = 1;

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // The CPU time of this thread between two timers, which other work on the machine does not increase.
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
    // After the timers have fired: they start a new measurement after a reset, and add the last block at the end.
    setTimeout(() => process.send?.({ maxMs: Math.max(0, delay.max / 1e6 - resolution), cpuMs }), 10);
  });
  // The channel must not keep the service running.
  process.channel.unref();
}

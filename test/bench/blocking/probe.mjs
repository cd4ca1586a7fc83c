// Loaded into the service with --import: measures how long its event loop is blocked, and reports it to the parent process.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolution = 1;

if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  process.on('message', (message) => {
    if (message === 'reset') delay.reset();
    // The timer of the histogram has to fire first: after a reset it measures from then on, and at the end it adds the
    // block that has just ended.
    setTimeout(() => process.send?.({ maxMs: Math.max(0, delay.max / 1e6 - resolution) }), 10);
  });
  // The service decides when it ends.
  process.channel.unref();
}

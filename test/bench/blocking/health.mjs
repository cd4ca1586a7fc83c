// A process that requests /health on a schedule, independently of earlier responses.
import { Agent, get } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval } from 'node:timers';

const [, , origin] = process.argv;
const everyMs = 20;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const own = monitorEventLoopDelay({ resolution: 1 });
own.enable();

/** @type {number[]} */
let latencies = [];
let pending = 0;
let failed = 0;
let isMeasuring = false;

let next = performance.now();
setInterval(() => {
  // The latency counts from the due time, even if the timer is late (coordinated omission).
  for (; next <= performance.now(); next += everyMs) if (isMeasuring) request(next);
}, 5);

function request(/** @type {number} */ due) {
  pending += 1;
  const done = (/** @type {boolean} */ isGood) => {
    pending -= 1;
    if (isGood) latencies.push(performance.now() - due);
    else failed += 1;
  };
  const sent = get(`${origin}/health`, { agent }, (response) => {
    response.resume().on('end', () => done(response.statusCode === 200));
  });
  sent.on('error', (error) => {
    // The service has closed the idle connection at this moment (https://nodejs.org/api/http.html#requestreusedsocket).
    // The retry has the same due time.
    if (!sent.reusedSocket || !('code' in error) || error.code !== 'ECONNRESET') return done(false);
    pending -= 1;
    request(due);
  });
}

process.on('message', (message) => {
  if (message === 'begin') {
    latencies = [];
    failed = 0;
    own.reset();
    next = performance.now();
    isMeasuring = true;
  } else if (message === 'end') {
    isMeasuring = false;
    report();
  }
});

/** Reports the latencies. `noiseMs` is the longest block of this idle process: the noise of the machine. */
function report() {
  if (pending > 0) setTimeout(report, 5);
  else process.send?.({ latencies, failed, noiseMs: Math.max(0, own.max / 1e6 - 1) });
}

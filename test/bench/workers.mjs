// The throughput of two workers, relative to one process: `node test/bench/workers.mjs`. Server and load share all
// processors, so only the ratio is meaningful. Both run at once and are loaded in turn.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sendLoad, startService, writeWorkloads } from './fleet.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine } from './machine.mjs';
import { ownWorkloads } from './payload.mjs';
import { ratios, spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    workers: { type: 'string', default: '1,2' },
    flags: { type: 'string', default: '--max-semi-space-size=64' },
  },
});
const counts = values.workers.split(',');
const folder = createFolder();
const machine = describeMachine();
try {
  for (const workload of /** @type {const} */ (['preview', 'update'])) {
    const { good } = ownWorkloads[workload];
    writeWorkloads(folder.path, { [workload]: ownWorkloads[workload] });
    const running = [];
    for (const count of counts) {
      const name = `${workload}-${count}`;
      const server = await startService(name, {
        data: folder.copy(`${name}-data`),
        log: join(folder.path, `${name}.log`),
        args: ['--workers', count],
        flags: values.flags.split(' '),
      });
      running.push({ count, server, rates: /** @type {number[]} */ ([]), errors: 0, offset: 0 });
    }
    // The first round only warms up.
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      for (const one of running) {
        const found = await sendLoad({
          url: one.server.url,
          headers: folder.headersFor(workload),
          bodies: join(folder.path, workload),
          offset: one.offset,
          good,
          connections: Number(values.connections),
          seconds: Number(values.seconds),
        });
        one.offset += found.good + found.errors;
        one.errors += found.errors + found.broken;
        if (round > 0) one.rates.push(found.perSecond);
      }
    }
    for (const { count, server, rates, errors } of running) {
      const { median } = spread(rates);
      const ratio = ratios(rates, running[0]?.rates);
      console.log(
        `${workload}, ${count} of ${counts}: ${Math.round(median)} a second, ${ratio?.median.toFixed(2)} times the first [${ratio?.min.toFixed(2)}-${ratio?.max.toFixed(2)}], errors ${errors}`,
      );
      await server.stop();
    }
  }
  console.log(`${machine.machine}, commit ${machine.commit}, load average ${machine.loadAverage.toFixed(1)} before`);
} finally {
  folder.remove();
}

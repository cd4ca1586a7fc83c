import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { until } from '../support/until.js';
import type { Finding } from './kit/compare.js';
import { inspect } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { launch, portOf, stopWithin } from './kit/service.js';
import { childrenOf } from '../support/process.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Kills one worker of a service of several while clients write. Its connections break; what it had acknowledged stays,
 * the others go on, and another takes its place.
 */

/** Fewer than the service puts up with in a minute. */
const killsPerService = 3;
/** Longer than the service takes to anything, and shorter than the clients wait for it. */
const responseLimitMs = 12_000;

interface WorkerRun extends FaultRun {
  readonly services: number;
}

export async function killWorkers({ main, workspace, seed, services, mutant }: WorkerRun): Promise<Report> {
  const report = startReport('kill -9 of a worker under load', seed);
  for (let count = 0; count < services && report.found() === 0; count += 1) {
    const random = createRandom(seed + count);
    const folder = await workspace.fresh(`worker-${count}`);
    const ledger: Entry[] = [];
    const where = `FUZZ_SEED=${seed + count}`;
    const service = launch({ main, data: folder.data, mutant, args: ['serve', '--workers', '2'] });
    const port = await portOf(service);
    const writing = startWriting({ port, folder, seed: seed + count, name: `w${count}`, ledger });
    await writing.begun;
    for (let kill = 0; kill < killsPerService; kill += 1) {
      report.addCase();
      await wait(50 + random.below(300));
      const workers = childrenOf(service.pid);
      const [victim = 0, other] = random.below(2) === 0 ? workers : workers.toReversed();
      process.kill(victim, 'SIGKILL');
      const before = ledger.length;
      await until(() => {
        const now = childrenOf(service.pid);
        return now.length === 2 && !now.includes(victim) && (other === undefined || now.includes(other));
      }, 'A new worker');
      await until(() => ledger.slice(before).some(({ outcome }) => outcome === 'ok'), 'An acknowledged change');
    }
    const requested = performance.now();
    await writing.stop();
    const forgotten = performance.now() - requested > responseLimitMs;
    const { code } = await stopWithin(service, 15_000);
    const left: Finding[] = [];
    if (code !== 0) left.push({ kind: 'wrong response', what: `exit code ${code}: ${service.stderr()}` });
    if (forgotten) left.push({ kind: 'wrong response', what: 'a connection got no response and was not closed' });
    report.addFindings([...left, ...(await inspect(folder.data, ledger))], where);
    report.addLedger(ledger, where);
  }
  return report.end({});
}

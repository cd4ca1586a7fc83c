import { describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { stopUnderLoad } from './stops.js';
import { killWorkers } from './workers.js';

const scenery = useWorkspace('workers');

describe(`a service of two workers (FUZZ_SEED=${seed})`, () => {
  it(
    'loses no acknowledged change when a worker is killed under load, keeps no client waiting, and replaces it',
    { timeout: 3_600_000 },
    async () => {
      const report = await killWorkers({ ...scenery(), seed, services: sizeOf('WORKER_KILLS') });
      expectSound(report, report.cases);
    },
  );

  itDetects('detects a mutant that responds before the commit', { timeout: 600_000 }, async () => {
    const mutant = await buildMain('storage/acknowledges-before-commit');
    // Ends with the first service that has lost a change: whether a kill comes between the two depends on the machine.
    const { findings } = await killWorkers({ ...scenery(), seed, services: 30, mutant });
    expect(findings.map(({ kind }) => kind)).toContain('lost');
  });

  it(
    'responds to every accepted request when it is stopped under load, and exits with 0',
    { timeout: 3_600_000 },
    async () => {
      const args = ['serve', '--workers', '2'];
      const report = await stopUnderLoad({ ...scenery(), seed, stops: sizeOf('STOPS'), args });
      expectSound(report, report.cases);
    },
  );
});

import { expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { describeEngines, sqlite } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { rotateInStages } from './rotation-stages.js';

const server = await testPostgres();
const scenery = useWorkspace('stages');

describeEngines(`kills and restarts at each stage of a rotation (FUZZ_SEED=${seed})`, (engine) => {
  const createDatabase = engine === sqlite ? undefined : () => freshDatabase(server);
  const run = (rotations: number, mutant?: string) =>
    rotateInStages({ ...scenery(), seed, rotations, createDatabase, mutant });

  it('rejects no row and loses no change', { timeout: 7_200_000 }, async () => {
    const report = await run(sizeOf('STAGED_ROTATIONS'));
    expectSound(report, report.cases * 20);
    expect(report.more['rejectedRows']).toBe(0);
  });

  // The rows of both engines are opened and counted by the same code.
  (engine === sqlite ? itDetects : it.skip)(
    'detects a mutant in which a service lacks the added key',
    { timeout: 600_000 },
    async () => {
      const { findings } = await run(1, await buildMain('storage/adds-no-key-before-use'));
      expect(findings.map(({ what }) => what).join('\n')).toContain('rows were rejected');
    },
  );
});

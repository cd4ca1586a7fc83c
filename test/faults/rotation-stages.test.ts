import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { postgres } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { rotateInStages } from './rotation-stages.js';

const server = await testPostgres();
let main: string;
let workspace: Workspace;
beforeAll(async () => {
  [main, workspace] = await Promise.all([buildMain(), makeWorkspace('stages')]);
}, 120_000);
afterAll(async () => workspace.remove());

const engines = [
  ['SQLite', false, undefined],
  [postgres.name, postgres.isMissing, () => freshDatabase(server)],
] as const;

describe.each(engines)(
  `kills and restarts at each stage of a rotation on %s (FUZZ_SEED=${seed})`,
  (_, isMissing, createDatabase) => {
    const run = async (rotations: number, mutant?: string) =>
      rotateInStages({
        main,
        workspace,
        seed,
        rotations,
        ...(createDatabase && { createDatabase }),
        ...(mutant !== undefined && { mutant }),
      });

    it.skipIf(isMissing)('rejects no row and loses no change', { timeout: 7_200_000 }, async () => {
      const report = await run(sizeOf('STAGED_ROTATIONS'));
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.more['rejectedRows']).toBe(0);
      // A run in which little was written would show little.
      expect(report.acknowledged).toBeGreaterThan(report.cases * 20);
    });

    it.skipIf(isMissing)('detects a mutant in which a service lacks the added key', { timeout: 600_000 }, async () => {
      const { findings } = await run(1, await buildMain('storage/adds-no-key-before-use'));
      expect(findings.map(({ what }) => what).join('\n')).toContain('rows were rejected');
    });
  },
);

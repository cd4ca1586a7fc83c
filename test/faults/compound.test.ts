import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { compound } from './compound.js';
import { compileDisk, hasDisk, unlessDisk } from './disk/library.js';
import { builtMain } from './kit/build.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { plant } from './plants/plant.js';

let main: string;
let workspace: Workspace;
let library: string;
beforeAll(async () => {
  if (!hasDisk) return;
  main = await builtMain();
  workspace = await makeWorkspace('compound');
  library = compileDisk(workspace.folder);
}, 120_000);
afterAll(async () => workspace?.remove());

describe.skipIf(!hasDisk)(`repeated kills (FUZZ_SEED=${seed})${unlessDisk}`, () => {
  it(
    'keep every acknowledged change and every secret readable through recoveries, rotations and migrations',
    { timeout: 3_600_000 },
    async () => {
      const report = await compound({ main, workspace, library, seed, runs: sizeOf('COMPOUND_RUNS') });
      print(report);
      expect(report.findings).toEqual([]);
    },
  );

  it(
    'lose changes in a mutant that responds before the commit, which this suite detects',
    { timeout: 600_000 },
    async () => {
      const planted = plant('answers-before-commit');
      const { findings } = await compound({ main, workspace, library, seed, runs: 5, plant: planted });
      expect(findings.map(({ kind }) => kind)).toContain('lost');
    },
  );
});

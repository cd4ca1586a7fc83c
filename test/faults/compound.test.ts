import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { compound } from './compound.js';
import { compileDisk, hasDisk, unlessDisk } from './disk/library.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';

let main: string;
let workspace: Workspace;
let library: string;
beforeAll(async () => {
  if (!hasDisk) return;
  main = await buildMain();
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
      const mutant = await buildMain('storage/acknowledges-before-commit');
      const { findings } = await compound({ main, workspace, library, seed, runs: 5, mutant });
      expect(findings.map(({ kind }) => kind)).toContain('lost');
    },
  );
});

import { describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { compound } from './compound.js';
import { hasDisk, unlessDisk } from './disk/library.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useDisk } from './kit/suite.js';

const scenery = useDisk('compound');

describe.skipIf(!hasDisk)(`repeated kills (FUZZ_SEED=${seed})${unlessDisk}`, () => {
  it(
    'keep every acknowledged change and every secret readable through recoveries, rotations and migrations',
    { timeout: 3_600_000 },
    async () => {
      expectSound(await compound({ ...scenery(), seed, runs: sizeOf('COMPOUND_RUNS') }));
    },
  );

  itDetects(
    'lose changes in a mutant that responds before the commit, which this suite detects',
    { timeout: 600_000 },
    async () => {
      const mutant = await buildMain('storage/acknowledges-before-commit');
      const { findings } = await compound({ ...scenery(), seed, runs: 5, mutant });
      expect(findings.map(({ kind }) => kind)).toContain('lost');
    },
  );
});

import { describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { killUnderLoad } from './kill.js';

const scenery = useWorkspace('kill');

describe(`kill -9 at random times, under load and during starts (FUZZ_SEED=${seed})`, () => {
  it('loses no acknowledged change, adds none and leaves none partly written', { timeout: 7_200_000 }, async () => {
    const report = await killUnderLoad({ ...scenery(), seed, cycles: sizeOf('KILL_CYCLES') });
    expectSound(report, report.cases);
  });

  itDetects.each<[string, string, string[], number?]>([
    ['a change that is acknowledged before its commit', 'storage/acknowledges-before-commit', ['lost']],
    ['a change without a transaction', 'storage/runs-without-transaction', ['half', 'invented']],
    ['a change that is retried after its success', 'storage/commits-again-after-success', ['invented']],
    ['a bulk change that skips the history of 3 of 10 keys', 'storage/bulk-update-skips-history', ['half', 'lost']],
    // The changes after the last kill detect it.
    ['a reset that the next consumption repeats', 'keys/consumption-repeats-reset', ['lost'], 1],
    [
      'an expected version that is compared only before the transaction',
      'keys/checks-version-early',
      ['wrong response'],
    ],
  ])('detects a mutant: %s', { timeout: 600_000 }, async (_, name, kinds, cycles = 20) => {
    const { findings } = await killUnderLoad({ ...scenery(), seed, cycles, mutant: await buildMain(name) });
    // Where nothing is undone as a whole, which of the kinds it is depends on the moments of the kills.
    expect(findings.filter(({ kind }) => kinds.includes(kind))).not.toEqual([]);
  });
});

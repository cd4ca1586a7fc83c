import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { killUnderLoad } from './kill.js';

let main: string;
let workspace: Workspace;
beforeAll(async () => {
  [main, workspace] = await Promise.all([buildMain(), makeWorkspace('kill')]);
}, 120_000);
afterAll(async () => workspace.remove());

describe(`kill -9 at random times, under load and during starts (FUZZ_SEED=${seed})`, () => {
  it('loses no acknowledged change, adds none and leaves none partly written', { timeout: 7_200_000 }, async () => {
    const report = await killUnderLoad({ main, workspace, seed, cycles: sizeOf('KILL_CYCLES') });
    print(report);
    expect(report.findings).toEqual([]);
    // A run in which little was written would show little.
    expect(report.acknowledged).toBeGreaterThan(report.cases);
  });

  it.each([
    ['a change that is acknowledged before its commit', 'storage/acknowledges-before-commit', ['lost']],
    ['a change without a transaction', 'storage/runs-without-transaction', ['half', 'invented']],
    ['a change that is retried after its success', 'storage/commits-again-after-success', ['invented']],
    ['a bulk change that skips the history of 3 of 10 keys', 'storage/bulk-update-skips-history', ['half', 'lost']],
    ['a reset that the next consumption repeats', 'keys/consumption-repeats-reset', ['lost']],
    [
      'an expected version that is compared only before the transaction',
      'keys/checks-version-early',
      ['wrong response'],
    ],
  ])('detects a mutant: %s', { timeout: 600_000 }, async (_, name, kinds) => {
    const mutant = await buildMain(name);
    const { findings } = await killUnderLoad({ main, workspace, seed, cycles: 20, mutant });
    // Where nothing is undone as a whole, which of the kinds it is depends on the moments of the kills.
    expect(findings.filter(({ kind }) => kinds.includes(kind))).not.toEqual([]);
  });
});

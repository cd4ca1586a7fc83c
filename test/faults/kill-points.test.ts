import { describe, expect, it } from 'vitest';
import { itDetects } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { hasDisk, unlessDisk } from './disk/library.js';
import { killAtEachCall } from './kill-points.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { useDisk } from './kit/suite.js';
import { verifyingVictim } from './verifying-victim.js';
import { backupVictims, victims, type Victim } from './victims.js';

const scenery = useDisk('points');
const timeout = 3_600_000;

async function findingsOf(name: string, victim: Victim) {
  const report = await killAtEachCall({ ...scenery(), name, victim, points: sizeOf('KILL_POINTS') });
  print(report);
  return report.findings;
}

describe.skipIf(!hasDisk)(`kill -9 at each call to the disk${unlessDisk}`, () => {
  it.each(Object.entries(victims))(
    'leaves a complete data folder during %s, on which the next attempt succeeds',
    { timeout },
    async (name, victim) => {
      expect(await findingsOf(name, victim)).toEqual([]);
    },
  );

  it('counts each verified request once, when the gateway repeats all after the next start', { timeout }, async () => {
    expect(await findingsOf('verifyKey', verifyingVictim)).toEqual([]);
  });

  it.each(Object.entries(backupVictims))(
    'leaves no incomplete copy that looks complete during %s',
    { timeout },
    async (name, victim) => {
      expect(await findingsOf(name, victim)).toEqual([]);
    },
  );

  itDetects('counts a repeated verification again in a mutant, which this suite detects', { timeout }, async () => {
    const mutant = await buildMain('keys/verification-repeats-count');
    const { findings } = await killAtEachCall({
      ...scenery(),
      name: 'verify',
      victim: verifyingVictim,
      points: 3,
      mutant,
    });
    expect(findings.map(({ what }) => what).join('\n')).toContain('after the first repetition');
  });

  itDetects('leaves half a key in a mutant without transactions, which this suite detects', { timeout }, async () => {
    const victim = victims['keys import'];
    // A key takes some ten calls of the disk where each of its statements is brought there by itself.
    const points = [1_000, 1_002, 1_004, 1_006, 1_008, 1_010];
    const mutant = await buildMain('storage/runs-without-transaction');
    const name = 'import without a transaction';
    const { findings } = await killAtEachCall({ ...scenery(), name, victim, points, mutant });
    expect(findings.map(({ what }) => what).join('\n')).toMatch(
      /index of tags, policies, APIs and identifiers does not match|fails the integrity check/,
    );
  });
});

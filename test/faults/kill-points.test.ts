import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileDisk, hasDisk, unlessDisk } from './disk/library.js';
import { killAtEachCall } from './kill-points.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { backupVictims, victims, type Victim } from './victims.js';

let main: string;
let workspace: Workspace;
let library: string;
beforeAll(async () => {
  if (!hasDisk) return;
  main = await buildMain();
  workspace = await makeWorkspace('points');
  library = compileDisk(workspace.folder);
}, 120_000);
afterAll(async () => workspace?.remove());

const timeout = 3_600_000;

async function findingsOf(name: string, victim: Victim) {
  const report = await killAtEachCall({ main, workspace, library, name, victim, points: sizeOf('KILL_POINTS') });
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

  it.each(Object.entries(backupVictims))(
    'leaves no incomplete copy that looks complete during %s',
    { timeout },
    async (name, victim) => {
      expect(await findingsOf(name, victim)).toEqual([]);
    },
  );

  it('leaves half a key in a mutant without transactions, which this suite detects', { timeout }, async () => {
    const victim = victims['keys import'];
    // A key takes some ten calls of the disk where each of its statements is brought there by itself.
    const points = [1_000, 1_002, 1_004, 1_006, 1_008, 1_010];
    const run = { main, workspace, library, name: 'import without a transaction', victim, points };
    const { findings } = await killAtEachCall({ ...run, mutant: await buildMain('storage/runs-without-transaction') });
    expect(findings.map(({ what }) => what).join('\n')).toMatch(
      /index of tags, policies and APIs does not match|fails the integrity check/,
    );
  });
});

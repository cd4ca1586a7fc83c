import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failDisk } from './disk-faults.js';
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
  workspace = await makeWorkspace('disk');
  library = compileDisk(workspace.folder);
}, 120_000);
afterAll(async () => workspace?.remove());

describe.skipIf(!hasDisk)(`A disk that fails at a write, a sync or a truncation${unlessDisk}`, () => {
  it(
    'loses no change that was acknowledged, leaves none by half, and after a failed sync nothing is acknowledged any more',
    { timeout: 7_200_000 },
    async () => {
      const report = await failDisk({ main, workspace, library, points: sizeOf('DISK_FAULT_POINTS') });
      print(report);
      expect(report.findings).toEqual([]);
    },
  );

  it('would be found to lose changes, if errors of the disk were taken for success', { timeout: 600_000 }, async () => {
    const planted = plant('takes-errors-for-success');
    const { findings } = await failDisk({ main, workspace, library, points: 4, plant: planted });
    expect(findings.map(({ kind }) => kind)).toContain('lost');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failDisk } from './disk-faults.js';
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
  workspace = await makeWorkspace('disk');
  library = compileDisk(workspace.folder);
}, 120_000);
afterAll(async () => workspace?.remove());

describe.skipIf(!hasDisk)(`a disk that fails at a write, a sync or a truncation${unlessDisk}`, () => {
  it(
    'loses no acknowledged change, leaves none partly written, and acknowledges nothing after a failed sync',
    { timeout: 7_200_000 },
    async () => {
      const report = await failDisk({ main, workspace, library, points: sizeOf('DISK_FAULT_POINTS') });
      print(report);
      expect(report.findings).toEqual([]);
    },
  );

  it('loses changes in a mutant that ignores disk errors, which this suite detects', { timeout: 600_000 }, async () => {
    const mutant = await buildMain('storage/ignores-disk-errors');
    const { findings } = await failDisk({ main, workspace, library, points: 4, mutant });
    expect(findings.map(({ kind }) => kind)).toContain('lost');
  });
});

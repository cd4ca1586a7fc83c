import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { rotateUnderKills } from './rotation.js';

let main: string;
let workspace: Workspace;
beforeAll(async () => {
  [main, workspace] = await Promise.all([buildMain(), makeWorkspace('rotation')]);
}, 120_000);
afterAll(async () => workspace.remove());

describe(`a rotation of the key ring that is killed while clients write (FUZZ_SEED=${seed})`, () => {
  it(
    'keeps every secret readable, can be completed, and drops the older keys in the end',
    { timeout: 3_600_000 },
    async () => {
      const report = await rotateUnderKills({ main, workspace, seed, kills: sizeOf('ROTATION_KILLS') });
      print(report);
      expect(report.findings).toEqual([]);
      // Of the rotations that were killed, one at least had begun its work.
      expect(report.more['keysInRing']).toBeGreaterThan(1);
    },
  );

  it('loses secrets in a mutant that skips keys, which this suite detects', { timeout: 600_000 }, async () => {
    const { findings } = await rotateUnderKills({
      main,
      workspace,
      seed,
      kills: 1,
      mutant: await buildMain('storage/rotation-skips-keys'),
    });
    expect(findings.map(({ what }) => what).join('\n')).toMatch(/cannot be decrypted|does not open|cannot be read/);
  });
});

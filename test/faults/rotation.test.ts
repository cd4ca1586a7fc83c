import { describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { rotateUnderKills } from './rotation.js';

const scenery = useWorkspace('rotation');

describe(`a rotation of the key ring that is killed while clients write (FUZZ_SEED=${seed})`, () => {
  it(
    'keeps every secret readable, can be completed, and drops the older keys in the end',
    { timeout: 3_600_000 },
    async () => {
      const report = await rotateUnderKills({ ...scenery(), seed, kills: sizeOf('ROTATION_KILLS') });
      expectSound(report);
      // Of the rotations that were killed, one at least had begun its work.
      expect(report.more['keysInRing']).toBeGreaterThan(1);
    },
  );

  itDetects('loses secrets in a mutant that skips keys, which this suite detects', { timeout: 600_000 }, async () => {
    const mutant = await buildMain('storage/rotation-skips-keys');
    const { findings } = await rotateUnderKills({ ...scenery(), seed, kills: 1, mutant });
    expect(findings.map(({ what }) => what).join('\n')).toMatch(/cannot be decrypted|does not open|cannot be read/);
  });
});

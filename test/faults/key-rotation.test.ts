import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { killDuringRotations } from './key-rotation.js';

const scenery = useWorkspace('key-rotation');

describe.each(engines)(`kill -9 while a key is rotated, $name (FUZZ_SEED=${seed})`, (engine) => {
  it.skipIf(engine.isMissing)(
    'rejects no accepted identifier, grants no more than the quota, and repeats no rotation',
    { timeout: 7_200_000 },
    async () => {
      const place = await engine.make();
      try {
        const { KEYFRONT_DATA: _, ...env } = place.env;
        const report = await killDuringRotations({ ...scenery(), seed, cycles: sizeOf('KEY_ROTATION_KILLS'), env });
        expectSound(report, report.cases * 3);
        expect(report.more['rotations']).toBeGreaterThan(0);
      } finally {
        await place.remove();
      }
    },
  );
});

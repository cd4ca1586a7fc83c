import { describe, expect, it } from 'vitest';
import { itDetects } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { failDisk } from './disk-faults.js';
import { hasDisk, unlessDisk } from './disk/library.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useDisk } from './kit/suite.js';

const scenery = useDisk('disk');

describe.skipIf(!hasDisk)(`a disk that fails at a write, a sync or a truncation${unlessDisk}`, () => {
  it(
    'loses no acknowledged change, leaves none partly written, and acknowledges nothing after a failed sync',
    { timeout: 7_200_000 },
    async () => {
      expectSound(await failDisk({ ...scenery(), points: sizeOf('DISK_FAULT_POINTS') }));
    },
  );

  itDetects(
    'loses changes in a mutant that ignores disk errors, which this suite detects',
    { timeout: 600_000 },
    async () => {
      const { findings } = await failDisk({
        ...scenery(),
        points: 4,
        mutant: await buildMain('storage/ignores-disk-errors'),
      });
      expect(findings.map(({ kind }) => kind)).toContain('lost');
    },
  );
});

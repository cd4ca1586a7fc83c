import { describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { stopUnderLoad } from './stops.js';

const scenery = useWorkspace('stops');

describe(`SIGTERM under load (FUZZ_SEED=${seed})`, () => {
  it(
    'ends the process within 10 seconds with exit code 0, responds to every accepted request, and loses no change',
    { timeout: 3_600_000 },
    async () => {
      const report = await stopUnderLoad({ ...scenery(), seed, stops: sizeOf('STOPS') });
      expectSound(report, report.cases);
    },
  );

  itDetects(
    'leaves requests without a response in a mutant that stops at once, which this suite detects',
    { timeout: 600_000 },
    async () => {
      const mutant = await buildMain('process/stops-at-once');
      const { findings } = await stopUnderLoad({ ...scenery(), seed, stops: 20, mutant });
      expect(findings.map(({ what }) => what).join('\n')).toMatch(/got no response/);
    },
  );
});

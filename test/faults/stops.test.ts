import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { stopUnderLoad } from './stops.js';

let main: string;
let workspace: Workspace;
beforeAll(async () => {
  [main, workspace] = await Promise.all([buildMain(), makeWorkspace('stops')]);
}, 120_000);
afterAll(async () => workspace.remove());

describe(`SIGTERM under load (FUZZ_SEED=${seed})`, () => {
  it(
    'ends the process within 10 seconds with exit code 0, responds to every accepted request, and loses no change',
    { timeout: 3_600_000 },
    async () => {
      const report = await stopUnderLoad({ main, workspace, seed, stops: sizeOf('STOPS') });
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(report.cases);
    },
  );

  it(
    'leaves requests without a response in a mutant that stops at once, which this suite detects',
    { timeout: 600_000 },
    async () => {
      const mutant = await buildMain('process/stops-at-once');
      const { findings } = await stopUnderLoad({ main, workspace, seed, stops: 20, mutant });
      expect(findings.map(({ what }) => what).join('\n')).toMatch(/got no response/);
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { stopUnderLoad } from './stops.js';
import { killWorkers } from './workers.js';

let main: string;
let workspace: Workspace;
beforeAll(async () => {
  [main, workspace] = await Promise.all([buildMain(), makeWorkspace('workers')]);
}, 120_000);
afterAll(async () => workspace.remove());

describe(`a service of two workers (FUZZ_SEED=${seed})`, () => {
  it(
    'loses no acknowledged change when a worker is killed under load, keeps no client waiting, and replaces it',
    { timeout: 3_600_000 },
    async () => {
      const report = await killWorkers({ main, workspace, seed, services: sizeOf('WORKER_KILLS') });
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(report.cases);
    },
  );

  it('detects a mutant that responds before the commit', { timeout: 600_000 }, async () => {
    const mutant = await buildMain('storage/acknowledges-before-commit');
    const { findings } = await killWorkers({ main, workspace, seed, services: 5, mutant });
    expect(findings.map(({ kind }) => kind)).toContain('lost');
  });

  it(
    'responds to every accepted request when it is stopped under load, and exits with 0',
    { timeout: 3_600_000 },
    async () => {
      const args = ['serve', '--workers', '2'];
      const report = await stopUnderLoad({ main, workspace, seed, stops: sizeOf('STOPS'), args });
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(report.cases);
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgres } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { buildMain } from '../support/build.mjs';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { makeWorkspace, type Workspace } from './kit/workspace.js';
import { upgradeUnderLoad } from './upgrade.js';

const server = await testPostgres();
let main: string;
let next: string;
let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace('upgrade');
  main = await buildMain();
  next = await buildMain('../faults/next-version');
}, 120_000);
afterAll(async () => workspace.remove());

const engines = [
  ['SQLite', false, undefined],
  [postgres.name, postgres.isMissing, () => freshDatabase(server)],
] as const;

describe.each(engines)(`a rolling upgrade on %s (FUZZ_SEED=${seed})`, (_, isMissing, createDatabase) => {
  it.skipIf(isMissing)(
    'rejects no row and loses no change while both versions serve',
    { timeout: 7_200_000 },
    async () => {
      const upgrades = sizeOf('UPGRADES');
      const report = await upgradeUnderLoad({
        main,
        next,
        workspace,
        seed,
        upgrades,
        ...(createDatabase && { createDatabase }),
      });
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.more['rejectedRows']).toBe(0);
      expect(report.acknowledged).toBeGreaterThan(report.cases * 4);
    },
  );
});

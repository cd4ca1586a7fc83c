import { expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { describeEngines, sqlite } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { upgradeUnderLoad } from './upgrade.js';

const server = await testPostgres();
const scenery = useWorkspace('upgrade');

describeEngines(`a rolling upgrade (FUZZ_SEED=${seed})`, (engine) => {
  const createDatabase = engine === sqlite ? undefined : () => freshDatabase(server);

  it('rejects no row and loses no change while both versions serve', { timeout: 7_200_000 }, async () => {
    const next = await buildMain('../faults/next-version');
    const report = await upgradeUnderLoad({ ...scenery(), next, seed, upgrades: sizeOf('UPGRADES'), createDatabase });
    expectSound(report, report.cases * 4);
    expect(report.more['rejectedRows']).toBe(0);
  });
});

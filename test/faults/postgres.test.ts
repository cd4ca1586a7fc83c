import { afterAll, describe, expect, it } from 'vitest';
import { itDetects, seed } from '../support/generated.js';
import { freshDatabase, unlessMissing } from '../support/postgres.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { killAroundPostgres, startOwnServer } from './postgres.js';

const own = await startOwnServer();
const scenery = useWorkspace('postgres');
afterAll(() => own.stop());

const name = `D-16 kill -9 of one of two services, of PostgreSQL, and of connections alone${unlessMissing(own.server)}`;

describe.skipIf('missing' in own.server)(`${name} (FUZZ_SEED=${seed})`, () => {
  const around = async (cycles: number, mutant?: string) => {
    const { url } = await freshDatabase(own.server);
    return killAroundPostgres({ ...scenery(), seed, cycles, own, url, mutant });
  };

  it('loses no acknowledged change, adds none and leaves none partly written', { timeout: 7_200_000 }, async () => {
    const report = await around(sizeOf('POSTGRES_CYCLES'));
    expectSound(report, report.cases);
  });

  itDetects('detects a mutant that responds before the commit', { timeout: 600_000 }, async () => {
    const { findings } = await around(12, await buildMain('storage/postgres-acknowledges-before-write'));
    expect(findings.map((finding) => finding.kind)).toContain('lost');
  });
});

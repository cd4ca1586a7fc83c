import { describe, expect, it } from 'vitest';
import { seed } from '../support/generated.js';
import { killPrimary } from './failover.js';
import { serverPrograms, startPostgresPair } from './kit/postgres-pair.js';
import type { Report } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';

const unlessPrograms =
  serverPrograms === undefined
    ? " (skipped: Debian's package postgresql is not installed. Install it to run this.)"
    : '';

describe.skipIf(serverPrograms === undefined)(
  `failover of PostgreSQL to a standby${unlessPrograms} (FUZZ_SEED=${seed})`,
  () => {
    const scenery = useWorkspace('failover');

    async function failOver(failovers: number, isSynchronous: boolean): Promise<Report> {
      const pair = await startPostgresPair(isSynchronous);
      try {
        return await killPrimary({ ...scenery(), seed, failovers, pair, isStandbyBehind: !isSynchronous });
      } finally {
        await pair.stop();
      }
    }

    it(
      'loses no acknowledged change with a synchronous standby, and ends no service',
      { timeout: 7_200_000 },
      async () => {
        const report = await failOver(sizeOf('POSTGRES_FAILOVERS'), true);
        expectSound(report, report.cases);
        expect(report.more['endedServices']).toBe(0);
      },
    );

    it('detects the loss of changes that an asynchronous standby has not received', { timeout: 600_000 }, async () => {
      const { findings } = await failOver(1, false);
      expect(findings.map(({ kind }) => kind)).toContain('lost');
    });
  },
);

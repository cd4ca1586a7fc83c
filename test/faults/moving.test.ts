import { describe, expect, it } from 'vitest';
import { postgres } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { useWorkspace } from './kit/suite.js';
import { killMoving } from './moving.js';

const server = await testPostgres();
const scenery = useWorkspace('moving');

describe.skipIf(postgres.isMissing)(`migrate-store to ${postgres.name}, killed at any time and run again`, () => {
  const run = (kills: number, tampering?: string) =>
    killMoving({ ...scenery(), seed, kills, database: () => freshDatabase(server), tampering });

  it(
    'D-16 loses and duplicates no row, and copies what has changed in the file since',
    { timeout: 3_600_000 },
    async () => {
      const report = await run(sizeOf('MOVING_KILLS'));
      print(report);
      expect(report.findings).toEqual([]);
      expect(report.cases).toBeGreaterThan(0);
    },
  );

  it('detects a row that is lost and one without a cause', { timeout: 600_000 }, async () => {
    const { findings } = await run(
      1,
      `DELETE FROM history WHERE id = (SELECT max(id) FROM history); INSERT INTO key_terms VALUES (9999, 1, 1)`,
    );
    expect(findings.map(({ kind }) => kind).toSorted()).toStrictEqual(['invented', 'lost']);
  });
});

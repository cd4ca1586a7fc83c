import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { postgres } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { hasOwnRedis, ownRedis, unlessNoOwn } from '../support/redis.js';
import { buildMain } from '../support/build.mjs';
import type { Report } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { killAroundRedis } from './redis.js';

const server = await testPostgres();
const name = `kill -9 of one of two services, and of Redis, with counters in Redis and keys on ${postgres.name}${unlessNoOwn}`;

describe.skipIf(postgres.isMissing || !hasOwnRedis)(`${name} (FUZZ_SEED=${seed})`, () => {
  const scenery = useWorkspace('redis');

  async function around(cycles: number, mutantName?: string): Promise<Report> {
    const [redis, database] = await Promise.all([ownRedis('--appendfsync', 'everysec'), freshDatabase(server)]);
    try {
      const { main, workspace } = scenery();
      const folder = join(workspace.folder, mutantName?.replace('/', '-') ?? 'sound');
      const mutant = mutantName && (await buildMain(mutantName));
      return await killAroundRedis({ main, seed, cycles, folder, redis, url: database.url, mutant });
    } finally {
      await redis.remove();
      await database.drop();
    }
  }

  it.concurrent(
    'loses no counted request and no reset, applies none twice, and exceeds no quota',
    { timeout: 7_200_000 },
    async () => {
      const report = await around(sizeOf('REDIS_CYCLES'));
      expectSound(report, report.cases * 5);
      expect(report.more['appliedResets']).toBeGreaterThan(0);
    },
  );

  itDetects.concurrent.each([
    ['a reset that is applied twice', 'storage/redis-repeats-resets', 'lost'],
    ['a reset that is acknowledged and lost', 'storage/redis-forgets-resets', 'invented'],
  ])('detects a mutant: %s', { timeout: 600_000 }, async (_, mutant, kind) => {
    const { findings } = await around(3, mutant);
    expect(findings.map((finding) => finding.kind)).toContain(kind);
  });
});

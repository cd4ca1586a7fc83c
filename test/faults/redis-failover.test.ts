import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { itDetects, seed } from '../support/generated.js';
import { hasOwnRedis, unlessNoOwn } from '../support/redis.js';
import { redisPair } from '../support/redis-sentinel.js';
import type { Report } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { expectSound, useWorkspace } from './kit/suite.js';
import { killRedisPrimary, maxLagMs } from './redis-failover.js';

describe.skipIf(!hasOwnRedis)(`failover of Redis by Sentinel${unlessNoOwn} (FUZZ_SEED=${seed})`, () => {
  const scenery = useWorkspace('redis-failover');

  async function failOver(
    name: string,
    failovers: number,
    options: { isReplicaBehind?: boolean; mutant?: string } = {},
  ): Promise<Report> {
    // Sentinel promotes no replica whose link was down for more than ten times this before its primary was.
    const pair = await redisPair(options.isReplicaBehind ? 5_000 : 500);
    try {
      const { main, workspace } = scenery();
      return await killRedisPrimary({ main, folder: join(workspace.folder, name), seed, failovers, pair, ...options });
    } finally {
      await pair.remove();
    }
  }

  it(
    'loses at most what the replica lacked, applies each reset once, and ends no service',
    { timeout: 7_200_000 },
    async () => {
      const report = await failOver('sound', sizeOf('REDIS_FAILOVERS'));
      expectSound(report);
      expect(report.more['endedServices']).toBe(0);
      expect(report.more['oldestLostMs']).toBeLessThan(maxLagMs);
    },
  );

  it('detects counts that a replica behind its primary has not received', { timeout: 600_000 }, async () => {
    const { findings } = await failOver('behind', 1, { isReplicaBehind: true });
    expect(findings.map(({ kind }) => kind)).toContain('lost');
  });

  itDetects.concurrent.each([
    ['a reset that is applied twice', 'storage/redis-repeats-resets', 'was reset twice'],
    ['a reset that is acknowledged and lost', 'storage/redis-forgets-resets', 'was not reset'],
  ])('detects a mutant: %s', { timeout: 600_000 }, async (_, mutant, what) => {
    const { findings } = await failOver(mutant.replace('/', '-'), 1, { mutant: await buildMain(mutant) });
    expect(findings.map((finding) => finding.what).join('\n')).toContain(what);
  });
});

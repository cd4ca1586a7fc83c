import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgres } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { freshDatabase, testPostgres } from '../support/postgres.js';
import { hasOwnRedis, ownRedis, unlessNoOwn } from '../support/redis.js';
import { buildMain } from '../support/build.mjs';
import { print, type Report } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { killAroundRedis } from './redis.js';

const server = await testPostgres();
const name = `kill -9 of one of two services, and of Redis, with counters in Redis and keys on ${postgres.name}${unlessNoOwn}`;

describe.skipIf(postgres.isMissing || !hasOwnRedis)(`${name} (FUZZ_SEED=${seed})`, () => {
  let main: string;
  let folder: string;
  beforeAll(async () => {
    [main, folder] = await Promise.all([buildMain(), mkdtemp(join(tmpdir(), 'keyfront-redis-faults-'))]);
  }, 120_000);
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  async function around(cycles: number, mutantName?: string): Promise<Report> {
    const [redis, database] = await Promise.all([ownRedis('--appendfsync', 'everysec'), freshDatabase(server)]);
    try {
      const place = { folder: join(folder, mutantName?.replace('/', '-') ?? 'sound'), redis, url: database.url };
      return await killAroundRedis({
        main,
        seed,
        cycles,
        ...place,
        ...(mutantName && { mutant: await buildMain(mutantName) }),
      });
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
      print(report);
      expect(report.findings).toEqual([]);
      // A run in which little was done would show little.
      expect(report.acknowledged).toBeGreaterThan(report.cases * 5);
      expect(report.more['appliedResets']).toBeGreaterThan(0);
    },
  );

  it.concurrent.each([
    ['a reset that is applied twice', 'storage/redis-repeats-resets', 'lost'],
    ['a reset that is acknowledged and lost', 'storage/redis-forgets-resets', 'invented'],
  ])('detects a mutant: %s', { timeout: 600_000 }, async (_, mutant, kind) => {
    const { findings } = await around(3, mutant);
    expect(findings.map((finding) => finding.kind)).toContain(kind);
  });
});

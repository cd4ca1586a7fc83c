import { beforeAll, describe, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { engines, sqlite, type TestEngine } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { killDuringUses, type UseRun } from './uses.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const around = async (engine: TestEngine, given: Pick<UseRun, 'kills' | 'mutant'>) => {
  const place = await engine.make();
  try {
    return await killDuringUses({ main, place, seed, ...given });
  } finally {
    await place.remove();
  }
};

describe.concurrent(`kill -9 of a service that notes the use of keys (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `loses no count, and of the use by day the last seconds only, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect }) => {
        const report = await around(engine, { kills: sizeOf('USE_KILLS') });
        print(report);
        expect(report.findings).toEqual([]);
        expect(report.acknowledged).toBeGreaterThan(10);
      },
    );
  }

  itDetects('detects a mutant that writes uses every minute', { timeout: 600_000 }, async ({ expect }) => {
    const { findings } = await around(sqlite, { kills: 1, mutant: await buildMain('storage/uses-every-minute') });
    expect(findings.filter(({ kind }) => kind === 'lost')).not.toEqual([]);
  });
});

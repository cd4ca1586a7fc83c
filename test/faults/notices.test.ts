import { beforeAll, describe, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { engines, sqlite, type TestEngine } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { killDuringNotices, type NoticeRun } from './notices.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const around = async (engine: TestEngine, given: Pick<NoticeRun, 'kills' | 'mutant'>) => {
  const place = await engine.make();
  try {
    return await killDuringNotices({ main, place, seed, ...given });
  } finally {
    await place.remove();
  }
};

describe.concurrent(`kill -9 of services that record notices (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `records each notice once, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect }) => {
        const report = await around(engine, { kills: sizeOf('NOTICE_KILLS') });
        print(report);
        expect(report.findings).toEqual([]);
        expect(report.acknowledged).toBeGreaterThan(10);
      },
    );
  }

  itDetects('detects a mutant that records notices after the position', { timeout: 600_000 }, async ({ expect }) => {
    const { findings } = await around(sqlite, { kills: 2, mutant: await buildMain('storage/notices-after-position') });
    expect(findings.filter(({ kind }) => kind === 'lost')).not.toEqual([]);
  });
});

import { beforeAll, describe, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { engines, sqlite, type TestEngine } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';
import { killDuringProposals, type ProposalRun } from './proposals.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const around = async (engine: TestEngine, given: Pick<ProposalRun, 'kills' | 'mutant'>) => {
  const place = await engine.make();
  try {
    return await killDuringProposals({ main, place, seed, ...given });
  } finally {
    await place.remove();
  }
};

describe.concurrent(`kill -9 of services around proposals (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `makes each change once or not at all, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect }) => {
        const report = await around(engine, { kills: sizeOf('PROPOSAL_KILLS') });
        print(report);
        expect(report.findings).toEqual([]);
        expect(report.acknowledged).toBeGreaterThan(15);
        // An approval and a withdrawal at once have ended in either way.
        expect(Object.values(report.more['races'] ?? {}).filter((count) => count > 0)).toHaveLength(2);
      },
    );
  }

  itDetects('detects a mutant that ends a proposal after its change', { timeout: 600_000 }, async ({ expect }) => {
    const { findings } = await around(sqlite, { kills: 4, mutant: await buildMain('storage/proposal-ends-later') });
    expect(findings.filter(({ kind }) => kind === 'half')).not.toEqual([]);
  });
});

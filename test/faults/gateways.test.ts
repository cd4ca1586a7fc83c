import { beforeAll, describe, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { engines, sqlite, type TestEngine } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { killDuringReceipts, type ReceiptRun } from './gateways.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const around = async (engine: TestEngine, given: Pick<ReceiptRun, 'kills' | 'mutant'>) => {
  const place = await engine.make();
  try {
    return await killDuringReceipts({ main, place, seed, ...given });
  } finally {
    await place.remove();
  }
};

describe(`kill -9 of a service and of an adapter that acknowledges (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `never says that a gateway has what it does not have, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect }) => {
        const report = await around(engine, { kills: sizeOf('RECEIPT_KILLS') });
        print(report);
        expect(report.findings).toEqual([]);
        expect(report.acknowledged).toBeGreaterThan(3);
      },
    );
  }

  itDetects(
    'detects a mutant that acknowledges before the gateway has it',
    { timeout: 600_000 },
    async ({ expect }) => {
      const mutant = await buildMain('client/acknowledges-before-use');
      const { findings } = await around(sqlite, { kills: 2, mutant });
      expect(findings.filter(({ kind }) => kind === 'invented')).not.toEqual([]);
    },
  );
});

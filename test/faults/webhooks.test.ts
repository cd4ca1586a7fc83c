import { beforeAll, describe, it } from 'vitest';
import { engines, sqlite } from '../support/engines.js';
import { itDetects, seed } from '../support/generated.js';
import { buildMain } from '../support/build.mjs';
import { sizeOf } from './kit/sizes.js';
import { killSenders, type WebhookRun } from './webhooks.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const around = async (engine: (typeof engines)[number], given: Pick<WebhookRun, 'kills' | 'mutant' | 'timeoutMs'>) => {
  const place = await engine.make();
  try {
    return await killSenders({ main, place, seed, ...given });
  } finally {
    await place.remove();
  }
};

describe.concurrent(`kill -9 of a service that sends webhooks, under load (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `loses no change and keeps the order of each key for a receiver that fails twice, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect: expectHere }) => {
        const report = await around(engine, { kills: sizeOf('WEBHOOK_KILLS') });
        console.log(`faults: ${JSON.stringify({ harness: `webhooks on ${engine.name}`, seed, ...report })}`);
        expectHere(report.findings).toEqual([]);
        expectHere(report.changes).toBeGreaterThan(20);
      },
    );
  }

  itDetects(
    'detects a mutant that takes rejections for success',
    { timeout: 600_000 },
    async ({ expect: expectHere }) => {
      const mutant = { kills: 1, mutant: await buildMain('webhooks/accepts-rejections'), timeoutMs: 8_000 };
      const { findings } = await around(sqlite, mutant);
      expectHere(findings.filter((finding) => finding.startsWith('lost'))).not.toEqual([]);
    },
  );
});

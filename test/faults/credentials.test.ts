import { beforeAll, describe, it } from 'vitest';
import { buildMain } from '../support/build.mjs';
import { engines } from '../support/engines.js';
import { seed } from '../support/generated.js';
import { killDuringIssue } from './credentials.js';
import { print } from './kit/report.js';
import { sizeOf } from './kit/sizes.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

describe(`kill -9 of a service that issues credentials (FUZZ_SEED=${seed})`, () => {
  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `issues each once, and none that nobody has asked for, on ${engine.name}`,
      { timeout: 7_200_000 },
      async ({ expect }) => {
        const place = await engine.make();
        try {
          const report = await killDuringIssue({ main, place, seed, kills: sizeOf('CREDENTIAL_KILLS') });
          print(report);
          expect(report.findings).toEqual([]);
          expect(report.acknowledged).toBeGreaterThan(2);
          expect(report.more['rotations']).toBeGreaterThan(0);
        } finally {
          await place.remove();
        }
      },
    );
  }
});

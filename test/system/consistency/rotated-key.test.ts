import { afterEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { engines, postgresAndRedis, type EnginePlace, type TestEngine } from '../../support/engines.js';
import { itDetects, runs, seed } from '../../support/generated.js';
import { unexplained } from './linearizability.js';
import { counterOf, identifiersOf, recordRotations, rotatedKey, type History } from './rotated-key.js';
import { rotationMutants } from './store-mutants.js';

const size = runs('HISTORY_SIZE', 160);
const timeout = 300_000 + runs('HISTORIES', 8) * 10_000;

let identifiers = 0;
let apps: TestApp[] = [];
let place: EnginePlace | undefined;
afterEach(async () => {
  for (const app of apps) await app.close();
  await place?.remove();
  [apps, place] = [[], undefined];
});

async function start(installations: number, engine?: TestEngine): Promise<void> {
  place = await engine?.make();
  for (let count = 0; count < installations; count += 1) {
    // All identifiers are different, also those of different installations.
    const randomHex = () => (identifiers += 1).toString(16).padStart(32, '0');
    apps.push(await startApp(place?.env, { randomHex }));
  }
}

const inWords = (operations: readonly object[], index: number) =>
  `no order explains this; replay it with FUZZ_SEED=${seed + index}:\n${operations.map((one) => JSON.stringify(one)).join('\n')}`;

/** The first history that no order explains, in words; undefined where all of them are explained. */
async function firstUnexplained(most: number, seen: History = []): Promise<string | undefined> {
  for (let index = 0; index < most; index += 1) {
    const { first, history } = await recordRotations(apps, { seed: seed + index, size, isCounterApart: false });
    seen.push(...history);
    const stuck = unexplained(history, rotatedKey(first));
    if (stuck) return inWords(stuck, index);
  }
  return undefined;
}

const kindsIn = (history: History) =>
  new Set(history.map(({ input, output }) => `${input.kind} ${output?.response ?? 'open'}`));
const decisions = ['verify done', 'verify rejected', 'verify unknown', 'consume done', 'consume rejected'];
const changes = ['consume unknown', 'rotate done', 'rotate conflict', 'cancel done', 'cancel conflict', 'retire done'];

describe('a key under concurrent verifications, consumption, rotations, cancellations and retirements', () => {
  it('is linearizable in memory', { timeout }, async () => {
    await start(1);
    const seen: History = [];
    expect(await firstUnexplained(runs('HISTORIES', 12), seen)).toBeUndefined();
    expect([...decisions, ...changes, 'reset done', 'pass done'].filter((one) => !kindsIn(seen).has(one))).toEqual([]);
  });

  for (const engine of engines) {
    it.skipIf(engine.isMissing)(
      `is linearizable through two installations on ${engine.name}`,
      { timeout },
      async () => {
        await start(2, engine);
        expect(await firstUnexplained(runs('HISTORIES', 4))).toBeUndefined();
      },
    );
  }

  it.skipIf(postgresAndRedis.isMissing)(
    `has linearizable identifiers, and a linearizable counter, through two installations on ${postgresAndRedis.name}`,
    { timeout },
    async () => {
      await start(2, postgresAndRedis);
      const seen: History = [];
      for (let index = 0; index < runs('HISTORIES', 4); index += 1) {
        const { first, history } = await recordRotations(apps, { seed: seed + index, size, isCounterApart: true });
        seen.push(...history);
        for (const stuck of [unexplained(history, identifiersOf(first)), unexplained(history, counterOf(first))]) {
          expect(stuck && inWords(stuck, index)).toBeUndefined();
        }
      }
      expect([...decisions, ...changes].filter((one) => !kindsIn(seen).has(one))).toEqual([]);
    },
  );
});

describe('the linearizability checker of rotations over a mutant', () => {
  itDetects.each(Object.entries(rotationMutants))('detects %s', { timeout }, async (_, mutant) => {
    await start(1);
    const [app] = apps;
    if (app) mutant(app.app);
    expect(await firstUnexplained(6)).toMatch(/replay it with FUZZ_SEED=\d+/);
  });
});

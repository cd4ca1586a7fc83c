import { afterEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { engines, postgres, postgresAndRedis, type EnginePlace, type TestEngine } from '../../support/engines.js';
import { itDetects, runs, seed } from '../../support/generated.js';
import { unexplained, type Operation } from './linearizability.js';
import { oneCounter, oneKey, record, recordApart } from './one-key.js';
import { concurrencyMutants } from './store-mutants.js';

const histories = runs('HISTORIES', 50);
const size = runs('HISTORY_SIZE', 200);
const timeout = 60_000 + histories * 5_000;

let apps: TestApp[] = [];
let place: EnginePlace | undefined;
afterEach(async () => {
  for (const app of apps) await app.close();
  await place?.remove();
  [apps, place] = [[], undefined];
});

/** In memory, or each an installation of its own in the same place. */
async function start(installations = 1, engine?: TestEngine): Promise<TestApp[]> {
  place = await engine?.make();
  for (let count = 0; count < installations; count += 1) apps.push(await startApp(place?.env));
  return apps;
}

/** The first history that no order explains, in words; undefined where all of them are explained. */
async function firstUnexplained(most: number): Promise<string | undefined> {
  for (let index = 0; index < most; index += 1) {
    const history = await record(apps, seed + index, size);
    const stuck = unexplained(history, oneKey);
    if (stuck) return `no order explains this; replay it with FUZZ_SEED=${seed + index}:\n${lines(stuck)}`;
  }
  return undefined;
}

const lines = (operations: readonly object[]) => operations.map((operation) => JSON.stringify(operation)).join('\n');

describe('the linearizability checker', () => {
  type Register = Operation<{ write?: number }, { read?: number }>;
  const register = {
    initial: 0,
    step: (state: number, { write }: { write?: number }, output: { read?: number } | undefined) =>
      write ?? (output === undefined || output.read === state ? state : undefined),
  };
  const write = (value: number, invoked: number, responded: number): Register => ({
    input: { write: value },
    invoked,
    responded,
    output: responded === Infinity ? undefined : {},
  });
  const read = (value: number, invoked: number, responded: number): Register => ({
    input: {},
    invoked,
    responded,
    output: { read: value },
  });

  it.each<[string, Register[]]>([
    ['nothing', []],
    ['operations one after the other', [write(1, 1, 2), read(1, 3, 4)]],
    ['a read during a write, before it and after it', [write(1, 1, 6), read(0, 2, 3), read(1, 4, 5)]],
    ['two writes at once, in the other order', [write(1, 1, 4), write(2, 2, 3), read(1, 5, 6)]],
    ['a write without a response, executed late', [write(1, 1, Infinity), read(0, 2, 3), read(1, 4, 5)]],
    ['a write without a response, never executed', [write(1, 1, Infinity), read(0, 2, 3), read(0, 4, 5)]],
  ])('accepts %s', (_, history) => {
    expect(unexplained(history, register)).toBeUndefined();
  });

  it.each<[string, Register[]]>([
    ['a stale read', [write(1, 1, 2), read(0, 3, 4)]],
    ['a read that goes back', [write(1, 1, 6), read(1, 2, 3), read(0, 4, 5)]],
    ['a read of a value that was never written', [write(1, 1, 2), read(2, 3, 4)]],
    ['an acknowledged write that was lost', [write(1, 1, 2), write(2, 3, 4), read(1, 5, 6)]],
    ['a read before the write', [read(1, 1, 2), write(1, 3, Infinity)]],
  ])('rejects %s', (_, history) => {
    expect(unexplained(history, register)?.length).toBeGreaterThan(0);
  });
});

describe('C-04 a key under concurrent updates, resets, consumption and reads', () => {
  it('is linearizable in memory', { timeout }, async () => {
    await start();
    expect(await firstUnexplained(histories)).toBeUndefined();
  });

  const places = [[1, postgres] as const, ...engines.map((engine) => [2, engine] as const)];
  for (const [installations, engine] of places) {
    // These requests take longer than those in memory.
    const most = runs('HISTORIES', 10);
    it.skipIf(engine.isMissing)(
      `is linearizable through ${installations === 1 ? 'one installation' : 'two installations'} on ${engine.name}`,
      { timeout },
      async () => {
        await start(installations, engine);
        expect(await firstUnexplained(most)).toBeUndefined();
      },
    );
  }

  it.skipIf(postgresAndRedis.isMissing)(
    `is linearizable with its counter through two installations on ${postgresAndRedis.name}`,
    { timeout },
    async () => {
      await start(2, postgresAndRedis);
      for (let index = 0; index < runs('HISTORIES', 4); index += 1) {
        const { definition = [], counter = [] } = await recordApart(apps, seed + index, size);
        expect(counter.filter(({ input }) => input.kind === 'consume').length).toBeGreaterThan(size / 4);
        expect(counter.some(({ input, output }) => input.kind === 'update' && output?.response === 'done')).toBe(true);
        for (const stuck of [unexplained(definition, oneKey), unexplained(counter, oneCounter)]) {
          expect(stuck && `replay it with FUZZ_SEED=${seed + index}:\n${lines(stuck)}`).toBeUndefined();
        }
      }
    },
  );

  it('gets enough concurrent calls for an order to matter, and completes all of them', async () => {
    await start();
    // Any one history may happen to lack what is rare, such as a rejection.
    const histories: Awaited<ReturnType<typeof record>>[] = [];
    for (let index = 0; index < 4; index += 1) histories.push(await record(apps, seed + index, 200));
    const history = histories.flat();
    const [first = []] = histories;
    const overlapping = first.filter(({ invoked, responded }) =>
      first.some((other) => other.invoked < invoked && other.responded > invoked && other.responded < responded),
    );
    const responses = new Set(history.map(({ input, output }) => `${input.kind} ${output?.response}`));
    expect(overlapping.length).toBeGreaterThan(100);
    expect([...responses].sort()).toStrictEqual([
      'consume done',
      'consume rejected',
      'read done',
      'update conflict',
      'update done',
    ]);
  });
});

describe('the linearizability checker over a mutant', () => {
  itDetects.each(Object.entries(concurrencyMutants))('detects %s', { timeout }, async (_, mutant) => {
    const [app] = await start();
    if (app) mutant(app.app);
    expect(await firstUnexplained(5)).toMatch(/replay it with FUZZ_SEED=\d+/);
  });
});

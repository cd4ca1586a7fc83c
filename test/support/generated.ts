import { it } from 'vitest';
import type { Parameters } from 'fast-check';

/**
 * The seed of every generated suite: `FUZZ_SEED`, or a random seed in the full runs (`npm run test:faults`). Otherwise
 * constant, so that every run of `npm test` has the same result. A failure prints its seed.
 */
export const seed = Number(process.env['FUZZ_SEED'] ?? defaultSeed());

function defaultSeed(): number {
  return process.env['FAULTS'] === 'full' ? Math.floor(Math.random() * 2 ** 31) : 1;
}

/** Number of cases to generate: the variable of the environment, or `FUZZ_FACTOR` times a small number. */
export function runs(variable: string, few: number): number {
  return Number(process.env[variable] ?? few * Number(process.env['FUZZ_FACTOR'] ?? 1));
}

/** Parameters of `fc.assert`, whose report contains the seed and the path to the smallest counterexample. */
export function generated<T>(numRuns: number): Parameters<T> {
  return { numRuns, seed, interruptAfterTimeLimit: 1_800_000, markInterruptAsFailure: true };
}

/** Creates a pseudorandom generator (mulberry32). */
export function createRandom(from: number): { below: (limit: number) => number; pick: <T>(items: readonly T[]) => T } {
  let state = from >>> 0;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('There is nothing to pick from.');
    return items[below(items.length)] as T;
  };
  return { below, pick };
}

/**
 * A test that a suite detects a mutant. It runs in full runs (`FAULTS=full`) and with `MUTANTS=1`, as in
 * `test/mutants/run.mjs`: it says nothing about the service, and takes longer than the suite.
 */
export const itDetects = it.runIf(process.env['FAULTS'] === 'full' || process.env['MUTANTS'] === '1');

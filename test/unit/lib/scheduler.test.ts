import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createScheduler, type SchedulerLimits } from '../../../src/lib/scheduler.js';
import { timersDueWithin } from '../../support/until.js';

/** A scheduler with a clock that stands still unless work takes time, and what it has done, in order. */
function watched(limits: Partial<SchedulerLimits> = {}) {
  let nowMs = 0;
  const scheduler = createScheduler(limits, () => nowMs);
  const seen: string[] = [];
  const busyFor = (ms: number) => {
    nowMs += ms;
  };
  return {
    ...scheduler,
    seen,
    busyFor,
    nowMs: () => nowMs,
    /** Offers a request that takes this long when it starts. */
    offer: (name: string, ms = 0) =>
      scheduler.admit(
        () => {
          seen.push(name);
          busyFor(ms);
        },
        () => seen.push(`${name} rejected`),
      ),
    /** Executes a request in steps that take this long. */
    execute: async (name: string, steps: number, ms: number) => {
      for (let step = 1; step <= steps; step += 1) {
        await scheduler.next();
        seen.push(`${name}${step}`);
        busyFor(ms);
      }
    },
    untilSeen: async (count: number) => {
      while (seen.length < count) await nextIteration();
    },
  };
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

describe('the scheduler', () => {
  it('starts and continues requests at once while an iteration of the event loop has time left', () => {
    const { seen, offer, next, busyFor } = watched();
    offer('a', 3);
    expect(next()).toBeUndefined();
    offer('b', 3);
    busyFor(4);
    expect(next()).toBeInstanceOf(Promise);
    offer('c');
    expect(seen).toEqual(['a', 'b']);
  });

  it('starts the others in later iterations, in the order of their arrival', async () => {
    const { seen, offer, untilSeen } = watched();
    for (const name of names(8)) offer(name, 11);
    expect(seen).toEqual(['0']);
    await nextIteration();
    expect(seen.length).toBeLessThan(8);
    await untilSeen(8);
    expect(seen).toEqual(names(8));
  });

  it('continues requests in the order of their calls', async () => {
    const { seen, busyFor, next, execute } = watched();
    expect(next()).toBeUndefined();
    busyFor(11);
    await Promise.all(names(4).map((name) => execute(name, 1, 11)));
    expect(seen).toEqual(['01', '11', '21', '31']);
  });

  it('lets requests that arrive together pass each stage together, also while time is left', async () => {
    const { seen, admit, nextStage, untilSeen } = watched();
    const serve = async (name: string) => {
      for (const stage of ['read', 'execute', 'respond']) {
        await nextStage();
        seen.push(`${stage} ${name}`);
      }
    };
    for (const name of ['a', 'b', 'c']) admit(() => void serve(name), expect.unreachable);
    await untilSeen(9);
    // The first had started before the others arrived.
    expect(seen.toSorted()).toEqual(
      ['execute', 'read', 'respond'].flatMap((stage) => ['a', 'b', 'c'].map((name) => `${stage} ${name}`)),
    );
    expect(seen.slice(0, 3)).toEqual(['read a', 'read b', 'read c']);
  });

  it('lets a group pass all stages before the next group starts', async () => {
    const { seen, admit, nextStage, untilSeen } = watched({ groupSize: 2 });
    const serve = async (name: string) => {
      seen.push(`start ${name}`);
      await nextStage();
      seen.push(`end ${name}`);
    };
    const idle = nextStage();
    for (const name of names(6)) admit(() => void serve(name), expect.unreachable);
    await idle;
    await untilSeen(12);
    const groups = [['0'], ['1', '2'], ['3', '4'], ['5']];
    const stages = ['start', 'end'];
    expect(seen).toEqual(groups.flatMap((group) => stages.flatMap((stage) => group.map((name) => `${stage} ${name}`))));
  });

  it('starts requests one by one while as many as a group take long', async () => {
    const { seen, offer, execute, untilSeen } = watched({ groupSize: 2 });
    offer('a', 11);
    const executed = [execute('b', 4, 11), execute('c', 4, 11)];
    for (const name of ['x', 'y', 'z']) offer(name, 11);
    await Promise.all(executed);
    await untilSeen(12);
    expect(seen.filter((name) => /[xyz]/.test(name))).toEqual(['x', 'y', 'z']);
    expect(seen.indexOf('y')).toBeGreaterThan(seen.indexOf('b1'));
    expect(seen.indexOf('z')).toBeLessThan(seen.indexOf('b4'));
  });

  it('counts the requests that wait to start, and those that wait to continue', () => {
    const { offer, next, waiting } = watched();
    offer('a', 11);
    offer('b');
    void next();
    void next();
    expect(waiting()).toBe(3);
  });

  it('rejects new requests while those that wait to start and to continue are too many, and no others', async () => {
    const { seen, offer, next, untilSeen } = watched({ maxWaiting: 3 });
    offer('a', 11);
    const continued = [next(), next()];
    for (const name of ['b', 'c', 'd']) offer(name);
    expect(seen).toEqual(['a', 'c rejected', 'd rejected']);
    for (const turn of continued) await turn;
    await untilSeen(4);
    offer('e');
    await untilSeen(5);
    expect(seen.slice(3)).toEqual(['b', 'e']);
  });

  it('rejects a request that has waited too long, instead of starting it', async () => {
    const { seen, offer, busyFor, untilSeen } = watched({ maxWaitMs: 100 });
    offer('a', 11);
    offer('b');
    busyFor(60);
    offer('c');
    busyFor(60);
    await untilSeen(3);
    expect(seen).toEqual(['a', 'b rejected', 'c']);
  });

  it('starts no request while many wait to continue', async () => {
    const { seen, offer, execute, untilSeen } = watched({ groupSize: 2, maxContinuing: 2 });
    offer('a', 11);
    const executed = [execute('b', 3, 11), execute('c', 3, 11)];
    for (const name of ['x', 'y']) offer(name);
    await Promise.all(executed);
    await untilSeen(9);
    // At the end one of them waits, and requests start by turns with it.
    expect(seen.slice(0, 6)).toEqual(['a', 'b1', 'c1', 'b2', 'c2', 'b3']);
    expect(seen.slice(6).sort()).toEqual(['c3', 'x', 'y']);
  });

  it('starts requests by turns with one that takes long', async () => {
    const { seen, offer, execute, untilSeen } = watched();
    offer('a', 11);
    const executed = execute('b', 4, 11);
    for (const name of ['x', 'y']) offer(name, 11);
    await executed;
    await untilSeen(7);
    expect(seen).toEqual(['a', 'x', 'y', 'b1', 'b2', 'b3', 'b4']);
  });

  it('lets an immediate of others run between two slices', async () => {
    const { seen, execute } = watched();
    const executed = execute('a', 3, 11);
    setImmediate(() => seen.push('other'));
    await executed;
    expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('a3'));
  });

  it('gives a request that was read no second slice in the same iteration', async () => {
    const { seen, execute } = watched();
    // As a request that was read, a timer runs before the immediates of its iteration.
    await timersDueWithin(0);
    setImmediate(() => setImmediate(() => seen.push('next iteration')));
    await execute('a', 3, 11);
    expect(seen).toEqual(['a1', 'next iteration', 'a2', 'a3']);
  });

  it('executes nothing while connections arrive, each in an iteration of its own, and continues after a number of them', async () => {
    const { seen, offer, connected } = watched();
    offer('a', 11);
    offer('b');
    for (let iteration = 0; iteration < 10; iteration += 1) {
      connected();
      await nextIteration();
    }
    expect(seen).toEqual(['a']);
    for (let iteration = 0; iteration < 100; iteration += 1) {
      connected();
      await nextIteration();
    }
    expect(seen).toEqual(['a', 'b']);
  });

  it('gives admitted requests as much time as rejecting the others takes', async () => {
    const { admit, seen, offer, busyFor, untilSeen } = watched({ maxWaiting: 20 });
    offer('first', 11);
    for (const name of names(20)) offer(name, 2);
    // This iteration also reads and rejects 15 requests, which takes 30 ms.
    for (let number = 0; number < 15; number += 1) admit(expect.unreachable, () => busyFor(2));
    await untilSeen(2);
    expect(seen.length).toBeGreaterThan(10);
  });

  it('lets each of 64 clients wait equally long, also while slices end within their stages', async () => {
    const { admit, nextStage, busyFor, nowMs } = watched();
    const durations: number[] = [];
    /** Sends a request when it has received the response to the one before. */
    const sendAll = async () => {
      for (let request = 0; request < 40; request += 1) {
        const sentMs = nowMs();
        await new Promise<void>((start) => admit(start, expect.unreachable));
        for (const ms of [0.2, 0.1, 0.3, 0.1]) {
          busyFor(ms);
          await nextStage();
        }
        durations.push(nowMs() - sentMs);
        await nextIteration();
      }
    };
    await Promise.all(names(64).map(sendAll));
    // Without the first requests, which arrive at once.
    const sorted = durations.slice(640, -640).toSorted((one, other) => one - other);
    const quantile = (share: number) => sorted[Math.floor(share * sorted.length)] ?? NaN;
    expect(quantile(0.9) / quantile(0.5)).toBeLessThan(1.1);
    expect(quantile(0.99) / quantile(0.5)).toBeLessThan(1.15);
    expect(quantile(0.5)).toBeLessThan(1.1 * 64 * 0.7);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createChangeNotifier,
  type ChangeNotifier,
  type ChangeSource,
} from '../../../src/storage/sql/change-notifier.js';
import { eventLoopTurns, timersDueWithin, until } from '../../support/until.js';

const never = 2 ** 31 - 1;
/** Longer than the minimum time between two reads and than the interval while a change is pending. */
const anyTimerMs = 200;

let state: { newest: string; isPending: boolean };
let reads: number;
let notifier: ChangeNotifier;
const read = vi.fn(() => {
  reads += 1;
  return Promise.resolve(state);
});
function create(source: Partial<ChangeSource> = {}): ChangeNotifier {
  return (notifier = createChangeNotifier({ read, everyMs: never, ...source }));
}
beforeEach(() => {
  state = { newest: '', isPending: false };
  reads = 0;
});
afterEach(() => notifier.stop());

describe('the change notifier', () => {
  it('calls all subscribers for each new change', async () => {
    create();
    const [one, other] = [vi.fn(), vi.fn()];
    notifier.follow(one);
    notifier.follow(other);
    await until(() => other.mock.calls.length === 1);
    state.newest = '0.1';
    notifier.hint();
    await until(() => other.mock.calls.length === 2);
    expect(one).toHaveBeenCalledTimes(2);
  });

  it('calls no subscriber when a hint was wrong', async () => {
    create();
    const onMore = vi.fn();
    notifier.follow(onMore);
    await until(() => reads === 1);
    notifier.hint();
    await until(() => reads === 2);
    await eventLoopTurns();
    expect(onMore).toHaveBeenCalledTimes(1);
  });

  it('reads nothing without subscribers', async () => {
    create({ everyMs: 1 });
    notifier.hint();
    await timersDueWithin(anyTimerMs);
    expect(reads).toBe(0);
    const end = notifier.follow(() => undefined);
    await until(() => reads === 1);
    end();
    await timersDueWithin(anyTimerMs);
    const before = reads;
    notifier.hint();
    await timersDueWithin(anyTimerMs);
    expect(reads).toBe(before);
  });

  it('reads once for many hints that arrive while it reads', async () => {
    create();
    notifier.follow(() => undefined);
    for (let count = 0; count < 100; count += 1) notifier.hint();
    await timersDueWithin(anyTimerMs);
    expect(reads).toBe(2);
  });

  it('reads again when a hint arrives while it reads', async () => {
    create({
      read: () => {
        if (reads === 0) notifier.hint();
        return read();
      },
    });
    notifier.follow(() => undefined);
    await until(() => reads === 2);
  });

  it('reads at its interval', async () => {
    create({ everyMs: 1 });
    const onMore = vi.fn();
    notifier.follow(onMore);
    await until(() => reads === 2);
    state.newest = '0.1';
    await until(() => onMore.mock.calls.length === 2);
  });

  it('reads again soon while a change is pending', async () => {
    create();
    state.isPending = true;
    notifier.follow(() => undefined);
    await until(() => reads === 3);
  });

  it('does not read before its interval when no change is pending', async () => {
    create();
    notifier.follow(() => undefined);
    await until(() => reads === 1);
    await timersDueWithin(anyTimerMs);
    expect(reads).toBe(1);
  });

  it('continues after a read that fails', async () => {
    create({ everyMs: 1 });
    read.mockRejectedValueOnce(new Error('unreachable'));
    const onMore = vi.fn();
    notifier.follow(onMore);
    await until(() => onMore.mock.calls.length === 1);
  });

  it('calls the first of new subscribers also when there is no new change', async () => {
    create();
    const [one, other] = [vi.fn(), vi.fn()];
    const end = notifier.follow(one);
    await until(() => one.mock.calls.length === 1);
    end();
    notifier.follow(other);
    await until(() => other.mock.calls.length === 1);
    expect(one).toHaveBeenCalledTimes(1);
  });

  it('listens to other processes while there are subscribers', async () => {
    const stopListening = vi.fn();
    const listen = vi.fn((_hint: () => void) => stopListening);
    create({ listen });
    expect(listen).not.toHaveBeenCalled();
    const onMore = vi.fn();
    // The same function twice: each subscription ends by itself.
    const ends = [notifier.follow(onMore), notifier.follow(onMore)];
    await until(() => onMore.mock.calls.length === 2);
    state.newest = '0.1';
    listen.mock.calls[0]?.[0]();
    await until(() => onMore.mock.calls.length === 4);
    for (const end of [ends[0], ends[0]]) end?.();
    expect(stopListening).not.toHaveBeenCalled();
    ends[1]?.();
    expect(stopListening).toHaveBeenCalledTimes(1);
    expect(listen).toHaveBeenCalledTimes(1);
    notifier.stop();
    expect(stopListening).toHaveBeenCalledTimes(1);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChangeEvent, ChangeFeed, FeedQuery } from '../../../src/keys/change-feed.js';
import type { CallContext } from '../../../src/keys/ports.js';
import {
  createChangeSubscriptions,
  type ChangeSubscriptionRequest,
  type SubscribedChange,
} from '../../../src/keys/queries/change-subscription.js';
import { aKey, aRevision, hashOf } from '../../support/factories.js';
import { eventLoopTurns, until } from '../../support/until.js';

const caller: CallContext = { credentialID: 'cred_1', label: 'a test', orgID: undefined, requestID: 'request-1' };
const checkpointMs = 30_000;

/** A feed in memory. Cursors are the numbers of changes before them. */
function createFeed() {
  const events: ChangeEvent[] = [];
  const listeners = new Set<() => void>();
  const reads: FeedQuery[] = [];
  const feed: Omit<ChangeFeed, 'readBack'> = {
    read: async (query) => {
      reads.push(query);
      if (query.after === 'invalid') throw new Error('The cursor is not valid.');
      const matching = events
        .slice(Number(query.after ?? 0))
        .filter(
          ({ orgID, keyHash }) =>
            [orgID, undefined].includes(query.orgID) && [keyHash, undefined].includes(query.keyHash),
        );
      const page = matching.slice(0, query.limit);
      const hasMore = matching.length > page.length;
      return { events: page, cursor: hasMore ? (page.at(-1)?.cursor ?? '') : String(events.length), hasMore };
    },
    latestCursor: async () => String(events.length),
    subscribe: (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
  return {
    feed,
    reads,
    listeners,
    /** Adds changes, then notifies all subscribers once. */
    add: (...changes: Partial<ChangeEvent>[]) => {
      for (const change of changes) {
        const key = aKey('k1', { version: events.length + 1 });
        const { keyHash, orgID, version } = key;
        events.push({ cursor: String(version), keyHash, orgID, version, entry: aRevision(key), ...change });
      }
      for (const notify of listeners) notify();
    },
  };
}

let source: ReturnType<typeof createFeed>;
let subscriptions: ReturnType<typeof createChangeSubscriptions>;
let ends: AbortController[];
beforeEach(() => {
  source = createFeed();
  subscriptions = createChangeSubscriptions(source, checkpointMs);
  ends = [];
});
afterEach(() => {
  for (const end of ends) end.abort();
  vi.useRealTimers();
});

async function subscribe(request: ChangeSubscriptionRequest = {}, principal: Partial<CallContext> = {}) {
  const end = new AbortController();
  ends.push(end);
  const changes = await subscriptions.orgKeyChanges({ ...caller, ...principal }, request, end.signal);
  const received: SubscribedChange[] = [];
  const done = (async () => {
    for await (const change of changes) received.push(change);
  })();
  return { end, received, done, cursors: () => received.map(({ cursor }) => cursor) };
}

describe('a subscription without a cursor', () => {
  it('starts with a checkpoint of the current position, and reads nothing until a change', async () => {
    source.add({}, {});
    const { received } = await subscribe();
    await eventLoopTurns();
    expect(received).toStrictEqual([{ cursor: '2', entry: undefined }]);
    expect(source.reads).toStrictEqual([]);
    source.add({});
    await eventLoopTurns();
    expect(received.slice(1)).toMatchObject([{ cursor: '3', isUnreadable: false, entry: { versionAfter: 3 } }]);
    expect(source.reads).toStrictEqual([{ after: '2', limit: 25 }]);
  });

  it('delivers a change that is added before the checkpoint is consumed', async () => {
    const changes = await subscriptions.orgKeyChanges(caller, {}, new AbortController().signal);
    source.add({});
    expect((await changes.next()).value).toStrictEqual({ cursor: '0', entry: undefined });
    expect((await changes.next()).value).toMatchObject({ cursor: '1' });
    await changes.return();
    expect(source.listeners.size).toBe(0);
  });

  it('reports a change without a readable history entry as unreadable', async () => {
    const { received } = await subscribe();
    source.add({ entry: undefined });
    await eventLoopTurns();
    expect(received[1]).toStrictEqual({ cursor: '1', entry: undefined, notice: undefined, isUnreadable: true });
  });
});

describe('a subscription with a cursor', () => {
  it('delivers all changes after it in pages, then waits', async () => {
    source.add(...Array.from({ length: 60 }, () => ({})));
    const { cursors } = await subscribe({ after: '3', orgID: 'acme', keyHash: hashOf('k1') });
    await eventLoopTurns();
    expect(cursors()).toStrictEqual(Array.from({ length: 57 }, (_, index) => String(index + 4)));
    const filter = { orgID: 'acme', keyHash: hashOf('k1'), limit: 25 };
    expect(source.reads).toStrictEqual(['3', '28', '53'].map((after) => ({ after, ...filter })));
  });

  it('rejects an invalid one, and does not keep following the feed', async () => {
    await expect(subscribe({ after: 'invalid' })).rejects.toThrow('The cursor is not valid.');
    expect(source.listeners.size).toBe(0);
  });
});

describe('the changes of a subscription', () => {
  const other = { orgID: 'globex', keyHash: hashOf('k2') };

  it.each<[string, ChangeSubscriptionRequest, Partial<CallContext>, string[]]>([
    ['all organizations', {}, {}, ['1', '2', '3']],
    ['one organization', { orgID: 'acme' }, {}, ['1', '3']],
    ['one key', { keyHash: hashOf('k2') }, {}, ['2']],
    ['one key, of another organization', { orgID: 'acme', keyHash: hashOf('k2') }, {}, []],
    ['the organization of the caller', {}, { orgID: 'globex' }, ['2']],
    ['no other organization than that of the caller', { orgID: 'acme' }, { orgID: 'globex' }, []],
  ])('are those of %s, before and after its start', async (_, request, principal, expected) => {
    const following = await subscribe(request, principal);
    source.add({}, other, {});
    const resuming = await subscribe({ ...request, after: '0' }, principal);
    await eventLoopTurns();
    expect(following.cursors()).toStrictEqual(['0', ...expected]);
    expect(resuming.cursors()).toStrictEqual(expected);
  });

  it('are rejected without the scope read', async () => {
    await expect(subscribe({}, { scopes: ['update'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(source.listeners.size).toBe(0);
  });
});

describe('many subscriptions', () => {
  it('share one subscription to the feed, until the last of them ends', async () => {
    const [first, second] = [await subscribe(), await subscribe()];
    expect(source.listeners.size).toBe(1);
    first.end.abort();
    await first.done;
    expect(source.listeners.size).toBe(1);
    source.add({});
    await eventLoopTurns();
    expect([first.cursors(), second.cursors()]).toStrictEqual([['0'], ['0', '1']]);
    second.end.abort();
    await second.done;
    expect(source.listeners.size).toBe(0);
  });

  it('read each page at the end of the feed once', async () => {
    const all = await Promise.all([subscribe(), subscribe({ orgID: 'acme' }), subscribe({ orgID: 'globex' })]);
    source.add({});
    await eventLoopTurns();
    source.add({});
    await eventLoopTurns();
    expect(all.map(({ cursors }) => cursors())).toStrictEqual([['0', '1', '2'], ['0', '1', '2'], ['0']]);
    expect(source.reads).toStrictEqual(['0', '1'].map((after) => ({ after, limit: 25 })));
  });

  it('keep at most 16 pages: one that is far behind the others reads its pages again', async () => {
    const behind = await subscriptions.orgKeyChanges(caller, {}, new AbortController().signal);
    await behind.next();
    const { cursors } = await subscribe();
    source.add(...Array.from({ length: 17 * 25 }, () => ({})));
    await until(() => cursors().length === 17 * 25 + 1, 'all changes');
    const pages = source.reads.length;
    expect((await behind.next()).value).toMatchObject({ cursor: '1' });
    expect(source.reads.slice(pages)).toStrictEqual([{ after: '0', limit: 25 }]);
    await behind.return();
  });

  it('read a page again after a read that failed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const read = vi.spyOn(source.feed, 'read').mockRejectedValueOnce(new Error('The database is closed.'));
    // One that waits for its client keeps the pages in use.
    await subscriptions.orgKeyChanges(caller, {}, new AbortController().signal);
    const failing = await subscribe();
    const failure = expect(failing.done).rejects.toThrow('The database is closed.');
    source.add();
    await failure;
    const { cursors } = await subscribe();
    await vi.advanceTimersByTimeAsync(checkpointMs);
    await eventLoopTurns();
    expect(read).toHaveBeenCalledTimes(2);
    source.add({});
    await eventLoopTurns();
    expect(cursors()).toStrictEqual(['0', '1']);
  });
});

describe('a checkpoint', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  it('is delivered after each interval in which only other changes were added', async () => {
    const { received } = await subscribe({ orgID: 'acme' });
    const checkpoints = () => received.slice(1).filter(({ entry }) => entry === undefined);
    source.add({ orgID: 'globex' });
    await vi.advanceTimersByTimeAsync(checkpointMs - 1);
    await eventLoopTurns();
    expect(checkpoints()).toStrictEqual([]);
    await vi.advanceTimersByTimeAsync(checkpointMs);
    await eventLoopTurns();
    expect(checkpoints()).toStrictEqual([{ cursor: '1', entry: undefined }]);
    await vi.advanceTimersByTimeAsync(3 * checkpointMs);
    await eventLoopTurns();
    expect(checkpoints()).toHaveLength(1);
  });

  it('is not delivered while matching changes are', async () => {
    const { received } = await subscribe();
    for (let count = 0; count < 4; count += 1) {
      await vi.advanceTimersByTimeAsync(checkpointMs - 1_000);
      source.add({});
      await eventLoopTurns();
    }
    expect(received.slice(1).every(({ entry }) => entry !== undefined)).toBe(true);
  });
});

describe('the end of a subscription', () => {
  it('is the end of following the feed if it is the last one', async () => {
    const follow = vi.spyOn(source.feed, 'subscribe');
    const [first, second] = await Promise.all([subscribe(), subscribe()]);
    expect(follow).toHaveBeenCalledTimes(1);
    first.end.abort();
    expect(source.listeners.size).toBe(1);
    second.end.abort();
    expect(source.listeners.size).toBe(0);
  });

  it('leaves nothing behind if it comes before the start, and the changes are never read', async () => {
    await subscriptions.orgKeyChanges(caller, {}, AbortSignal.abort());
    expect(source.listeners.size).toBe(0);
  });

  it('ends the wait for a change, and delivers none that is added afterwards', async () => {
    const { end, done, cursors } = await subscribe();
    await eventLoopTurns();
    end.abort();
    source.add({});
    await done;
    expect(cursors()).toStrictEqual(['0']);
    expect(source.reads).toStrictEqual([]);
  });

  it('delivers no further change of a page that was read', async () => {
    source.add({}, {}, {});
    const end = new AbortController();
    const changes = await subscriptions.orgKeyChanges(caller, { after: '0' }, end.signal);
    expect((await changes.next()).value).toMatchObject({ cursor: '1' });
    end.abort();
    expect(await changes.next()).toStrictEqual({ done: true, value: undefined });
    expect(source.listeners.size).toBe(0);
  });
});

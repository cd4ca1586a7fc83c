import { isDeepStrictEqual } from 'node:util';
import type { Operation } from '../../../src/keys/key.js';
import type { KeyOrder } from '../../../src/keys/key-query.js';
import { dateTime } from '../../support/date-time.js';

/** What the model knows of a definition. */
export interface Definition {
  readonly alias?: string;
  readonly tags?: readonly string[];
  readonly isInactive?: boolean;
  readonly expires?: number;
  readonly quotaMax?: number;
  readonly quotaRenewalRate?: number;
  readonly quotaRemaining?: number;
  readonly quotaRenews?: number;
}

interface Entry {
  readonly operation: Operation;
  readonly version: number;
  readonly quotaUsedBeforeReset: number | undefined;
  readonly definition: Definition;
}

interface Key {
  readonly keyID: string;
  readonly orgID: string;
  readonly version: number;
  readonly lastUpdated: number;
  /** Unix seconds, as all moments here. */
  readonly deleted: number | undefined;
  readonly definition: Definition;
  readonly used: number;
  readonly renews: number | undefined;
  readonly history: readonly Entry[];
}

/** Which keys a list has, and how they stand in it. */
export interface ListQuery {
  readonly orgID?: string | undefined;
  readonly tag?: string | undefined;
  readonly aliasPrefix?: string | undefined;
  readonly state?: string | undefined;
  readonly updatedSince?: number | undefined;
  readonly expiresBefore?: number | undefined;
  readonly orderBy: KeyOrder;
  readonly descending: boolean;
}

export const restoreWindow = 30 * 86_400;

export type Model = ReturnType<typeof createModel>;

/** Keyfront in a few lines: the expected results, for a map of keys and a clock. A rejection is its code alone. */
export function createModel(hashOf: (keyID: string) => string) {
  const keys = new Map<string, Key>();
  const clock = { now: 0 };

  const live = (keyID: string) => {
    const key = keys.get(keyID);
    return key && key.deleted === undefined ? key : undefined;
  };
  const stale = (key: Key, expected: number | undefined) => expected !== undefined && expected !== key.version;

  function put(key: Key, operation: Operation, changes: Partial<Key>, quotaUsedBeforeReset?: number) {
    const [version, lastUpdated] = [key.version + 1, Math.max(clock.now, key.lastUpdated + 1)];
    const next = { ...key, ...changes, version, lastUpdated };
    const entry = { operation, version, quotaUsedBeforeReset, definition: next.definition };
    keys.set(key.keyID, { ...next, history: [...key.history, entry] });
    return view(key.keyID);
  }

  /** A key that has the definition already stays as it is. */
  function replace(key: Key, operation: Operation, definition: Definition) {
    if (isDeepStrictEqual(key.definition, definition)) return view(key.keyID);
    return put(key, operation, { definition, ...carried(key, definition) });
  }

  /** The counter now, a period that has ended counted as renewed. */
  function counter({ definition, used, renews }: Key): { used: number; renews: number | undefined } {
    const rate = definition.quotaRenewalRate ?? 0;
    if (rate <= 0) return { used, renews };
    if (renews === undefined) return { used, renews: clock.now + rate };
    let end = renews;
    while (end <= clock.now) end += rate;
    return { used: end === renews ? used : 0, renews: end };
  }

  /** The counter under another definition: what was used stays used, in a period that has yet to end. */
  function carried(key: Key, { quotaRenewalRate = 0 }: Definition): Pick<Key, 'used' | 'renews'> {
    const { used, renews } = counter(key);
    const hasEnded = renews === undefined || renews <= clock.now;
    return { used, renews: quotaRenewalRate > 0 && hasEnded ? clock.now + quotaRenewalRate : renews };
  }

  function stateOf({ deleted, definition: { isInactive, expires = 0 } }: Key): string {
    if (deleted !== undefined) return 'DELETED';
    if (isInactive === true) return 'INACTIVE';
    return expires >= 1 && expires <= clock.now ? 'EXPIRED' : 'ACTIVE';
  }

  function quotaOf(key: Key) {
    const { used, renews } = counter(key);
    const max = (key.definition.quotaMax ?? 0) > 0 ? (key.definition.quotaMax ?? null) : null;
    const renewsAt = (key.definition.quotaRenewalRate ?? 0) > 0 && renews !== undefined ? dateTime(renews) : null;
    return { max, used, remaining: max === null ? null : Math.max(max - used, 0), renewsAt };
  }

  /** A key as both sides show it; deleted ones too. */
  function view(keyID: string) {
    const key = keys.get(keyID);
    if (!key) return null;
    const { orgID, version, lastUpdated, deleted, definition } = key;
    const deletedAt = deleted === undefined ? null : dateTime(deleted);
    return {
      orgID,
      version,
      updatedAt: dateTime(lastUpdated),
      deletedAt,
      state: stateOf(key),
      definition,
      quota: quotaOf(key),
    };
  }

  return {
    clock,
    view,
    version: (keyID: string) => keys.get(keyID)?.version ?? 0,
    keyIDs: () => [...keys.keys()],
    read: (keyID: string) => (live(keyID) ? view(keyID) : null),
    history: (keyID: string) => keys.get(keyID)?.history ?? [],

    create(keyID: string, orgID: string, definition: Definition) {
      if (keys.has(keyID)) return 'CONFLICT';
      const rate = definition.quotaRenewalRate ?? 0;
      keys.set(keyID, {
        keyID,
        orgID,
        version: 1,
        lastUpdated: clock.now,
        deleted: undefined,
        definition,
        used: 0,
        renews: rate > 0 ? clock.now + rate : undefined,
        history: [{ operation: 'create', version: 1, quotaUsedBeforeReset: undefined, definition }],
      });
      return view(keyID);
    },
    update(keyID: string, sent: Definition, isReset: boolean, expected: number | undefined) {
      const key = live(keyID);
      if (!key) return 'NOT_FOUND';
      if (stale(key, expected)) return 'CONFLICT';
      if (!isReset) return replace(key, 'update', sent);
      const rate = sent.quotaRenewalRate ?? 0;
      const renews = rate > 0 ? clock.now + rate : key.renews;
      const definition = {
        ...sent,
        ...(sent.quotaMax !== undefined && { quotaRemaining: sent.quotaMax }),
        ...(rate > 0 && renews !== undefined && { quotaRenews: renews }),
      };
      return put(key, 'update', { definition, used: 0, renews }, key.used);
    },
    consume(keyID: string, amount: number) {
      const key = live(keyID);
      if (!key) return 'NOT_FOUND';
      const { max, used } = quotaOf(key);
      const state = stateOf(key);
      const rejection = state !== 'ACTIVE' ? state : max !== null && used + amount > max ? 'QUOTA_EXCEEDED' : null;
      if (rejection === null && max !== null) keys.set(keyID, { ...key, ...counter(key), used: used + amount });
      return { allowed: rejection === null, refusal: rejection, quota: quotaOf(keys.get(keyID) ?? key) };
    },
    delete(keyID: string, expected: number | undefined) {
      const key = live(keyID);
      if (!key) return 'NOT_FOUND';
      return stale(key, expected) ? 'CONFLICT' : put(key, 'delete', { deleted: clock.now });
    },
    restore(keyID: string) {
      const key = keys.get(keyID);
      if (key?.deleted === undefined || key.deleted + restoreWindow <= clock.now) return 'NOT_FOUND';
      return put(key, 'restore', { deleted: undefined });
    },
    revert(keyID: string, toVersion: number) {
      const key = live(keyID);
      const definition = key?.history.find(({ version }) => version === toVersion)?.definition;
      if (!key || !definition) return 'NOT_FOUND';
      return replace(key, 'revert', definition);
    },
    purge(now: number) {
      for (const { keyID, deleted } of [...keys.values()]) {
        if (deleted !== undefined && deleted < now - restoreWindow) keys.delete(keyID);
      }
    },
    list({ orderBy, descending, ...filter }: ListQuery): string[] {
      const { orgID, tag, aliasPrefix = '', state, updatedSince = 0, expiresBefore } = filter;
      const found = [...keys.values()].filter(
        (key) =>
          (state === undefined ? key.deleted === undefined : stateOf(key) === state) &&
          (orgID === undefined || key.orgID === orgID) &&
          (tag === undefined || key.definition.tags?.includes(tag)) &&
          (key.definition.alias ?? '').startsWith(aliasPrefix) &&
          key.lastUpdated >= updatedSince &&
          (expiresBefore === undefined || isBetween(key.definition.expires ?? 0, 1, expiresBefore)),
      );
      const placeOf = (key: Key) => {
        const hash = hashOf(key.keyID);
        if (orderBy === 'ALIAS') return `${key.definition.alias ?? ''}\0${hash}`;
        return orderBy === 'KEY_HASH' ? hash : `${String(key.lastUpdated).padStart(15, '0')}\0${hash}`;
      };
      const inOrder = found.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).map(({ keyID }) => keyID);
      return descending ? inOrder.reverse() : inOrder;
    },
  };
}

const isBetween = (value: number, from: number, below: number) => value >= from && value < below;

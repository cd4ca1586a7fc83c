import { requireKey, visibleKey } from '../authorization.js';
import { checkKeyID } from '../key-id.js';
import { aadFor } from '../commands/protect-secrets.js';
import type { CallContext, Ports } from '../ports.js';
import { withLiveQuotas } from '../quota/quota-manager.js';
import { quotaFigures, type QuotaFigures } from '../quota/quota.js';
import { summariseQuotas, type QuotaSummary } from '../quota/quota-summary.js';
import type { ReadBudget } from '../read-budget.js';
import { stateOf, type KeyState, type StoredKey, type KeyRevision } from '../key.js';
import type { HistoryRange, KeyFilter, KeyPage, KeyQuery } from '../key-query.js';

/** A key by its identifier or by its hash. */
export type KeyReference = { readonly keyID: string } | { readonly keyHash: string };

/** See {@link createKeyQueries}. */
export type KeyQueries = ReturnType<typeof createKeyQueries>;

/** The queries. A caller that is bound to an organisation sees the keys of that organisation only. */
export function createKeyQueries({ store, quotas, now, hashKeyID, open }: Ports) {
  const scopedFilter = (caller: CallContext, filter: KeyFilter): KeyFilter | undefined => {
    if (caller.orgID === undefined) return filter;
    return filter.orgID === undefined || filter.orgID === caller.orgID ? { ...filter, orgID: caller.orgID } : undefined;
  };

  const keyHashOf = (keyID: string) => hashKeyID(checkKeyID(keyID));

  return {
    /** Returns the hash of an identifier. @throws {AppError} INVALID when the identifier is not valid. */
    keyHashOf,
    /** Returns the key; undefined if there is none, it is deleted, or another organisation owns it. */
    async orgKey(caller: CallContext, reference: KeyReference): Promise<StoredKey | undefined> {
      const keyHash = 'keyID' in reference ? keyHashOf(reference.keyID) : reference.keyHash;
      return notDeleted(visibleKey(caller, await store.find(keyHash, caller.orgID)));
    },
    /** Returns what `orgKey` returns for each of the hashes, with one query. */
    async orgKeysByHash(caller: CallContext, keyHashes: readonly string[]): Promise<(StoredKey | undefined)[]> {
      const keys = await store.findMany([...new Set(keyHashes)], caller.reads, caller.orgID);
      const found = new Map(keys.map((key) => [key.keyHash, key]));
      return keyHashes.map((keyHash) => notDeleted(visibleKey(caller, found.get(keyHash))));
    },
    /** Returns the key. @throws {AppError} NOT_FOUND when `orgKey` returns none. */
    async requireOrgKey(caller: CallContext, keyID: string): Promise<StoredKey> {
      return requireKey(caller, await store.find(keyHashOf(keyID), caller.orgID));
    },
    /** Returns a page of keys; an empty one if the filter has another organisation than the caller. */
    async orgKeys(caller: CallContext, query: Omit<KeyQuery, 'now'>): Promise<KeyPage> {
      const filter = scopedFilter(caller, query.filter);
      return filter ? store.list({ ...query, filter, now: now() }, caller.reads) : { keys: [], isCut: false };
    },
    async countOrgKeys(caller: CallContext, filter: KeyFilter): Promise<number> {
      const scoped = scopedFilter(caller, filter);
      return scoped ? store.count(scoped, now(), caller.reads) : 0;
    },
    /**
     * Returns the history of a key up to the version that was read.
     *
     * @throws {AppError} NOT_FOUND when the key has been purged since.
     */
    history: (key: StoredKey, range: Omit<HistoryRange, 'asOf'>, reads?: ReadBudget): Promise<KeyRevision[]> =>
      store.historyOf(key.keyHash, { ...range, asOf: key }, reads),
    /** Returns totals of the quotas of each organisation. The caller must have access to all of them. */
    summariseQuotas: (orgIDs: readonly string[], reads?: ReadBudget): Promise<QuotaSummary[]> =>
      summariseQuotas(quotas, orgIDs, now(), reads),
    keyIDOf: (key: StoredKey): string => open(key.sealedKeyID, aadFor(key.keyHash, 'keyID')),
    stateOf: (key: StoredKey): KeyState => stateOf(key, now()),
    /** Returns the live quota if its counter is stored with the key; otherwise undefined. */
    quotaOf(key: StoredKey): QuotaFigures | undefined {
      const quota = quotas.storedQuota(key);
      return quota && quotaFigures({ ...key, quota }, now());
    },
    /** Returns the live quotas of these keys, in their order. @throws {AppError} UNAVAILABLE when they are unreachable. */
    async quotasOf(keys: readonly StoredKey[]): Promise<QuotaFigures[]> {
      return (await withLiveQuotas(quotas, keys)).map((key) => quotaFigures(key, now()));
    },
  };
}

function notDeleted(key: StoredKey | undefined): StoredKey | undefined {
  return key?.deleted === undefined ? key : undefined;
}

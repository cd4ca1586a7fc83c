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

/** A key by its identifier or by the identifier's hash. */
export type KeyReference = { readonly keyID: string } | { readonly keyHash: string };

export type KeyQueries = ReturnType<typeof createKeyQueries>;

/** The use cases that read keys. A caller that is bound to an organisation sees only that organisation's. */
export function createKeyQueries({ store, quotas, now, hashKeyID, open }: Ports) {
  const bound = (caller: CallContext, filter: KeyFilter): KeyFilter | undefined => {
    if (caller.orgID === undefined) return filter;
    return filter.orgID === undefined || filter.orgID === caller.orgID ? { ...filter, orgID: caller.orgID } : undefined;
  };

  const keyHashOf = (keyID: string) => hashKeyID(checkKeyID(keyID));

  return {
    /** The hash by which a key of this identifier is found. Throws INVALID for what no identifier can be. */
    keyHashOf,
    /** Undefined where there is none, it is deleted, or it is not the caller's to see. */
    async orgKey(caller: CallContext, reference: KeyReference): Promise<StoredKey | undefined> {
      const keyHash = 'keyID' in reference ? keyHashOf(reference.keyID) : reference.keyHash;
      return present(visibleKey(caller, await store.find(keyHash, caller.orgID)));
    },
    /** For each of the hashes what `orgKey` answers, with one look into the store for all of them. */
    async orgKeysByHash(caller: CallContext, keyHashes: readonly string[]): Promise<(StoredKey | undefined)[]> {
      const keys = await store.findMany([...new Set(keyHashes)], caller.reads, caller.orgID);
      const found = new Map(keys.map((key) => [key.keyHash, key]));
      return keyHashes.map((keyHash) => present(visibleKey(caller, found.get(keyHash))));
    },
    /** The key, or NOT_FOUND. */
    async requireOrgKey(caller: CallContext, keyID: string): Promise<StoredKey> {
      return requireKey(caller, await store.find(keyHashOf(keyID), caller.orgID));
    },
    /** A page of keys; nothing where the filter asks for another organisation than the caller's. */
    async orgKeys(caller: CallContext, query: Omit<KeyQuery, 'now'>): Promise<KeyPage> {
      const filter = bound(caller, query.filter);
      return filter ? store.list({ ...query, filter, now: now() }, caller.reads) : { keys: [], isCut: false };
    },
    async countOrgKeys(caller: CallContext, filter: KeyFilter): Promise<number> {
      const own = bound(caller, filter);
      return own ? store.count(own, now(), caller.reads) : 0;
    },
    /**
     * The history of a key as of the version that was read, which later changes do not alter.
     *
     * @throws {AppError} NOT_FOUND when the key has been purged since.
     */
    history: (key: StoredKey, range: Omit<HistoryRange, 'asOf'>, reads?: ReadBudget): Promise<KeyRevision[]> =>
      store.historyOf(key.keyHash, { ...range, asOf: key }, reads),
    /** What the quotas of each organisation's keys come to. The caller may see all of these organisations. */
    summariseQuotas: (orgIDs: readonly string[], reads?: ReadBudget): Promise<QuotaSummary[]> =>
      summariseQuotas(quotas, orgIDs, now(), reads),
    keyIDOf: (key: StoredKey): string => open(key.sealedKeyID, aadFor(key.keyHash, 'keyID')),
    stateOf: (key: StoredKey): KeyState => stateOf(key, now()),
    /** The live quota, where it stands in the key itself and need not be asked for elsewhere. */
    quotaOf: (key: StoredKey): QuotaFigures | undefined => (quotas.external ? undefined : quotaFigures(key, now())),
    /** The live quotas of these keys, in their order. UNAVAILABLE where they stand elsewhere and cannot be reached. */
    async quotasOf(keys: readonly StoredKey[]): Promise<QuotaFigures[]> {
      return (await withLiveQuotas(quotas, keys)).map((key) => quotaFigures(key, now()));
    },
  };
}

function present(key: StoredKey | undefined): StoredKey | undefined {
  return key?.deleted === undefined ? key : undefined;
}

import { usable, visible } from './access.js';
import { checkKeyID } from './key-id.js';
import { placeOf } from './keep-secrets.js';
import type { Caller, Ports } from './ports.js';
import { quotaFigures, type QuotaFigures } from './quota.js';
import { stateOf, type KeyState } from './state.js';
import type { AuditEntry, KeyFilter, KeyQuery, StoredKey } from './store.js';

/** A key by its identifier or by the identifier's hash. */
export type KeyReference = { readonly keyID: string } | { readonly keyHash: string };

/** The use cases that read keys. A caller that is bound to an organisation sees only that organisation's. */
export function createReading({ store, now, hashKeyID, open }: Ports) {
  const bound = (caller: Caller, filter: KeyFilter): KeyFilter | undefined => {
    if (caller.orgID === undefined) return filter;
    return filter.orgID === undefined || filter.orgID === caller.orgID ? { ...filter, orgID: caller.orgID } : undefined;
  };

  return {
    /** Undefined where there is none, it is deleted, or it is not the caller's to see. */
    async orgKey(caller: Caller, reference: KeyReference): Promise<StoredKey | undefined> {
      const keyHash = 'keyID' in reference ? hashKeyID(checkKeyID(reference.keyID)) : reference.keyHash;
      const found = visible(caller, await store.find(keyHash));
      return found?.deleted === undefined ? found : undefined;
    },
    /** The key, or NOT_FOUND. */
    async existingOrgKey(caller: Caller, keyID: string): Promise<StoredKey> {
      return usable(caller, await store.find(hashKeyID(checkKeyID(keyID))));
    },
    /** A page of keys; nothing where the filter asks for another organisation than the caller's. */
    async orgKeys(caller: Caller, query: Omit<KeyQuery, 'now'>): Promise<StoredKey[]> {
      const filter = bound(caller, query.filter);
      return filter ? store.list({ ...query, filter, now: now() }) : [];
    },
    async countOrgKeys(caller: Caller, filter: KeyFilter): Promise<number> {
      const own = bound(caller, filter);
      return own ? store.count(own, now()) : 0;
    },
    /** The history of a key that the caller was shown. */
    async history(
      key: StoredKey,
      range: { after?: number; before?: number; last?: boolean; limit?: number },
    ): Promise<AuditEntry[]> {
      return store.auditOf(key.keyHash, range);
    },
    keyIDOf: (key: StoredKey): string => open(key.sealedKeyID, placeOf(key.keyHash, 'keyID')),
    stateOf: (key: StoredKey): KeyState => stateOf(key, now()),
    quotaOf: (key: StoredKey): QuotaFigures => quotaFigures(key, now()),
  };
}

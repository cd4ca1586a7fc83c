import { AppError } from '../../lib/errors.js';
import { withEffectiveQuota } from '../access/effective-access.js';
import { requireKey, requireScope, visibleKey } from '../authorization.js';
import { checkKeyID } from '../key-id.js';
import { openKeyID } from '../protect-secrets.js';
import type { CallContext, Ports } from '../ports.js';
import { withLiveQuotas } from '../quota/external-counters.js';
import { quotaFigures, type QuotaFigures } from '../quota/quota.js';
import { summarizeQuotas, type QuotaSummary } from '../quota/quota-summary.js';
import type { ReadBudget } from '../read-budget.js';
import { stateOf, type KeyState, type StoredKey, type KeyRevision } from '../key.js';
import type { KeyNotice } from '../notices.js';
import { findNamed } from '../find-key.js';
import { isNamedBy } from '../identifiers.js';
import { findEach } from './find-each.js';
import type { HistoryRequest, KeyFilter, KeyPage, KeyQuery, NameQuery, RequestedFilter } from '../key-query.js';

/** How many notices about a key are read. */
const maxNotices = 20;

/** A key by its identifier or by its hash. */
export type KeyReference = { readonly keyID: string } | { readonly keyHash: string };

/** Selects a page of keys, as of now. */
export type PageRequest = Omit<KeyQuery, 'now' | 'filter'> & { readonly filter: RequestedFilter };

const emptyPage = (): KeyPage => ({ keys: [], isCut: false });

/** See {@link createKeyQueries}. */
export type KeyQueries = ReturnType<typeof createKeyQueries>;

/**
 * The queries. A caller that is bound to an organization sees the keys of that organization only. Each query with a caller
 * throws FORBIDDEN if it lacks the scope `read`.
 */
export function createKeyQueries(ports: Ports) {
  const { store, externalCounters, policies, now, hashKeyID, reportError } = ports;
  const keyHashOf = (keyID: string) => hashKeyID(checkKeyID(keyID));

  /** Names the identifiers of the filter by their hashes. @throws {AppError} INVALID when an identifier is not valid. */
  const withHashes = ({ keyIDs, ...filter }: RequestedFilter): KeyFilter =>
    keyIDs === undefined ? filter : { ...filter, identifierHashes: keyIDs.map(keyHashOf) };

  const scopedFilter = (caller: CallContext, requested: RequestedFilter): KeyFilter | undefined => {
    const filter = withHashes(requested);
    if (caller.orgID === undefined) return filter;
    return filter.orgID === undefined || filter.orgID === caller.orgID ? { ...filter, orgID: caller.orgID } : undefined;
  };

  /** Returns a page of keys; an empty one if the filter has another organization than the caller. */
  async function listOrgKeys(caller: CallContext, query: PageRequest): Promise<KeyPage> {
    requireScope(caller, 'read');
    const filter = scopedFilter(caller, query.filter);
    return filter ? store.list({ ...query, filter, now: now() }, caller.reads) : emptyPage();
  }

  /** The keys that have other identifiers than their first with these hashes. */
  async function findRotatedEach(caller: CallContext, hashes: readonly string[]) {
    const names = await store.namesOf(hashes, caller.orgID);
    const keys = await findEach(store, [...names.values()], caller.reads, caller.orgID);
    const found = [...names.keys()].map((hash, index) => [hash, keys[index]] as const);
    return new Map(found.filter(([hash, key]) => key instanceof Error || (key && isNamedBy(key, hash, now()))));
  }

  return {
    /** Returns the hash of an identifier. @throws {AppError} INVALID when the identifier is not valid. */
    keyHashOf(caller: CallContext, keyID: string): string {
      requireScope(caller, 'read');
      return keyHashOf(keyID);
    },
    /**
     * Returns the key; undefined if there is none, or another organization owns it. A deleted key that is not purged is
     * returned with `includeDeleted` only.
     */
    async orgKey(
      caller: CallContext,
      reference: KeyReference,
      { includeDeleted = false }: { readonly includeDeleted?: boolean } = {},
    ): Promise<StoredKey | undefined> {
      requireScope(caller, 'read');
      const isIdentifier = 'keyID' in reference;
      const hash = isIdentifier ? keyHashOf(reference.keyID) : reference.keyHash;
      const key = visibleKey(caller, await findNamed(ports, { hash, isIdentifier }, caller.orgID));
      return includeDeleted ? key : notDeleted(key);
    },
    /** Returns what `orgKey` returns for each of the hashes, with one query; an error for a key that cannot be read. */
    async orgKeysByHash(
      caller: CallContext,
      keyHashes: readonly string[],
      { includeDeleted = false }: { readonly includeDeleted?: boolean } = {},
    ): Promise<(StoredKey | Error | undefined)[]> {
      requireScope(caller, 'read');
      const found = await findEach(store, keyHashes, caller.reads, caller.orgID);
      const missing = keyHashes.filter((_, index) => found[index] === undefined);
      const rotated = missing.length === 0 ? undefined : await findRotatedEach(caller, missing);
      return keyHashes.map((hash, index) => {
        const key = found[index] ?? rotated?.get(hash);
        if (key instanceof Error) return key;
        const visible = visibleKey(caller, key);
        return includeDeleted ? visible : notDeleted(visible);
      });
    },
    /** Returns the key. @throws {AppError} NOT_FOUND when `orgKey` returns none. */
    async requireOrgKey(caller: CallContext, keyID: string): Promise<StoredKey> {
      requireScope(caller, 'read');
      const name = { hash: keyHashOf(keyID), isIdentifier: true };
      return requireKey(caller, await findNamed(ports, name, caller.orgID));
    },
    /**
     * Returns the own hash of the key to follow, also of a deleted one. A hash that names no key stays: there may have been
     * one, or will be.
     *
     * @throws {AppError} NOT_FOUND when there is no key with this identifier that the caller can see.
     */
    async hashToFollow(caller: CallContext, reference: KeyReference): Promise<string> {
      requireScope(caller, 'read');
      const isIdentifier = 'keyID' in reference;
      const hash = isIdentifier ? keyHashOf(reference.keyID) : reference.keyHash;
      if (!isIdentifier && ((await store.namesOf([hash], caller.orgID)).get(hash) ?? hash) === hash) return hash;
      const key = visibleKey(caller, await findNamed(ports, { hash, isIdentifier }, caller.orgID));
      if (key) return key.keyHash;
      if (isIdentifier) throw new AppError('NOT_FOUND', 'There is no such key.');
      return hash;
    },
    listOrgKeys,
    /** Returns the page of `listOrgKeys`, and logs the errors of the keys that cannot be read. */
    async orgKeys(caller: CallContext, query: PageRequest): Promise<KeyPage> {
      const page = await listOrgKeys(caller, query);
      for (const { error } of page.unreadable ?? []) reportError?.(error, caller.requestID);
      return page;
    },
    /** Returns the page of each organization, with one query. The caller must have access to all of them. */
    async orgKeysOfEach(caller: CallContext, orgIDs: readonly string[], query: PageRequest): Promise<KeyPage[]> {
      requireScope(caller, 'read');
      const filter = withHashes(query.filter);
      const { orgID } = filter;
      const wanted = orgID === undefined ? orgIDs : orgIDs.filter((one) => one === orgID);
      const pages = await store.listOfOrgs(wanted, { ...query, filter, now: now() }, caller.reads);
      return orgIDs.map((one) => pages[wanted.indexOf(one)] ?? emptyPage());
    },
    async countOrgKeys(caller: CallContext, filter: RequestedFilter): Promise<number> {
      requireScope(caller, 'read');
      const scoped = scopedFilter(caller, filter);
      return scoped ? store.count(scoped, now(), caller.reads) : 0;
    },
    /** Returns the count of each organization, with one query. The caller must have access to all of them. */
    async countOrgKeysOfEach(
      caller: CallContext,
      orgIDs: readonly string[],
      filter: RequestedFilter,
    ): Promise<number[]> {
      requireScope(caller, 'read');
      const { orgID, ...others } = withHashes(filter);
      const counts = await store.countOfOrgs(orgIDs, others, now(), caller.reads);
      return orgIDs.map((one, index) => (orgID === undefined || one === orgID ? (counts[index] ?? 0) : 0));
    },
    /** Returns the organizations that own keys and that the caller can see. */
    async organizations(caller: CallContext, query: NameQuery): Promise<string[]> {
      requireScope(caller, 'read');
      const { orgID } = caller;
      if (orgID === undefined) return store.organizations(query, caller.reads);
      const isInRange =
        (query.after === undefined || orgID > query.after) && (query.before === undefined || orgID < query.before);
      return isInRange && query.limit > 0 ? [orgID] : [];
    },
    /** Returns the tags of the keys of each organization, with one query. The caller must have access to all of them. */
    async tagsOfEach(caller: CallContext, orgIDs: readonly string[], query: NameQuery): Promise<string[][]> {
      requireScope(caller, 'read');
      return store.tagsOfOrgs(orgIDs, query, caller.reads);
    },
    /**
     * Returns the history of a key up to the version that was read.
     *
     * @throws {AppError} NOT_FOUND when the key has been purged since.
     */
    history: (key: StoredKey, range: HistoryRequest['range'], reads?: ReadBudget): Promise<KeyRevision[]> =>
      store.historyOf(key.keyHash, { ...range, asOf: key }, reads),
    /** Returns what `history` returns for each request, with two queries; an error for a history that cannot be read. */
    histories: (requests: readonly HistoryRequest[], reads?: ReadBudget): Promise<(KeyRevision[] | Error)[]> =>
      store.historiesOf(requests, reads),
    /** Returns the newest notices about each key, newest first; an error for those that cannot be read. */
    noticesOf: (wanted: readonly StoredKey[]): Promise<(KeyNotice[] | Error)[]> => store.noticesOf(wanted, maxNotices),
    /** Returns totals of the quotas of each organization. The caller must have access to all of them. */
    summarizeQuotas: async (orgIDs: readonly string[], reads?: ReadBudget): Promise<QuotaSummary[]> =>
      summarizeQuotas({ store, policies: await policies.current(), externalCounters }, orgIDs, now(), reads),
    /** The identifier; undefined if only its hash is known. */
    keyIDOf: ({ keyHash, sealedKeyID }: StoredKey): string | undefined => openKeyID(ports, keyHash, sealedKeyID),
    /** The identifier of a key that was created or rotated: it is known. */
    newKeyIDOf({ keyHash, sealedKeyID }: StoredKey): string {
      const keyID = openKeyID(ports, keyHash, sealedKeyID);
      if (keyID === undefined) throw new Error('The new identifier of a key is not known.');
      return keyID;
    },
    stateOf: (key: StoredKey): KeyState => stateOf(key, now()),
    /** Returns the live quota if that needs no read; otherwise undefined. */
    quotaOf(key: StoredKey): QuotaFigures | undefined {
      const known = externalCounters ? undefined : policies.cached();
      return known && quotaFigures(withEffectiveQuota(key, known), now());
    },
    /** Returns the live quotas of these keys, in their order. @throws {AppError} UNAVAILABLE when they are unreachable. */
    async quotasOf(keys: readonly StoredKey[]): Promise<QuotaFigures[]> {
      const known = await policies.current();
      const live = await withLiveQuotas(externalCounters, keys);
      return live.map((key) => quotaFigures(withEffectiveQuota(key, known), now()));
    },
  };
}

function notDeleted(key: StoredKey | undefined): StoredKey | undefined {
  return key?.deleted === undefined ? key : undefined;
}

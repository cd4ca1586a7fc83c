import { accessSources, type AccessSources } from '../access/effective-access.js';
import { effectiveChanges } from '../access/effective-view.js';
import { warningsOfPolicies } from '../access/policy-warnings.js';
import { policyHistoryEntry, type PolicyHistoryEntry } from '../access/policy-diff.js';
import type { KnownPolicy, PolicyHistoryRange, PolicySet } from '../access/policy-store.js';
import type { Policy } from '../access/policy.js';
import { canSee, requireAllOrganizations, requireScope } from '../authorization.js';
import { countValues, maxValues } from '../../lib/value-count.js';
import type { FieldChange, StoredKey } from '../key.js';
import type { KeyPosition, KeyQuery } from '../key-query.js';
import type { CallContext, Ports } from '../ports.js';

/** The policies that a caller can see. */
export interface VisiblePolicies {
  /** The version of the set of all policies. */
  readonly version: PolicySet['version'];
  readonly policies: readonly KnownPolicy[];
}

/** A key whose effective access a new version of a policy would change. */
export interface PolicyImpact {
  readonly key: StoredKey;
  readonly changes: readonly FieldChange[];
}

/** A page of keys that a policy would change. */
export interface PolicyImpactPage {
  readonly impacts: readonly PolicyImpact[];
  /** The key that was looked at last, also if it would not change; undefined if there was none. */
  readonly end: string | undefined;
  readonly hasNext: boolean;
}

/** Keys that one request looks at. */
const maxScanned = 1000;
/** Values in the changes of all keys of a page, unless one key has more: about 1 MiB of a response. */
const maxPageValues = 2 * maxValues;
const scanSize = 100;
const maxScanBytes = 4 * 1024 * 1024;

/** The queries about policies. Each throws FORBIDDEN if the caller lacks the scope `read`. */
export function createPolicyQueries({ policies, store, now, nextSlice }: Ports) {
  return {
    /** Returns the policies that keys of the caller may name, in the order of their identifiers. */
    async policies(caller: CallContext): Promise<VisiblePolicies> {
      requireScope(caller, 'read');
      const { version, policies: known } = await policies.currentSet();
      const visible = [...known.values()].filter(({ orgID }) => orgID === undefined || canSee(caller, orgID));
      return { version, policies: visible };
    },
    /** Returns a policy that keys of the caller may name; undefined if there is none. */
    async policy(caller: CallContext, policyID: string): Promise<KnownPolicy | undefined> {
      requireScope(caller, 'read');
      const policy = (await policies.current()).get(policyID);
      return policy && (policy.orgID === undefined || canSee(caller, policy.orgID)) ? policy : undefined;
    },
    /** Returns warnings about policies that are not stored yet, with their indexes in the paths. */
    policyWarnings: (changed: readonly Policy[]) => warningsOfPolicies(changed, nextSlice),
    /**
     * Returns changes of a policy, also of a removed one, oldest first, and the number of its newest version; 0 if there was
     * no such policy. It can return fewer than `limit`, but at least one.
     *
     * @throws {AppError} FORBIDDEN when the caller is bound to an organization: the entries name who manages all of them.
     */
    async policyHistory(
      caller: CallContext,
      policyID: string,
      { after = 0, limit, ...range }: PolicyHistoryRange,
    ): Promise<{ readonly entries: readonly PolicyHistoryEntry[]; readonly newest: number }> {
      requireScope(caller, 'read');
      requireAllOrganizations(caller);
      // An entry shows the difference from the version before it, which is read as well.
      const wanted = { ...range, after: Math.max(after - 1, 0), limit: limit + 1 };
      const { versions, newest } = await policies.historyOf(policyID, wanted);
      const entries: PolicyHistoryEntry[] = [];
      for (const [index, version] of versions.entries()) {
        await nextSlice();
        const before = versions[index - 1];
        if (version.version > after && (before || version.version === 1))
          entries.push(policyHistoryEntry(before, version));
      }
      return { entries: range.last === true ? entries.slice(-limit) : entries.slice(0, limit), newest };
    },
    /** Returns what a key and its policies give access to. */
    accessOf: async (key: StoredKey): Promise<AccessSources> => accessSources(key, await policies.current()),
    /**
     * Returns the keys that the caller can see and whose effective access would change if this were the policy. A page can
     * have fewer keys than `limit`, because one request looks at 1,000 keys and returns 24,000 values.
     */
    async impactOfPolicy(
      caller: CallContext,
      policy: Policy,
      { limit, after }: { readonly limit: number; readonly after: string | undefined },
    ): Promise<PolicyImpactPage> {
      requireScope(caller, 'read');
      const before = await policies.current();
      const changed = new Map([...before, [policy.policyID, policy] as const]);
      const impacts: PolicyImpact[] = [];
      let values = 0;
      let end = after;
      for (let scanned = 0; scanned < maxScanned;) {
        const page = await store.list({ ...queryOf(policy, caller, end), now: now() }, caller.reads);
        for (const key of page.keys) {
          await nextSlice();
          const changes = effectiveChanges(accessSources(key, before), accessSources(key, changed));
          values += countValues(changes);
          const isFull = impacts.length === limit || (impacts.length > 0 && values > maxPageValues);
          if (changes.length > 0 && isFull) return { impacts, end, hasNext: true };
          end = key.keyHash;
          if (changes.length > 0) impacts.push({ key, changes });
        }
        scanned += page.keys.length;
        if (page.keys.length < scanSize && !page.isCut) return { impacts, end, hasNext: false };
      }
      return { impacts, end, hasNext: true };
    },
  };
}

function queryOf({ policyID }: Policy, { orgID }: CallContext, after: string | undefined): Omit<KeyQuery, 'now'> {
  const position: KeyPosition | undefined = after === undefined ? undefined : { value: '', keyHash: after };
  return {
    filter: { policy: policyID, orgID },
    orderBy: 'KEY_HASH',
    descending: false,
    after: position,
    limit: scanSize,
    maxBytes: maxScanBytes,
  };
}

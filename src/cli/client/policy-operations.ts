import * as z from 'zod';
import { parsePolicy, policyFromJSON } from '../../keys/access/policy-definition.js';
import { policyChangeKinds, type PolicyHistoryEntry } from '../../keys/access/policy-diff.js';
import type { KnownPolicy } from '../../keys/access/policy-store.js';
import type { Policy } from '../../keys/access/policy.js';
import type { PolicyChangeResult } from '../../keys/change-policies.js';
import type { VisiblePolicies } from '../../keys/queries/policies.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import type { ClientPlace, LocalPlace, RemotePlace } from './operations.js';
import { ActorResponse, Change, keysOf, nullable, query, withDecimalStrings } from './responses.js';

/** Options of a change of policies. */
export interface PolicyOptions {
  readonly isDryRun: boolean;
  readonly expectedVersion?: number | undefined;
}

/** A change of policies, without the policies themselves. */
export type PolicyChangeOutcome = Pick<PolicyChangeResult, 'version'> & {
  readonly differences: readonly Omit<PolicyChangeResult['differences'][number], 'after'>[];
};

/** The operations of the commands for policies, on the data folder or at a service. */
export interface PolicyClient {
  /** The policies, and the version of all of them. */
  readonly list: () => Promise<VisiblePolicies>;
  readonly put: (
    policies: readonly Policy[],
    options: PolicyOptions & { readonly prune: boolean },
  ) => Promise<PolicyChangeOutcome>;
  readonly remove: (policyIDs: readonly string[], options: PolicyOptions) => Promise<PolicyChangeOutcome>;
  /** The newest changes, newest first; undefined if there was no such policy. */
  readonly history: (policyID: string, limit: number) => Promise<readonly PolicyHistoryEntry[] | undefined>;
  /** The number of keys that name the policy. */
  readonly countKeys: (policyID: string) => Promise<number>;
}

const outcome = 'version changes { policyID kind changes { path kind before after } }';
const actor = 'actor { credentialID label client assertedName }';
const limit = 'rate per throttleInterval throttleRetryLimit quotaMax quotaRemaining quotaRenewalRate';

/** The GraphQL documents. */
export const policyDocuments = {
  list: `query Policies($first: Int!, $after: String) {
    keyPolicies(first: $first, after: $after) { version pageInfo { hasNextPage endCursor } edges { node {
      policyID version changedAt changedBy { credentialID label client assertedName } name orgID isInactive governs
      values { rate per throttleInterval throttleRetryLimit quotaMax quotaRenewalRate maxQueryDepth smoothing { enabled threshold trigger step delay }
        accessRights { label apiID apiName versions allowedUrls { url methods } limit { ${limit} } } } } } } }`,
  put: `mutation PutPolicies($policies: [KeyPolicyInput!]!, $prune: Boolean!, $dryRun: Boolean!, $expectedVersion: Int) {
    change: putKeyPolicies(policies: $policies, prune: $prune, dryRun: $dryRun, expectedVersion: $expectedVersion) { ${outcome} } }`,
  remove: `mutation RemovePolicies($policyIDs: [String!]!, $dryRun: Boolean!, $expectedVersion: Int) {
    change: removeKeyPolicies(policyIDs: $policyIDs, dryRun: $dryRun, expectedVersion: $expectedVersion) { ${outcome} } }`,
  history: `query PolicyHistory($policyID: String!, $last: Int!, $before: String) {
    keyPolicyHistory(policyID: $policyID, last: $last, before: $before) {
      pageInfo { hasPreviousPage startCursor } edges { node { version at kind ${actor} changes { path kind before after } } } } }`,
  count: `query PolicyKeys($policy: String!) { orgKeys(filter: { policy: $policy }, first: 1) { totalCount } }`,
} as const;

const PageInfo = z.object({ hasNextPage: z.boolean(), endCursor: nullable(z.string()) });
const ListResponse = z.object({
  keyPolicies: z.object({
    version: z.number(),
    pageInfo: PageInfo,
    edges: z.array(
      z.object({
        node: z
          .object({
            version: z.number(),
            changedAt: z.string(),
            changedBy: ActorResponse,
            values: z.object({}).loose(),
          })
          .loose(),
      }),
    ),
  }),
});
const OutcomeResponse = z.object({
  change: z
    .object({
      version: z.number(),
      changes: z.array(
        z.object({ policyID: z.string(), kind: z.enum(keysOf(policyChangeKinds)), changes: z.array(Change) }),
      ),
    })
    .transform(({ version, changes: differences }) => ({ version, differences })),
});
const HistoryResponse = z.object({
  keyPolicyHistory: z.object({
    pageInfo: z.object({ hasPreviousPage: z.boolean(), startCursor: nullable(z.string()) }),
    edges: z.array(
      z.object({
        node: z.object({
          version: z.number(),
          at: z.iso.datetime().transform((text) => new Date(text)),
          kind: z.enum(keysOf(policyChangeKinds)),
          actor: ActorResponse,
          changes: z.array(Change),
        }),
      }),
    ),
  }),
});
const CountResponse = z.object({ orgKeys: z.object({ totalCount: z.number() }) });

/** The largest page. */
const maxPage = 100;

/** Makes a client of the domain in this process, or of a service. */
export function bindPolicies(place: ClientPlace): PolicyClient {
  return 'local' in place ? localPolicies(place.local) : remotePolicies(place.remote);
}

function localPolicies({ keys, caller }: LocalPlace): PolicyClient {
  return {
    list: () => keys.policies(caller),
    put: (policies, options) => keys.putPolicies(caller, { policies, ...options }),
    remove: (policyIDs, options) => keys.removePolicies(caller, { policyIDs, ...options }),
    history: (policyID, wanted) =>
      readHistory<number>(wanted, async (size, before) => {
        const { entries } = await keys.policyHistory(caller, policyID, { last: true, limit: size, before });
        return { entries, hasMore: (entries[0]?.version ?? 1) > 1, next: entries[0]?.version };
      }),
    countKeys: (policyID) => keys.countOrgKeys(caller, { policy: policyID }),
  };
}

function remotePolicies({ send }: RemotePlace): PolicyClient {
  return {
    list: () => readAll(send),
    async put(policies, { isDryRun: dryRun, ...options }) {
      const input = policies.map((policy) => withDecimalStrings(policy));
      const variables = { policies: input, dryRun, ...options };
      try {
        return (await query(send, policyDocuments.put, variables, OutcomeResponse)).change;
      } catch (error) {
        if (errorCodeOf(error) !== 'TOO_LARGE') throw error;
        const message = `The policies are too large for one request (128 KiB). Import fewer at once, or import the file where the data folder is.`;
        throw new AppError('TOO_LARGE', message, { cause: error });
      }
    },
    remove: async (policyIDs, { isDryRun: dryRun, ...options }) =>
      (await query(send, policyDocuments.remove, { policyIDs, dryRun, ...options }, OutcomeResponse)).change,
    history: (policyID, wanted) =>
      readHistory<string>(wanted, async (last, before) => {
        const response = await query(send, policyDocuments.history, { policyID, last, before }, HistoryResponse);
        const { edges, pageInfo } = response.keyPolicyHistory;
        const { hasPreviousPage: hasMore, startCursor: next } = pageInfo;
        return { entries: edges.map(({ node }) => node), hasMore, next };
      }),
    countKeys: async (policy) =>
      (await query(send, policyDocuments.count, { policy }, CountResponse)).orgKeys.totalCount,
  };
}

async function listPage(send: RemotePlace['send'], first: number, after: string | undefined) {
  const { keyPolicies } = await query(send, policyDocuments.list, { first, after }, ListResponse);
  return {
    version: keyPolicies.version,
    items: keyPolicies.edges.map(({ node: { version, changedAt, changedBy, values, ...rest } }): KnownPolicy => {
      const policy = parsePolicy(policyFromJSON({ ...rest, ...values }));
      return { ...policy, version, changedAt: new Date(changedAt), changedBy };
    }),
    next: keyPolicies.pageInfo.hasNextPage ? keyPolicies.pageInfo.endCursor : undefined,
  };
}

/** Reads all pages. A page of large policies is read again with fewer, because a response has at most 2 MiB. */
async function readAll(send: RemotePlace['send']): Promise<VisiblePolicies> {
  const policies: KnownPolicy[] = [];
  let after: string | undefined;
  for (let size = maxPage; ;) {
    try {
      const { items, next, version } = await listPage(send, size, after);
      policies.push(...items);
      if (next === undefined) return { version, policies };
      after = next;
    } catch (error) {
      if (errorCodeOf(error) !== 'TOO_LARGE' || size === 1) throw error;
      size = Math.ceil(size / 4);
    }
  }
}

/** Reads pages backwards until there are as many entries as wanted. */
async function readHistory<Cursor>(
  wanted: number,
  read: (
    size: number,
    before: Cursor | undefined,
  ) => Promise<{ entries: readonly PolicyHistoryEntry[]; hasMore: boolean; next: Cursor | undefined }>,
): Promise<readonly PolicyHistoryEntry[] | undefined> {
  const all: PolicyHistoryEntry[] = [];
  let before: Cursor | undefined;
  do {
    const { entries, hasMore, next } = await read(Math.min(wanted - all.length, maxPage), before);
    all.push(...entries.toReversed());
    before = hasMore && entries.length > 0 ? next : undefined;
  } while (before !== undefined && all.length < wanted);
  return all.length === 0 ? undefined : all;
}

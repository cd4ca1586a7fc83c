import {
  PoliciesDocument,
  PolicyNamesDocument,
  type Client,
  type PoliciesQuery,
  type PolicyNamesQuery,
} from '../../client/client.js';
import { required } from '../results.js';
import { policiesText } from './strings.js';

type Edges = NonNullable<NonNullable<PoliciesQuery['keyPolicies']>['edges']>;

/** A policy with all its values. */
export type PolicyDetails = NonNullable<NonNullable<Edges[number]>['node']>;

/** A policy in the list of names. */
export interface PolicyName {
  readonly policyID: string;
  readonly orgID: string | null;
  /** The cursor of the policy before it; null if it is the first. */
  readonly after: string | null;
}

/** Reads the names of the policies that the credential can see, in pages of 100. There are 1,000 at most. */
export async function* policyNames(client: Client, signal?: AbortSignal): AsyncGenerator<PolicyName> {
  let after: string | null = null;
  for (let hasNext = true; hasNext;) {
    const page = await readNames(client, after, signal);
    for (const edge of page.edges ?? []) {
      if (!edge?.node) continue;
      yield { ...edge.node, after };
      after = edge.cursor;
    }
    hasNext = page.pageInfo.hasNextPage;
  }
}

async function readNames(
  client: Client,
  after: string | null,
  signal: AbortSignal | undefined,
): Promise<NonNullable<PolicyNamesQuery['keyPolicies']>> {
  const { data, errors } = await client.send(PolicyNamesDocument, { after }, { signal });
  return required(data.keyPolicies, errors, policiesText.notFound);
}

/**
 * Reads a policy.
 *
 * @throws {KeyfrontError} NOT_FOUND if there is no policy with this identifier
 */
export async function readPolicy(client: Client, policyID: string, signal?: AbortSignal): Promise<PolicyDetails> {
  let found: PolicyDetails | null | undefined;
  for await (const name of policyNames(client, signal)) {
    if (name.policyID !== policyID) continue;
    const { data } = await client.send(PoliciesDocument, { first: 1, after: name.after }, { signal });
    found = data.keyPolicies?.edges?.[0]?.node;
    break;
  }
  // Another policy, if this one was removed meanwhile.
  return required(found?.policyID === policyID ? found : undefined, [], policiesText.notFound);
}

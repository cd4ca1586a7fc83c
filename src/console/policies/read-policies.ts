import {
  PolicyDocument,
  PolicyNamesDocument,
  type Client,
  type PolicyNamesQuery,
  type PolicyQuery,
} from '../../client/client.js';
import { nodesOf, required } from '../results.js';
import { policiesText } from './strings.js';

/** A policy with all its values. */
export type PolicyDetails = NonNullable<PolicyQuery['keyPolicy']>;

/** A policy in the list of names. */
export interface PolicyName {
  readonly policyID: string;
  readonly orgID: string | null;
}

/** Reads the names of the policies that the credential can see, in pages of 100. There are 1,000 at most. */
export async function* policyNames(client: Client, signal?: AbortSignal): AsyncGenerator<PolicyName> {
  let after: string | null = null;
  for (let hasNext = true; hasNext;) {
    const page = await readNames(client, after, signal);
    yield* nodesOf(page);
    hasNext = page.pageInfo.hasNextPage;
    after = page.pageInfo.endCursor;
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
  const { data, errors } = await client.send(PolicyDocument, { policyID }, { signal });
  return required(data.keyPolicy, errors, policiesText.notFound);
}

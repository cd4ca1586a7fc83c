import { OrganizationsDocument, OrgKeySuggestionsDocument, type Client } from '../client/client.js';
import { policyNames, type PolicyName } from './policies/read-policies.js';
import { nodesOf } from './results.js';

/** Values in use, which a field suggests: of the 100 keys that changed last, up to 100 organizations, and all policies. */
export interface Suggestions {
  readonly organizations: readonly string[];
  readonly tags: readonly string[];
  /** The imported policies that keys of the organization may name; those in use if none is imported. */
  readonly policies: readonly string[];
  /** Whether any policy is imported: then one that is not among `policies` is unknown. */
  readonly arePoliciesKnown: boolean;
  readonly apis: readonly string[];
}

/** No suggestions. */
export const noSuggestions: Suggestions = {
  organizations: [],
  tags: [],
  policies: [],
  arePoliciesKnown: false,
  apis: [],
};

/** Reads the values in use: those of one organization, or of all. An error is an absence of suggestions. */
export async function readSuggestions(client: Client, orgID: string | undefined): Promise<Suggestions> {
  const [keys, organizations, imported] = await Promise.allSettled([
    client.send(OrgKeySuggestionsDocument, { filter: orgID === undefined ? {} : { orgID } }),
    client.send(OrganizationsDocument, { first: 100 }),
    importedPolicies(client),
  ]);
  const definitions =
    keys.status === 'fulfilled' ? nodesOf(keys.value.data.orgKeys).flatMap(({ definition }) => definition ?? []) : [];
  const known = imported.status === 'fulfilled' ? imported.value : [];
  const usable = known.filter((policy) => orgID === undefined || policy.orgID === null || policy.orgID === orgID);
  const distinct = (values: readonly string[]) => [...new Set(values)].sort((one, other) => one.localeCompare(other));
  return {
    organizations:
      organizations.status === 'fulfilled' ? nodesOf(organizations.value.data.organizations).map(({ id }) => id) : [],
    tags: distinct(definitions.flatMap(({ tags }) => tags ?? [])),
    policies:
      known.length > 0
        ? usable.map(({ policyID }) => policyID)
        : distinct(definitions.flatMap(({ applyPolicies }) => applyPolicies ?? [])),
    arePoliciesKnown: known.length > 0,
    apis: distinct(
      definitions.flatMap(({ accessRights }) => (accessRights ?? []).map(({ apiID, label }) => apiID ?? label)),
    ),
  };
}

async function importedPolicies(client: Client): Promise<PolicyName[]> {
  const found: PolicyName[] = [];
  for await (const policy of policyNames(client)) found.push(policy);
  return found;
}

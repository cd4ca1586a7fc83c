import { OrganizationsDocument, OrgKeySuggestionsDocument, type Client } from '../client/client.js';
import { policyNames } from './policies/read-policies.js';

/** Values in use, which a field suggests: of the 100 keys that changed last, up to 100 organizations, and all policies. */
export interface Suggestions {
  readonly organizations: readonly string[];
  readonly tags: readonly string[];
  /** The imported policies that keys of the organization may name; those in use if none is imported. */
  readonly policies: readonly string[];
  readonly apis: readonly string[];
}

/** No suggestions. */
export const noSuggestions: Suggestions = { organizations: [], tags: [], policies: [], apis: [] };

/** Reads the values in use: those of one organization, or of all. An error is an absence of suggestions. */
export async function readSuggestions(client: Client, orgID: string | undefined): Promise<Suggestions> {
  const [keys, organizations, imported] = await Promise.allSettled([
    client.send(OrgKeySuggestionsDocument, { filter: orgID === undefined ? {} : { orgID } }),
    client.send(OrganizationsDocument, { first: 100 }),
    policiesFor(client, orgID),
  ]);
  const definitions =
    keys.status === 'fulfilled'
      ? (keys.value.data.orgKeys?.edges ?? []).flatMap((edge) => edge?.node?.definition ?? [])
      : [];
  const policies = imported.status === 'fulfilled' ? imported.value : [];
  const distinct = (values: readonly string[]) => [...new Set(values)].sort((one, other) => one.localeCompare(other));
  return {
    organizations:
      organizations.status === 'fulfilled'
        ? (organizations.value.data.organizations?.edges ?? []).flatMap((edge) => edge?.node?.id ?? [])
        : [],
    tags: distinct(definitions.flatMap(({ tags }) => tags ?? [])),
    policies:
      policies.length > 0 ? policies : distinct(definitions.flatMap(({ applyPolicies }) => applyPolicies ?? [])),
    apis: distinct(
      definitions.flatMap(({ accessRights }) => (accessRights ?? []).map(({ apiID, label }) => apiID ?? label)),
    ),
  };
}

async function policiesFor(client: Client, orgID: string | undefined): Promise<string[]> {
  const found: string[] = [];
  for await (const policy of policyNames(client)) {
    if (orgID === undefined || policy.orgID === null || policy.orgID === orgID) found.push(policy.policyID);
  }
  return found;
}

import { OrganizationsDocument, OrgKeySuggestionsDocument, type Client } from '../client/client.js';

/** Values in use, which a field suggests: of the 100 keys that changed last, and up to 100 organizations. */
export interface Suggestions {
  readonly organizations: readonly string[];
  readonly tags: readonly string[];
  readonly policies: readonly string[];
  readonly apis: readonly string[];
}

/** No suggestions. */
export const noSuggestions: Suggestions = { organizations: [], tags: [], policies: [], apis: [] };

/** Reads the values in use: those of one organization, or of all. An error is an absence of suggestions. */
export async function readSuggestions(client: Client, orgID: string | undefined): Promise<Suggestions> {
  const [keys, organizations] = await Promise.allSettled([
    client.send(OrgKeySuggestionsDocument, { filter: orgID === undefined ? {} : { orgID } }),
    client.send(OrganizationsDocument, { first: 100 }),
  ]);
  const definitions =
    keys.status === 'fulfilled'
      ? (keys.value.data.orgKeys?.edges ?? []).flatMap((edge) => edge?.node?.definition ?? [])
      : [];
  const distinct = (values: readonly string[]) => [...new Set(values)].sort((one, other) => one.localeCompare(other));
  return {
    organizations:
      organizations.status === 'fulfilled'
        ? (organizations.value.data.organizations?.edges ?? []).flatMap((edge) => edge?.node?.id ?? [])
        : [],
    tags: distinct(definitions.flatMap(({ tags }) => tags ?? [])),
    policies: distinct(definitions.flatMap(({ applyPolicies }) => applyPolicies ?? [])),
    apis: distinct(
      definitions.flatMap(({ accessRights }) => (accessRights ?? []).map(({ apiID, label }) => apiID ?? label)),
    ),
  };
}

import type { PreviewKeyInput } from '../../client/client.js';

type JSONMembers = Readonly<Record<string, unknown>>;

/** Fields of free-form JSON, whose members are not renamed. */
const freeForm: readonly string[] = ['metaData', 'oauthKeys'];

/** Converts a definition with the names of REST or of GraphQL to an input. Returns undefined if it is not an object. */
export function toPreviewInput(definition: unknown): PreviewKeyInput | undefined {
  return isMembers(definition) ? (withGraphQLNames(definition) as PreviewKeyInput) : undefined;
}

function isMembers(value: unknown): value is JSONMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withGraphQLNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withGraphQLNames);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const renamed = graphQLName(name);
      if (freeForm.includes(renamed)) return [renamed, member];
      // REST has an object with a member for each label; GraphQL has a list.
      const isMap = renamed === 'accessRights' && isMembers(member);
      return [renamed, withGraphQLNames(isMap ? listOf(member) : member)];
    }),
  );
}

/** Returns the entries that are not null: as in REST, null is the same as an absent entry. */
function listOf(rights: JSONMembers): unknown[] {
  const entries = Object.entries(rights).filter(([, right]) => right !== null);
  return entries.map(([label, right]) => (isMembers(right) ? { ...right, label } : right));
}

/** Returns the name in GraphQL, such as `apiID` for `api_id`. */
function graphQLName(name: string): string {
  return name.includes('_')
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()).replace(/Id$/, 'ID')
    : name;
}

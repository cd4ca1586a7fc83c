import type { PreviewKeyInput } from '../../client/client.js';
import { freeFormFields } from '../../client/generated/definition-fields.js';
import { graphQLNames, labeledLists } from '../generated/rest-names.js';

type JSONMembers = Readonly<Record<string, unknown>>;

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
      const renamed = graphQLNames.get(name) ?? name;
      // The members of free-form JSON are not renamed.
      if (freeFormFields.has(renamed)) return [renamed, member];
      // REST has an object with a member for each label; GraphQL has a list.
      const isMap = labeledLists.has(renamed) && isMembers(member);
      return [renamed, withGraphQLNames(isMap ? listOf(member) : member)];
    }),
  );
}

/** Returns the entries that are not null: as in REST, null is the same as an absent entry. */
function listOf(rights: JSONMembers): unknown[] {
  const entries = Object.entries(rights).filter(([, right]) => right !== null);
  return entries.map(([label, right]) => (isMembers(right) ? { ...right, label } : right));
}

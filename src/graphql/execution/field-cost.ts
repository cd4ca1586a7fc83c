import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLField } from 'graphql';
import { pageSizes } from '../schema/pagination.js';

/*
 * The weights of fields and the sizes of pages. The cost limit and the directives @cost and @listSize of the subgraph are
 * derived from these tables.
 */

type Field = GraphQLField<unknown, unknown>;

/** Fields that cost more than 1, because they read more than their own value. */
export const fieldWeights: ReadonlyMap<string, number> = new Map([
  ['OrgKey.notices', 10],
  ['OrgKeyConnection.totalCount', 10],
  ['OrgKey.usage', 10],
  ['Organization.keyTags', 10],
  ['Organization.keyUsage', 10],
  ['Organization.quotaSummary', 10],
]);

/** A mutation is a transaction with a disk sync. */
const mutationWeight = 10;

/** The cost of a field without its selections. */
export function weightOf(typeName: string, fieldName: string): number {
  return fieldWeights.get(`${typeName}.${fieldName}`) ?? (typeName === 'Mutation' ? mutationWeight : 1);
}

/** The page sizes of a paginated field. */
export interface ListSize {
  /** The arguments that set the number of items. */
  readonly slicingArguments: readonly string[];
  /** The number of items without such an argument. */
  readonly defaultSize: number;
  /** The number of items at which an argument is capped. */
  readonly maxSize: number;
  /** The lists of the returned page. */
  readonly sizedFields: readonly string[];
}

const listSizes = new WeakMap<Field, ListSize | false>();

/** Returns the page sizes of a field that takes `first`; undefined for all other fields. */
export function listSizeOf(field: Field): ListSize | undefined {
  let size = listSizes.get(field);
  if (size === undefined) listSizes.set(field, (size = readListSize(field) ?? false));
  return size || undefined;
}

function readListSize(field: Field): ListSize | undefined {
  if (!field.args.some(({ name }) => name === 'first')) return undefined;
  const slicingArguments = field.args.flatMap(({ name }) => (name === 'first' || name === 'last' ? [name] : []));
  const page = getNamedType(field.type);
  const inner = isObjectType(page) ? Object.values(page.getFields()) : [];
  const sizedFields = inner.filter(({ type }) => isListType(getNullableType(type))).map(({ name }) => name);
  return { slicingArguments, ...(field.extensions.pageSizes ?? pageSizes), sizedFields };
}

import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLField } from 'graphql';
import { pageSizes } from '../schema/pagination.js';

/*
 * What fields cost. The limit of an operation and the directives @cost and @listSize of the subgraph are derived from these
 * tables, so that a router estimates the same sizes.
 */

type Field = GraphQLField<unknown, unknown>;

/** Fields that cost more than 1, because they read more than their own value. */
export const fieldWeights: ReadonlyMap<string, number> = new Map([
  ['OrgKeyConnection.totalCount', 10],
  ['Organization.quotaSummary', 10],
]);

/** A mutation is a transaction with a disk sync. */
const mutationWeight = 10;

/** The cost of a field without its selections. */
export function weightOf(typeName: string, fieldName: string): number {
  return fieldWeights.get(`${typeName}.${fieldName}`) ?? (typeName === 'Mutation' ? mutationWeight : 1);
}

/** How a paginated field is sized. */
export interface ListSize {
  /** The arguments with the number of items. */
  readonly slicingArguments: readonly string[];
  /** The number of items without such an argument. */
  readonly defaultSize: number;
  /** The number of items above which an argument is capped. */
  readonly maxSize: number;
  /** The lists of the returned page. */
  readonly sizedFields: readonly string[];
}

/** How a field is sized that takes `first`; undefined for all others. */
export function listSizeOf(field: Field): ListSize | undefined {
  if (!field.args.some(({ name }) => name === 'first')) return undefined;
  const slicingArguments = field.args.flatMap(({ name }) => (name === 'first' || name === 'last' ? [name] : []));
  const page = getNamedType(field.type);
  const inner = isObjectType(page) ? Object.values(page.getFields()) : [];
  const sizedFields = inner.filter(({ type }) => isListType(getNullableType(type))).map(({ name }) => name);
  return { slicingArguments, ...(field.extensions.pageSizes ?? pageSizes), sizedFields };
}

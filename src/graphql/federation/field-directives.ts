import type { GraphQLField, GraphQLSchema } from 'graphql';
import { listSizeOf, weightOf } from '../execution/field-cost.js';
import { entities } from './entities.js';

/** A directive of a subgraph, with its arguments. */
export interface SubgraphDirective {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The directives of a type. `PageInfo` is shareable: every subgraph with connections has it. */
export function directivesOfType(typeName: string): SubgraphDirective[] {
  if (typeName === 'PageInfo') return [{ name: 'shareable' }];
  const keys = entities.get(typeName)?.keys ?? [];
  return keys.map((fields) => ({ name: 'key', args: { fields } }));
}

/** The directives of a field. */
export function directivesOfField(
  schema: GraphQLSchema,
  typeName: string,
  field: GraphQLField<unknown, unknown>,
): SubgraphDirective[] {
  const { isCompatibility, isSensitive, isShareable } = field.extensions;
  const tags = [...tagsOf(schema, typeName), ...(isSensitive ? ['keyfront-sensitive'] : [])];
  const weight = weightOf(typeName, field.name);
  const size = listSizeOf(field);
  return [
    ...(isShareable ? [{ name: 'shareable' }] : []),
    ...(isCompatibility ? [{ name: 'inaccessible' }] : []),
    ...tags.map((name) => ({ name: 'tag', args: { name } })),
    ...(weight === 1 ? [] : [{ name: 'cost', args: { weight } }]),
    ...(size ? [{ name: 'listSize', args: listSizeArguments(size) }] : []),
  ];
}

/** Tags root fields as reading or writing: contracts of a supergraph include or exclude fields by tag. */
function tagsOf(schema: GraphQLSchema, typeName: string): string[] {
  if (typeName === schema.getMutationType()?.name) return ['keyfront-write'];
  const readers = [schema.getQueryType()?.name, schema.getSubscriptionType()?.name];
  return readers.includes(typeName) ? ['keyfront-read'] : [];
}

function listSizeArguments({ defaultSize, slicingArguments, sizedFields }: NonNullable<ReturnType<typeof listSizeOf>>) {
  return { assumedSize: defaultSize, slicingArguments, sizedFields, requireOneSlicingArgument: false };
}

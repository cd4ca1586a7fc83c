import type { GraphQLField, GraphQLSchema } from 'graphql';
import { listSizeOf, weightOf } from '../execution/field-cost.js';
import { entities } from './entities.js';

/** A directive of a subgraph, with its arguments. */
export interface SubgraphDirective {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The scope that a router requires for each kind of credential, in the subgraph with scopes. */
export const scopes = { management: 'keyfront:management', service: 'keyfront:service' } as const;

/** Fields for compatibility with the REST key API. Supergraphs do not show them. */
const compatibilityFields: ReadonlySet<string> = new Set([
  'KeyPreview.apiModel',
  'OrgKeyUpdate.action',
  'OrgKeyUpdate.key',
  'OrgKeyUpdate.status',
]);

/** Fields that may contain a secret, such as a key identifier or free-form data. */
const sensitiveFields: ReadonlySet<string> = new Set([
  'KeyDefinition.keyID',
  'KeyDefinition.metaData',
  'KeyDefinition.oauthKeys',
  'KeyFieldChange.after',
  'KeyFieldChange.before',
  'KeyPreview.keyID',
  'OrgKey.keyID',
]);

/** The fields that another subgraph may also resolve, if it knows the owner of a key. */
const shareableFields: ReadonlySet<string> = new Set(['OrgKey.orgID']);

/** The fields that this subgraph adds to `Organization`. They require a service credential. */
const serviceFields: ReadonlySet<string> = new Set(['Organization.orgKeys', 'Organization.quotaSummary']);

/** The directives of a type. `PageInfo` is shareable: every subgraph with connections has it. */
export function directivesOfType(typeName: string, withScopes: boolean): SubgraphDirective[] {
  if (typeName === 'PageInfo') return [{ name: 'shareable' }];
  const keys = entities.get(typeName)?.keys ?? [];
  return [
    ...keys.map((fields) => ({ name: 'key', args: { fields } })),
    ...(withScopes && typeName === 'OrgKey' ? [requiresScope('service')] : []),
  ];
}

/** The directives of a field. */
export function directivesOfField(
  schema: GraphQLSchema,
  typeName: string,
  field: GraphQLField<unknown, unknown>,
  withScopes: boolean,
): SubgraphDirective[] {
  const coordinate = `${typeName}.${field.name}`;
  const { credential } = field.extensions;
  const requiredScope = credential ?? (serviceFields.has(coordinate) ? 'service' : undefined);
  const tags = [...tagsOf(schema, typeName), ...(sensitiveFields.has(coordinate) ? ['keyfront-sensitive'] : [])];
  const weight = weightOf(typeName, field.name);
  const size = listSizeOf(field);
  return [
    ...(shareableFields.has(coordinate) ? [{ name: 'shareable' }] : []),
    ...(compatibilityFields.has(coordinate) ? [{ name: 'inaccessible' }] : []),
    ...tags.map((name) => ({ name: 'tag', args: { name } })),
    ...(weight === 1 ? [] : [{ name: 'cost', args: { weight } }]),
    ...(size ? [{ name: 'listSize', args: listSizeArguments(size) }] : []),
    ...(withScopes && requiredScope ? [requiresScope(requiredScope)] : []),
  ];
}

function requiresScope(credential: keyof typeof scopes): SubgraphDirective {
  return { name: 'requiresScopes', args: { scopes: [[scopes[credential]]] } };
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

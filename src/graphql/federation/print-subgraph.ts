import {
  Kind,
  parse,
  parseConstValue,
  print,
  printSchema,
  visit,
  type ConstDirectiveNode,
  type DefinitionNode,
  type GraphQLSchema,
  type ObjectTypeDefinitionNode,
} from 'graphql';
import { entities } from './entities.js';

const link = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])';

/** Types and fields that routers add to every subgraph themselves. */
const routerDefinitions: readonly string[] = ['_Any', '_Entity', '_Service', '_entities', '_service'];

/** Shared types and fields. Their descriptions are omitted: composition warns when two subgraphs describe one differently. */
const sharedFields: Readonly<Record<string, readonly string[]>> = {
  Query: [],
  Mutation: [],
  Subscription: [],
  Organization: ['id'],
  PageInfo: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
};

/**
 * Prints the subgraph in SDL, for composition. Omits `node`, which one subgraph must implement for all types of the
 * supergraph; `OrgKey` is an entity by `id` for it.
 */
export function printSubgraph(subgraph: GraphQLSchema): string {
  const document = visit(parse(printSchema(subgraph)), {
    // Without @specifiedBy: composition warns when subgraphs differ in it.
    ScalarTypeDefinition: (type) => (routerDefinitions.includes(type.name.value) ? null : { ...type, directives: [] }),
    UnionTypeDefinition: ({ name }) => (routerDefinitions.includes(name.value) ? null : undefined),
    ObjectTypeDefinition: (type) => (routerDefinitions.includes(type.name.value) ? null : toSubgraphType(type)),
  });
  const definitions = document.definitions.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return `${link}\n\n${print({ ...document, definitions })}`;
}

function nameOf(definition: DefinitionNode): string {
  return 'name' in definition ? (definition.name?.value ?? '') : '';
}

function toSubgraphType(type: ObjectTypeDefinitionNode): ObjectTypeDefinitionNode {
  const { value: name } = type.name;
  const shared = sharedFields[name];
  const fields = (type.fields ?? [])
    .filter((field) => name !== 'Query' || !['node', ...routerDefinitions].includes(field.name.value))
    .map((field) => (shared?.includes(field.name.value) ? withoutDescription(field) : field))
    .map((field) => (name === 'OrgKey' && field.name.value === 'orgID' ? asShareable(field) : field));
  return { ...(shared ? withoutDescription(type) : type), fields, directives: directivesOf(name) };
}

/** A subgraph that knows the organisation of a key may return it, or provide it. */
function asShareable<Node extends { readonly directives?: readonly ConstDirectiveNode[] | undefined }>(
  field: Node,
): Node {
  return { ...field, directives: [...(field.directives ?? []), directive('shareable')] };
}

/** `PageInfo` is shareable: every subgraph with connections has it. */
function directivesOf(typeName: string): ConstDirectiveNode[] {
  if (typeName === 'PageInfo') return [directive('shareable')];
  return (entities.get(typeName)?.keys ?? []).map((fields) => directive('key', { fields }));
}

function directive(name: string, args: Readonly<Record<string, string>> = {}): ConstDirectiveNode {
  return {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: name },
    arguments: Object.entries(args).map(([argument, value]) => ({
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: argument },
      value: parseConstValue(JSON.stringify(value)),
    })),
  };
}

function withoutDescription<Node extends { readonly description?: unknown }>({ description: _, ...node }: Node) {
  return node;
}

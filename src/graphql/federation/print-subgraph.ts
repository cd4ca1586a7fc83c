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

/** What only routers ask for, and add to every subgraph themselves. */
const routersOwn: readonly string[] = ['_Any', '_Entity', '_Service', '_entities', '_service'];

/** Types that other subgraphs have too, and of these the fields: theirs are the words, two descriptions of one thing being a hint. */
const describedElsewhere: Readonly<Record<string, readonly string[]>> = {
  Query: [],
  Mutation: [],
  Subscription: [],
  Organization: ['id'],
  PageInfo: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
};

/**
 * The subgraph in SDL, for composition. It leaves out `node`: in a graph of many subgraphs each would answer it for its
 * own types only, so that it belongs to one that hands identifiers on; `OrgKey` is an entity by `id` for it.
 */
export function printSubgraph(subgraph: GraphQLSchema): string {
  const document = visit(parse(printSchema(subgraph)), {
    // Where a scalar is specified is not said here, because composition has a hint for subgraphs that differ in it.
    ScalarTypeDefinition: (type) => (routersOwn.includes(type.name.value) ? null : { ...type, directives: [] }),
    UnionTypeDefinition: ({ name }) => (routersOwn.includes(name.value) ? null : undefined),
    ObjectTypeDefinition: (type) => (routersOwn.includes(type.name.value) ? null : asPartOfAGraph(type)),
  });
  const definitions = document.definitions.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return `${link}\n\n${print({ ...document, definitions })}`;
}

function nameOf(definition: DefinitionNode): string {
  return 'name' in definition ? (definition.name?.value ?? '') : '';
}

function asPartOfAGraph(type: ObjectTypeDefinitionNode): ObjectTypeDefinitionNode {
  const { value: name } = type.name;
  const shared = describedElsewhere[name];
  const fields = (type.fields ?? [])
    .filter((field) => name !== 'Query' || !['node', ...routersOwn].includes(field.name.value))
    .map((field) => (shared?.includes(field.name.value) ? withoutDescription(field) : field));
  return { ...(shared ? withoutDescription(type) : type), fields, directives: directivesOf(name) };
}

/** Every subgraph that has lists brings the same `PageInfo`. */
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

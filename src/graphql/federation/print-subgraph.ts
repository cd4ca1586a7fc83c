import {
  isObjectType,
  Kind,
  parse,
  parseConstValue,
  print,
  printSchema,
  visit,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type ObjectTypeDefinitionNode,
} from 'graphql';
import { directivesOfField, directivesOfType, type SubgraphDirective } from './field-directives.js';

/** The lowest version of the specification that has all of the directives: @cost and @listSize are of 2.9. */
const federation = 'https://specs.apollo.dev/federation/v2.9';

/** Types and fields that routers add to every subgraph themselves. */
const routerDefinitions: readonly string[] = ['_Any', '_Entity', '_Service', '_entities', '_service'];

/**
 * Types and fields that the company owns as well. Their descriptions are omitted: composition warns when two subgraphs
 * describe one differently, and may take ours. Scalars are described, so that a scalar of another meaning is noticed.
 */
const sharedFields: Readonly<Record<string, readonly string[]>> = {
  Mutation: [],
  Node: ['id'],
  Organization: ['id'],
  PageInfo: ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'],
  Query: [],
  Subscription: [],
};

/**
 * Prints the subgraph in SDL, for composition. Omits `node`, which one subgraph must implement for all types of the
 * supergraph; `OrgKey` is an entity by `id` for it. Omits root fields whose names the company owns.
 */
export function printSubgraph(subgraph: GraphQLSchema): string {
  const isRouterDefinition = ({ name }: { readonly name: { readonly value: string } }) =>
    routerDefinitions.includes(name.value);
  const document = visit(parse(printSchema(subgraph)), {
    // Contains only a description, which would describe the supergraph.
    SchemaDefinition: () => null,
    // Without @specifiedBy: composition warns when subgraphs differ in it.
    ScalarTypeDefinition: (type) =>
      isRouterDefinition(type) ? null : { ...withoutSharedDescription(type), directives: [] },
    InterfaceTypeDefinition: (type) => ({
      ...withoutSharedDescription(type),
      fields: fieldsOf(type).map(withoutSharedFieldDescription(type)),
    }),
    // Without @oneOf, which Apollo's composition does not support. The service still requires exactly one field.
    InputObjectTypeDefinition: (type) => ({ ...type, directives: [] }),
    UnionTypeDefinition: (type) => (isRouterDefinition(type) ? null : undefined),
    ObjectTypeDefinition: (type) => (isRouterDefinition(type) ? null : toSubgraphType(subgraph, type)),
  });
  const used = usedTypes(document);
  const definitions = document.definitions
    .filter((definition) => used.has(nameOf(definition)))
    .toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  return `${linkTo(definitions)}\n\n${print({ ...document, definitions })}`;
}

/** The names of the types that the root fields and the entities use: the others belong to omitted root fields. */
function usedTypes({ definitions }: DocumentNode): Set<string> {
  const used = new Set<string>();
  const add = (name: string) => {
    if (used.has(name)) return;
    used.add(name);
    for (const definition of definitions) {
      const isOf = nameOf(definition) === name || interfacesOf(definition).includes(name);
      if (!isOf) continue;
      add(nameOf(definition));
      visit(definition, { NamedType: (type) => add(type.name.value) });
    }
  };
  for (const name of ['Query', 'Mutation', 'Subscription']) add(name);
  for (const definition of definitions) {
    if ('directives' in definition && definition.directives?.some((one) => one.name.value === 'key'))
      add(nameOf(definition));
  }
  return used;
}

function interfacesOf(definition: DefinitionNode): string[] {
  return 'interfaces' in definition ? (definition.interfaces ?? []).map((type) => type.name.value) : [];
}

/** Returns the directive `@link`, which imports the directives of the specification that are used. */
function linkTo(definitions: readonly DefinitionNode[]): string {
  const used = new Set<string>();
  const Directive = ({ name }: DirectiveNode) => void used.add(`"@${name.value}"`);
  for (const definition of definitions) visit(definition, { Directive });
  const imports = [...used].filter((name) => !builtInDirectives.has(name)).toSorted();
  return `extend schema @link(url: "${federation}", import: [${imports.join(', ')}])`;
}

const builtInDirectives: ReadonlySet<string> = new Set(['"@deprecated"', '"@specifiedBy"']);

function nameOf(definition: DefinitionNode): string {
  return 'name' in definition ? (definition.name?.value ?? '') : '';
}

function toSubgraphType(schema: GraphQLSchema, node: ObjectTypeDefinitionNode): ObjectTypeDefinitionNode {
  const { value: name } = node.name;
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`The schema has no object type ${name}.`);
  const declared = type.getFields();
  const fields = fieldsOf(node)
    .filter((field) => name !== 'Query' || !['node', ...routerDefinitions].includes(field.name.value))
    .filter((field) => !declared[field.name.value]?.extensions.isOutsideSubgraph)
    .map(withoutSharedFieldDescription(node))
    .map((field) => {
      const declaredField = declared[field.name.value];
      const added = declaredField ? directivesOfField(schema, name, declaredField).map(toNode) : [];
      return { ...field, directives: [...(field.directives ?? []), ...added] };
    });
  return { ...withoutSharedDescription(node), fields, directives: directivesOfType(name).map(toNode) };
}

function fieldsOf({ fields }: { readonly fields?: readonly FieldDefinitionNode[] | undefined }) {
  return fields ?? [];
}

interface NamedNode {
  readonly name: { readonly value: string };
  readonly description?: unknown;
}

/** Removes the description of a type that other subgraphs may have too. */
function withoutSharedDescription<Node extends NamedNode>(type: Node): Node {
  return Object.hasOwn(sharedFields, type.name.value) ? withoutDescription(type) : type;
}

function withoutSharedFieldDescription(type: NamedNode) {
  return (field: FieldDefinitionNode): FieldDefinitionNode =>
    sharedFields[type.name.value]?.includes(field.name.value) ? withoutDescription(field) : field;
}

function withoutDescription<Node extends NamedNode>(node: Node): Node {
  const { description: _, ...rest } = node;
  return rest as Node;
}

function toNode({ name, args = {} }: SubgraphDirective): ConstDirectiveNode {
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

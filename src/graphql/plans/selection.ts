import {
  defaultFieldResolver,
  getDirectiveValues,
  getNullableType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isLeafType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Plan, PlannedField } from './plan.js';

type Variables = Readonly<Record<string, unknown>>;
type Document = Pick<Plan, 'schema' | 'fragments'>;

/** All leaves share one, because nothing is ever put into it. */
const nothingBelow: PlannedField['below'] = new Map();

/** The fields that selections ask for of an object of a type, in the order of the answer. */
export function selectFields(
  document: Document,
  variables: Variables,
  type: GraphQLObjectType,
  parents: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
): PlannedField[] {
  const found = new Map<string, [FieldNode, ...FieldNode[]]>();
  const spread = new Set<string>();
  for (const { selectionSet } of parents) {
    if (selectionSet) collect(document, variables, type, selectionSet, found, spread);
  }
  return [...found].flatMap(([responseName, nodes]) => {
    const definition = definitionOf(document.schema, type, nodes[0].name.value);
    if (!definition) return [];
    const valueType = getNullableType(definition.type);
    const isLeaf = isLeafType(valueType);
    const isMember = definition.args.length === 0 && hasDefaultResolver(definition);
    const leaf = isLeaf && isMember ? valueType : undefined;
    return { responseName, nodes, parentType: type, definition, leaf, below: isLeaf ? nothingBelow : new Map() };
  });
}

/** Whether a field is simply the member of its object that has its name. */
export function hasDefaultResolver({ resolve }: GraphQLField<unknown, unknown>): boolean {
  return resolve === undefined || resolve === defaultFieldResolver;
}

/** Adds the fields of a selection set, with those of fragments that are for this type, by their names in the answer. */
function collect(
  document: Document,
  variables: Variables,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  found: Map<string, [FieldNode, ...FieldNode[]]>,
  spread: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD && spread.has(selection.name.value)) continue;
    if (!isWanted(selection, variables)) continue;
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      const nodes = found.get(name);
      if (nodes) nodes.push(selection);
      else found.set(name, [selection]);
      continue;
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD) spread.add(selection.name.value);
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? document.fragments[selection.name.value] : selection;
    if (fragment && isFor(fragment.typeCondition, document.schema, type)) {
      collect(document, variables, type, fragment.selectionSet, found, spread);
    }
  }
}

function isWanted(selection: SelectionNode, variables: Variables): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}

function isFor(condition: NamedTypeNode | undefined, schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const abstract = schema.getType(condition.name.value);
  return isAbstractType(abstract) && schema.isSubType(abstract, type);
}

function definitionOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return type.getFields()[name];
}

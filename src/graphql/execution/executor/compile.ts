import {
  defaultFieldResolver,
  getDirectiveValues,
  getNullableType,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isLeafType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type NamedTypeNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { compileVariables, type CoerceVariables } from './coerce-variables.js';

/** The part of an execution that is the same every time. Selections are compiled when they are first executed. */
export interface CompiledOperation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  /** Undefined when the schema has no type for this kind of operation. */
  readonly rootType: GraphQLObjectType | undefined;
  readonly coerceVariables: CoerceVariables;
  /** The names of the variables in `@skip` and `@include`, which decide which fields are selected. */
  readonly conditions: readonly string[];
  /** The root fields, by the values of those variables. */
  readonly rootFields: Map<string, readonly CompiledField[]>;
  /** Called with the number of fields of each compiled selection. */
  readonly onCompiled: (fields: number) => void;
}

/** A field of the response. */
export interface CompiledField {
  readonly responseName: string;
  /** Every selection of the field; their arguments are the same. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  /** The type of the value, when it is a leaf that is a property of its object and takes no arguments. */
  readonly leaf: GraphQLLeafType | undefined;
  /** The selected fields of the value, by its object type. */
  readonly subfields: Map<GraphQLObjectType, readonly CompiledField[]>;
}

/** Clients choose the values of conditions. The root fields of more combinations are not kept. */
const maxRootSelections = 16;

/** Compiles an operation. `onCompiled` is called whenever fields of it are compiled and kept. */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  onCompiled: (fields: number) => void,
): CompiledOperation {
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const conditions = new Set<string>();
  for (const { selectionSet } of [operation, ...Object.values(fragments)]) addConditions(selectionSet, conditions);
  return {
    schema,
    operation,
    fragments,
    rootType: schema.getRootType(operation.operation) ?? undefined,
    coerceVariables: compileVariables(schema, operation.variableDefinitions),
    conditions: [...conditions],
    rootFields: new Map(),
    onCompiled,
  };
}

function addConditions({ selections }: SelectionSetNode, conditions: Set<string>): void {
  for (const selection of selections) {
    for (const { name, arguments: args = [] } of selection.directives ?? []) {
      if (name.value !== 'skip' && name.value !== 'include') continue;
      for (const { value } of args) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    }
    const nested = selection.kind === Kind.FRAGMENT_SPREAD ? undefined : selection.selectionSet;
    if (nested) addConditions(nested, conditions);
  }
}

/**
 * The root fields.
 *
 * @throws {GraphQLError} when the schema has no root type, or a condition is null.
 */
export function collectFields(compiled: CompiledOperation, variables: VariableValues): readonly CompiledField[] {
  const { operation, rootType, rootFields } = compiled;
  const values = compiled.conditions.map((name) => String(variables.coerced[name])).join();
  const cached = rootFields.get(values);
  if (cached) return cached;
  if (!rootType) {
    const message = `Schema is not configured to execute ${operation.operation} operation.`;
    throw new GraphQLError(message, { nodes: operation });
  }
  const fields = compileFields(compiled, variables, rootType, [operation]);
  if (rootFields.size < maxRootSelections) rootFields.set(values, fields);
  return fields;
}

/**
 * The selected fields of an object of this type.
 *
 * @throws {GraphQLError} when a condition is null.
 */
export function collectSubfields(
  compiled: CompiledOperation,
  variables: VariableValues,
  { nodes, subfields }: CompiledField,
  type: GraphQLObjectType,
): readonly CompiledField[] {
  const cached = subfields.get(type);
  if (cached) return cached;
  const fields = compileFields(compiled, variables, type, nodes);
  subfields.set(type, fields);
  return fields;
}

/** Shared by all leaves, because nothing is ever added to it. */
const noSubfields: CompiledField['subfields'] = new Map();

/** The fields that `parents` select from an object of a type, in the order of the response. */
function compileFields(
  compiled: CompiledOperation,
  variables: VariableValues,
  type: GraphQLObjectType,
  parents: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
): readonly CompiledField[] {
  const nodesByName = new Map<string, [FieldNode, ...FieldNode[]]>();
  const visited = new Set<string>();
  for (const { selectionSet } of parents) {
    if (selectionSet) collectNodes(compiled, variables, type, selectionSet, nodesByName, visited);
  }
  const fields = [...nodesByName].flatMap(([responseName, nodes]) => {
    const definition = getFieldDefinition(compiled.schema, type, nodes[0].name.value);
    if (!definition) return [];
    const valueType = getNullableType(definition.type);
    const isLeaf = isLeafType(valueType);
    const isProperty = definition.args.length === 0 && hasDefaultResolver(definition);
    const leaf = isLeaf && isProperty ? valueType : undefined;
    return { responseName, nodes, parentType: type, definition, leaf, subfields: isLeaf ? noSubfields : new Map() };
  });
  compiled.onCompiled(fields.length);
  return fields;
}

/** Whether the value of a field is the property of its object that has its name. */
export function hasDefaultResolver({ resolve }: GraphQLField<unknown, unknown>): boolean {
  return resolve === undefined || resolve === defaultFieldResolver;
}

/** Adds the fields of a selection set and of its fragments that apply to this type, by their names in the response. */
function collectNodes(
  compiled: CompiledOperation,
  variables: VariableValues,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  nodesByName: Map<string, [FieldNode, ...FieldNode[]]>,
  visited: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD && visited.has(selection.name.value)) continue;
    if (!shouldInclude(selection, variables)) continue;
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      const nodes = nodesByName.get(name);
      if (nodes) nodes.push(selection);
      else nodesByName.set(name, [selection]);
      continue;
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD) visited.add(selection.name.value);
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? compiled.fragments[selection.name.value] : selection;
    if (fragment && matchesType(fragment.typeCondition, compiled.schema, type)) {
      collectNodes(compiled, variables, type, fragment.selectionSet, nodesByName, visited);
    }
  }
}

function shouldInclude(selection: SelectionNode, variables: VariableValues): boolean {
  if (!selection.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}

function matchesType(condition: NamedTypeNode | undefined, schema: GraphQLSchema, type: GraphQLObjectType): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const abstract = schema.getType(condition.name.value);
  return isAbstractType(abstract) && schema.isSubType(abstract, type);
}

function getFieldDefinition(
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

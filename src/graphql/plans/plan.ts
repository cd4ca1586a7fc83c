import {
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { selectFields } from './selection.js';
import { planVariables, type ReadVariables } from './variables.js';

/** What is the same whenever an operation is executed. It is found out where it is first needed, and kept. */
export interface Plan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly rootType: GraphQLObjectType;
  readonly readVariables: ReadVariables;
  /** The variables that decide what is asked for at all. */
  readonly conditions: readonly string[];
  /** The fields at the root, by the values of those variables. */
  readonly roots: Map<string, readonly PlannedField[]>;
  /** Told how many fields have been planned. */
  readonly onFields: (count: number) => void;
}

/** A field of an answer. */
export interface PlannedField {
  readonly responseName: string;
  /** Every place that asks for it; its arguments are the same in all. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  /** The type of a value that is a member of its object, takes no arguments and has nothing below. */
  readonly leaf: GraphQLLeafType | undefined;
  /** What is asked for below, by the type of the object that is found there. */
  readonly below: Map<GraphQLObjectType, readonly PlannedField[]>;
}

/** Callers choose the values of conditions. Fields for more combinations than this are not kept. */
const mostRoots = 16;

/** Begins the plan of an operation; undefined for what plans cannot do: subscriptions, and answers in parts. */
export function beginPlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  onFields: (count: number) => void,
): Plan | undefined {
  const rootType = schema.getRootType(operation.operation);
  if (!rootType || operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const conditions = new Set<string>();
  const sets = [operation, ...Object.values(fragments)].map(({ selectionSet }) => selectionSet);
  if (!sets.every((set) => readDirectives(set, conditions))) return undefined;
  const readVariables = planVariables(schema, operation.variableDefinitions);
  const roots = new Map<string, readonly PlannedField[]>();
  return { schema, operation, fragments, rootType, readVariables, conditions: [...conditions], roots, onFields };
}

/** Adds the variables that conditions depend on. False where a directive asks for an answer in parts. */
function readDirectives({ selections }: SelectionSetNode, conditions: Set<string>): boolean {
  return selections.every((selection) => {
    for (const { name, arguments: args = [] } of selection.directives ?? []) {
      if (name.value === 'defer' || name.value === 'stream') return false;
      if (name.value !== 'skip' && name.value !== 'include') continue;
      for (const { value } of args) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
    }
    const below = selection.kind === Kind.FRAGMENT_SPREAD ? undefined : selection.selectionSet;
    return !below || readDirectives(below, conditions);
  });
}

/** The fields at the root. Throws a GraphQLError where a condition is null. */
export function rootFields(plan: Plan, variables: Readonly<Record<string, unknown>>): readonly PlannedField[] {
  const values = plan.conditions.map((name) => String(variables[name])).join();
  const known = plan.roots.get(values);
  if (known) return known;
  const fields = selectFields(plan, variables, plan.rootType, [plan.operation]);
  plan.onFields(fields.length);
  if (plan.roots.size < mostRoots) plan.roots.set(values, fields);
  return fields;
}

/** The fields below a field, where an object of this type was found. Throws a GraphQLError where a condition is null. */
export function fieldsBelow(
  plan: Plan,
  variables: Readonly<Record<string, unknown>>,
  { nodes, below }: PlannedField,
  type: GraphQLObjectType,
): readonly PlannedField[] {
  const known = below.get(type);
  if (known) return known;
  const fields = selectFields(plan, variables, type, nodes);
  plan.onFields(fields.length);
  below.set(type, fields);
  return fields;
}

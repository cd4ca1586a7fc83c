import {
  getNullableType,
  isListType,
  Kind,
  type FieldNode,
  type GraphQLType,
  type GraphQLField,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import { listSizeOf } from './field-cost.js';

/** The variables of an operation: their definitions, and the values that were sent. */
export interface Variables {
  readonly definitions: readonly VariableDefinitionNode[];
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Estimates how many items a field returns: the page size if it takes `first`; the length of its list argument if it
 * returns a list, as `_entities` does; else 1. An invalid page size counts as the maximum.
 */
export function estimateListSize(field: GraphQLField<unknown, unknown>, node: FieldNode, variables: Variables): number {
  const valueOf = (name: string): unknown => {
    const argument = field.args.find((candidate) => candidate.name === name);
    const value = node.arguments?.find((candidate) => candidate.name.value === name)?.value;
    const sentValue = value && resolveValue(value, variables);
    if (sentValue !== undefined) return sentValue;
    const literal = argument?.default?.literal;
    return literal ? resolveValue(literal, variables) : argument?.defaultValue;
  };
  const size = listSizeOf(field);
  if (size) {
    const { defaultSize, maxSize } = size;
    const requested = valueOf('first') ?? valueOf('last') ?? defaultSize;
    return typeof requested === 'number' ? Math.min(Math.max(Math.ceil(requested), 1), maxSize) : maxSize;
  }
  const list = isList(field.type) ? field.args.find(({ type }) => isList(type)) : undefined;
  const items = list && valueOf(list.name);
  return Array.isArray(items) ? items.length : 1;
}

function isList(type: GraphQLType): boolean {
  return isListType(getNullableType(type));
}

/** Resolves integers, null, lists and variables, which determine sizes; undefined for a variable without a value. */
function resolveValue(node: ValueNode, { definitions, values }: Variables): unknown {
  if (node.kind === Kind.NULL) return null;
  if (node.kind === Kind.INT) return Number(node.value);
  if (node.kind === Kind.LIST) return node.values;
  if (node.kind !== Kind.VARIABLE) return node;
  const name = node.name.value;
  if (Object.hasOwn(values, name) && values[name] !== undefined) return values[name];
  const defaultValue = definitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
  return defaultValue && resolveValue(defaultValue, { definitions: [], values });
}

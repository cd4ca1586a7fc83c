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
import { stringifyJSON } from '../../lib/json.js';
import { listSizeOf } from './field-cost.js';

/** The variables of an operation: their definitions, and the values that were sent. */
export interface Variables {
  readonly definitions: readonly VariableDefinitionNode[];
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Estimates how many items a field returns: the page size if it takes `first`; the length of its list argument if it
 * returns a list, as `_entities` does; else 1. An invalid page size counts as the maximum. Equal items of a variable count
 * once, as `executeDistinct` executes them once.
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
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value !== undefined) return Array.isArray(value) ? distinctItems(value).items : value;
  const defaultValue = definitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
  return defaultValue && resolveValue(defaultValue, { definitions: [], values });
}

/** The distinct items of a list. */
export interface DistinctItems {
  readonly items: readonly unknown[];
  /** The index in `items` of each item of the list. */
  readonly indexes: readonly number[];
}

/** Returns the distinct items of a list of JSON values, in the order of the list. */
export function distinctItems(list: readonly unknown[]): DistinctItems {
  const items: unknown[] = [];
  const known = new Map<string, number>();
  const indexes = list.map((item) => {
    const text = stringifyJSON(item);
    const index = known.get(text) ?? items.push(item) - 1;
    known.set(text, index);
    return index;
  });
  return { items, indexes };
}

import { GraphQLError, Kind, type ExecutionResult } from 'graphql';
import { AppError } from '../../lib/errors.js';
import { withoutStackTraces } from '../../lib/stack-traces.js';
import { tooManyErrors, type Execute, type ExecuteArgs } from './executor/execute.js';
import { isPromise, maxErrors } from './executor/execution-context.js';
import { distinctItems, type DistinctItems } from './list-size.js';
import type { PreparedOperation } from './operation-cache.js';

/*
 * A router may send a representation of the same entity many times, such as the organization of each item of a list. Each
 * distinct one is charged and executed once: what is charged once must not be executed again.
 */

/**
 * Executes an operation with each representation in a variable once, and repeats the entities and their errors. The result is
 * that of `execute`, except for the order of the errors.
 */
export function executeDistinct(
  execute: Execute,
  prepared: PreparedOperation,
  args: ExecuteArgs,
): ExecutionResult | Promise<ExecutionResult> {
  const repeated = repeatedIn(prepared, args.variableValues);
  if (repeated.size === 0) return execute(prepared.compiled, args);
  const distinct = Object.fromEntries([...repeated.values()].map(({ name, items }) => [name, items]));
  const result = execute(prepared.compiled, { ...args, variableValues: { ...args.variableValues, ...distinct } });
  return isPromise(result) ? result.then((done) => repeat(done, repeated)) : repeat(result, repeated);
}

/** The representations of one field. `name` is their variable. */
interface Repeated extends DistinctItems {
  readonly name: string;
}

/** The fields `_entities` with a variable that has an item repeatedly, by their names in the response. */
function repeatedIn(
  { fields, rootFields }: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Repeated> {
  const repeated = new Map<string, Repeated>();
  if (!fields.includes('_entities')) return repeated;
  for (const { node, field } of rootFields) {
    const value = field.name === '_entities' ? node.arguments?.[0]?.value : undefined;
    if (value?.kind !== Kind.VARIABLE) continue;
    const name = value.name.value;
    const list: unknown = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (!Array.isArray(list)) continue;
    const distinct = distinctItems(list);
    if (distinct.items.length < list.length) repeated.set((node.alias ?? node.name).value, { name, ...distinct });
  }
  return repeated;
}

function repeat(result: ExecutionResult, repeated: ReadonlyMap<string, Repeated>): ExecutionResult {
  if (!result.data) return result;
  const data = { ...result.data };
  for (const [name, { indexes }] of repeated) {
    const entities = data[name];
    if (Array.isArray(entities)) data[name] = indexes.map((index): unknown => entities[index]);
  }
  if (!result.errors) return { ...result, data };
  const errors: GraphQLError[] = [];
  for (const copy of copiesOf(result.errors, repeated)) {
    if (errors.length === maxErrors) return { errors: [...errors, tooManyErrors()], data: null };
    errors.push(copy);
  }
  return { ...result, errors, data };
}

function* copiesOf(errors: readonly GraphQLError[], repeated: ReadonlyMap<string, Repeated>): Generator<GraphQLError> {
  for (const error of errors) {
    const [name, distinctIndex, ...rest] = error.path ?? [];
    const field = repeated.get(String(name));
    if (name === undefined || !field || distinctIndex === undefined) {
      yield error;
      continue;
    }
    for (const [index, itsDistinct] of field.indexes.entries()) {
      if (itsDistinct === distinctIndex) yield copyOf(error, [name, index, ...rest], index);
    }
  }
}

function copyOf(error: GraphQLError, path: readonly (string | number)[], index: number): GraphQLError {
  const { message, nodes, originalError, extensions } = error;
  const copied = originalError instanceof AppError ? withIndex(originalError, index) : originalError;
  return withoutStackTraces(() => new GraphQLError(message, { nodes, path, originalError: copied, extensions }));
}

/** The error of a representation with its index in the list that was sent. */
function withIndex(error: AppError, index: number): AppError {
  if (error.issues[0]?.path[0] !== 'representations') return error;
  const issues = error.issues.map((issue) => ({ ...issue, path: ['representations', index, ...issue.path.slice(2)] }));
  return new AppError(error.code, error.message, { issues, cause: error });
}

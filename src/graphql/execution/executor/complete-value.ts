import {
  defaultTypeResolver,
  getNullableType,
  GraphQLError,
  GraphQLString,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type ResponsePath,
} from 'graphql';
// The messages are graphql-js's, which does not export the function that formats their values.
import { inspect } from 'graphql/jsutils/inspect.js';
import { collectSubfields, type CompiledField } from './compile.js';
import {
  buildResolveInfo,
  handleFieldError,
  isPromise,
  throwIfFinished,
  type ExecutionContext,
} from './execution-context.js';

/** Turns what a resolver returned into the value of the response, or a promise of it. Throws or rejects on failure. */
type CompleteValue = (
  context: ExecutionContext,
  field: CompiledField,
  path: ResponsePath,
  value: unknown,
  info: GraphQLResolveInfo | undefined,
) => unknown;

type ExecuteFields = (
  context: ExecutionContext,
  fields: readonly CompiledField[],
  source: unknown,
  path: ResponsePath,
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/** Creates one function for each type, once, so that completing a value does not examine its type. */
export function createCompleters(executeFields: ExecuteFields): (type: GraphQLOutputType) => CompleteValue {
  const completers = new WeakMap<GraphQLOutputType, CompleteValue>();

  function completerOf(type: GraphQLOutputType): CompleteValue {
    const cached = completers.get(type);
    if (cached) return cached;
    const created = isNonNullType(type) ? completerOfNonNull(type) : completerOfNullable(type);
    completers.set(type, created);
    return created;
  }

  function completerOfNonNull({ ofType }: { readonly ofType: GraphQLOutputType }): CompleteValue {
    const complete = completerOf(ofType);
    return (context, field, path, value, info) => {
      const completed = complete(context, field, path, value, info);
      if (completed === null) throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
      return completed;
    };
  }

  function completerOfNullable(type: GraphQLOutputType): CompleteValue {
    const complete = completerOfPresent(type);
    return (context, field, path, value, info) => {
      if (value instanceof Error) throw value;
      return value == null ? null : complete(context, field, path, value, info);
    };
  }

  function completerOfPresent(type: GraphQLOutputType): CompleteValue {
    if (isListType(type)) return completerOfList(type as GraphQLList<GraphQLOutputType>);
    if (isLeafType(type)) return completerOfLeaf(type);
    if (isAbstractType(type)) return completerOfAbstract(type);
    return completerOfObject(type as GraphQLObjectType);
  }

  function completerOfList({ ofType }: GraphQLList<GraphQLOutputType>): CompleteValue {
    const complete = completerOf(ofType);
    const itemType = getNullableType(ofType);
    const type = isLeafType(itemType) ? itemType : undefined;
    return (context, field, path, value, info) => {
      if (!isIterableObject(value)) {
        throw new GraphQLError(`Expected Iterable, but did not find one for field "${nameOf(field)}".`);
      }
      const items = type && Array.isArray(value) ? serializePlainItems(type, value as unknown[]) : undefined;
      if (items) return items;
      const completed: unknown[] = [];
      let isComplete = true;
      const completeItem = (item: unknown) => {
        const itemPath = { prev: path, key: completed.length, typename: undefined };
        const completedItem = completeOrNull(complete, context, field, ofType, itemPath, item, info);
        if (isPromise(completedItem)) isComplete = false;
        completed.push(completedItem);
      };
      const result = () => (isComplete ? completed : Promise.all(completed));
      if (Array.isArray(value)) return completeInSlices(context, value, completed, completeItem, result);
      const iterator = value[Symbol.iterator]();
      try {
        for (let next = iterator.next(); !next.done; next = iterator.next()) completeItem(next.value);
        return result();
      } catch (error) {
        handleRejections([...completed, ...remaining(iterator)]);
        throw error;
      }
    };
  }

  function completerOfAbstract(type: GraphQLAbstractType): CompleteValue {
    const resolveType = type.resolveType ?? defaultTypeResolver;
    return (context, field, path, value, knownInfo) => {
      const info = knownInfo ?? buildResolveInfo(context, field, path);
      const complete = (name: unknown) =>
        completerOf(ensureValidRuntimeType(type, name, value, info))(context, field, path, value, info);
      const name = resolveType(value, context.contextValue, info, type);
      if (!isPromise(name)) return complete(name);
      return name.then((resolved) => {
        throwIfFinished(context);
        return complete(resolved);
      });
    };
  }

  function completerOfObject(type: GraphQLObjectType): CompleteValue {
    const execute: CompleteValue = (context, field, path, value) =>
      executeFields(context, collectSubfields(context.compiled, context.variableValues, field, type), value, path);
    const { isTypeOf } = type;
    if (!isTypeOf) return execute;
    return (context, field, path, value, info) => {
      const executeIf = (isOfType: unknown) => {
        if (isOfType) return execute(context, field, path, value, info);
        throw new GraphQLError(`Expected value of type "${type.name}" but got: ${inspect(value)}.`);
      };
      const isOfType = isTypeOf(value, context.contextValue, info ?? buildResolveInfo(context, field, path));
      if (!isPromise(isOfType)) return executeIf(isOfType);
      return isOfType.then((resolved) => {
        throwIfFinished(context);
        return executeIf(resolved);
      });
    };
  }

  return completerOf;
}

/**
 * Completes the items that are not completed yet. A long list waits for time slices.
 *
 * @returns `result`, or a promise of it
 */
function completeInSlices(
  context: ExecutionContext,
  items: readonly unknown[],
  completed: readonly unknown[],
  completeItem: (item: unknown) => void,
  result: () => unknown,
  hasWaited = false,
): unknown {
  const first = completed.length;
  try {
    if (hasWaited) throwIfFinished(context);
    for (let index = first; index < items.length; index += 1) {
      const slice = hasWaited && index === first ? undefined : context.work.nextSlice();
      if (slice) {
        // Those that come later may reject meanwhile, too.
        handleRejections(hasWaited ? completed.slice(first) : [...completed, ...items.slice(index)]);
        return slice.then(() => completeInSlices(context, items, completed, completeItem, result, true));
      }
      completeItem(items[index]);
    }
    return result();
  } catch (error) {
    handleRejections([...completed.slice(first), ...items.slice(completed.length + 1)]);
    throw error;
  }
}

/** Handles the rejections of items that nothing awaits, or not yet: an unhandled rejection ends the process. */
function handleRejections(items: readonly unknown[]): void {
  void Promise.allSettled(items);
}

/**
 * Completes the value of a field, an item of a list, or a promise of one. Null for a value that fails.
 *
 * @throws {GraphQLError} when the value fails and its type is not nullable; a promise rejects with it.
 */
export function completeOrNull(
  complete: CompleteValue,
  context: ExecutionContext,
  field: CompiledField,
  type: GraphQLOutputType,
  path: ResponsePath,
  value: unknown,
  info: GraphQLResolveInfo | undefined,
): unknown {
  if (isPromise(value)) return whenResolved(complete, context, field, type, path, value, info);
  try {
    const completed = complete(context, field, path, value, info);
    return isPromise(completed) ? whenCompleted(completed, context, field, type, path) : completed;
  } catch (error) {
    return handleFieldError(context, field, type, path, error);
  }
}

async function whenResolved(
  complete: CompleteValue,
  context: ExecutionContext,
  field: CompiledField,
  type: GraphQLOutputType,
  path: ResponsePath,
  promise: PromiseLike<unknown>,
  info: GraphQLResolveInfo | undefined,
): Promise<unknown> {
  try {
    const value = await promise;
    throwIfFinished(context);
    const completed = complete(context, field, path, value, info);
    return isPromise(completed) ? await completed : completed;
  } catch (error) {
    return handleFieldError(context, field, type, path, error);
  }
}

/** Apart from `completeOrNull`, whose calls would otherwise all allocate what the function for the error refers to. */
function whenCompleted(
  completed: Promise<unknown>,
  context: ExecutionContext,
  field: CompiledField,
  type: GraphQLOutputType,
  path: ResponsePath,
): Promise<unknown> {
  return completed.then(undefined, (error: unknown) => handleFieldError(context, field, type, path, error));
}

/** Whether a value that is not null is an iterable object. Strings are iterable but not lists. */
function isIterableObject(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

/** The items that an iterator has left, up to the one that it fails to return. */
function remaining(iterator: Iterator<unknown>): unknown[] {
  const items: unknown[] = [];
  try {
    for (let next = iterator.next(); !next.done; next = iterator.next()) items.push(next.value);
  } catch {
    // The error of the item before is reported.
  }
  return items;
}

/** Serializes a primitive value; undefined for null, for an object such as an error or a promise, and on failure. */
export function serializePlain(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value === 'string' && type === GraphQLString) return value;
  if (typeof value === 'object' || typeof value === 'function' || value === undefined) return undefined;
  try {
    return type.coerceOutputValue(value) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Serializes a list of primitive values; undefined when `serializePlain` is for one of them. */
function serializePlainItems(type: GraphQLLeafType, items: readonly unknown[]): unknown[] | undefined {
  const serialized: unknown[] = [];
  for (const item of items) {
    const value = serializePlain(type, item);
    if (value === undefined) return undefined;
    serialized.push(value);
  }
  return serialized;
}

function completerOfLeaf(type: GraphQLLeafType): CompleteValue {
  return (_context, _field, _path, value) => {
    const serialized = serialize(type, value);
    if (serialized != null) return serialized;
    throw new Error(
      `Expected \`${inspect(type)}.coerceOutputValue(${inspect(value)})\` to return non-nullable value, returned: ${inspect(serialized)}`,
    );
  };
}

function serialize(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.coerceOutputValue(value);
  } catch (error) {
    // A scalar throws a GraphQLError for values that clients send, which they may read. This value is ours.
    throw error instanceof GraphQLError ? new Error(error.message, { cause: error }) : error;
  }
}

function nameOf({ parentType, definition }: CompiledField): string {
  return `${parentType.name}.${definition.name}`;
}

/**
 * The object type that a value of an abstract type has.
 *
 * @throws {GraphQLError} when `name` is none of its possible types, with the messages of graphql-js.
 */
function ensureValidRuntimeType(
  type: GraphQLAbstractType,
  name: unknown,
  value: unknown,
  { schema, parentType, fieldName }: GraphQLResolveInfo,
): GraphQLObjectType {
  const requirement = `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${parentType.name}.${fieldName}"`;
  if (name == null) {
    const advice = `Either the "${type.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`;
    throw new GraphQLError(`${requirement}. ${advice}`);
  }
  if (typeof name !== 'string') {
    throw new GraphQLError(
      `${requirement} with value ${inspect(value)}, received "${inspect(name)}", which is not a valid Object type name.`,
    );
  }
  const runtimeType = schema.getType(name);
  if (!runtimeType) {
    throw new GraphQLError(
      `Abstract type "${type.name}" was resolved to a type "${name}" that does not exist inside the schema.`,
    );
  }
  if (!isObjectType(runtimeType)) {
    throw new GraphQLError(`Abstract type "${type.name}" was resolved to a non-object type "${name}".`);
  }
  if (!schema.isSubType(type, runtimeType)) {
    throw new GraphQLError(`Runtime Object type "${name}" is not a possible type for "${type.name}".`);
  }
  return runtimeType;
}

import {
  getNullableType,
  GraphQLError,
  GraphQLString,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type ResponsePath,
} from 'graphql';
// Its messages are graphql-js's, and graphql-js does not export what it writes them with.
import { inspect } from 'graphql/jsutils/inspect.js';
import { fieldsBelow, type PlannedField } from './plan.js';
import { infoOf, isIterable, isPromise, nullFor, type Run } from './run.js';
import { requireObjectType, typeResolverOf } from './runtime-type.js';

/** Makes of a value what the answer shows, or a promise of it. Throws, or rejects, where that cannot be. */
type Complete = (
  run: Run,
  field: PlannedField,
  path: ResponsePath,
  value: unknown,
  info: GraphQLResolveInfo | undefined,
) => unknown;

type ExecuteFields = (
  run: Run,
  fields: readonly PlannedField[],
  source: unknown,
  path: ResponsePath,
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/** What completes the values of each type. It is made once for a type, so that no value asks of what kind its type is. */
export function createCompleters(executeFields: ExecuteFields): (type: GraphQLOutputType) => Complete {
  const completers = new WeakMap<GraphQLOutputType, Complete>();

  function completerOf(type: GraphQLOutputType): Complete {
    const known = completers.get(type);
    if (known) return known;
    const made = isNonNullType(type) ? ofNonNull(type as GraphQLNonNull<GraphQLOutputType>) : ofNullable(type);
    completers.set(type, made);
    return made;
  }

  function ofNonNull({ ofType }: GraphQLNonNull<GraphQLOutputType>): Complete {
    const complete = completerOf(ofType);
    return (run, field, path, value, info) => {
      const completed = complete(run, field, path, value, info);
      if (completed === null) throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
      return completed;
    };
  }

  function ofNullable(type: GraphQLOutputType): Complete {
    const complete = ofPresent(type);
    return (run, field, path, value, info) => {
      if (value instanceof Error) throw value;
      return value == null ? null : complete(run, field, path, value, info);
    };
  }

  function ofPresent(type: GraphQLOutputType): Complete {
    if (isListType(type)) return ofList(type as GraphQLList<GraphQLOutputType>);
    if (isLeafType(type)) return ofLeaf(type);
    if (isAbstractType(type)) return ofAbstract(type);
    return ofObject(type as GraphQLObjectType);
  }

  function ofList({ ofType }: GraphQLList<GraphQLOutputType>): Complete {
    const complete = completerOf(ofType);
    const itemType = getNullableType(ofType);
    const type = isLeafType(itemType) ? itemType : undefined;
    return (run, field, path, value, info) => {
      if (!isIterable(value)) {
        throw new GraphQLError(`Expected Iterable, but did not find one for field "${nameOf(field)}".`);
      }
      const shown = type && Array.isArray(value) ? shownItems(type, value as unknown[]) : undefined;
      if (shown) return shown;
      const pending: Promise<unknown>[] = [];
      const completeItem = (item: unknown, key: number) => {
        const place = { prev: path, key, typename: undefined };
        try {
          const found = isPromise(item)
            ? item.then((resolved) => complete(run, field, place, resolved, info))
            : complete(run, field, place, item, info);
          if (!isPromise(found)) return found;
          const shown = found.then(undefined, (error: unknown) => nullFor(run, field, ofType, place, error));
          pending.push(shown);
          return shown;
        } catch (error) {
          return nullFor(run, field, ofType, place, error);
        }
      };
      try {
        const items: unknown[] = [];
        for (const item of value) items.push(completeItem(item, items.length));
        return pending.length > 0 ? Promise.all(items) : items;
      } catch (error) {
        // Nobody waits for the other items any more, and a rejection that nobody hears ends the process.
        void Promise.allSettled([...pending, ...(Array.isArray(value) ? (value as unknown[]) : [])]);
        throw error;
      }
    };
  }

  function ofAbstract(type: GraphQLAbstractType): Complete {
    const resolveType = typeResolverOf(type);
    return (run, field, path, value, known) => {
      const info = known ?? infoOf(run, field, path);
      const complete = (name: unknown) =>
        completerOf(requireObjectType(type, name, value, info))(run, field, path, value, info);
      const name = resolveType(value, run.contextValue, info, type);
      return isPromise(name) ? name.then(complete) : complete(name);
    };
  }

  function ofObject(type: GraphQLObjectType): Complete {
    return (run, field, path, value, info) => {
      const fields = fieldsBelow(run.plan, run.variableValues, field, type);
      if (!type.isTypeOf) return executeFields(run, fields, value, path);
      const execute = (isOfType: unknown) => {
        if (isOfType) return executeFields(run, fields, value, path);
        const message = `Expected value of type "${type.name}" but got: ${inspect(value)}.`;
        throw new GraphQLError(message, { nodes: field.nodes });
      };
      const isOfType = type.isTypeOf(value, run.contextValue, info ?? infoOf(run, field, path));
      return isPromise(isOfType) ? isOfType.then(execute) : execute(isOfType);
    };
  }

  return completerOf;
}

/** What shows a plain value; undefined where there is more to it, such as an error or a promise, or none. */
export function shownPlain(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value === 'string' && type === GraphQLString) return value;
  if (typeof value === 'object' || typeof value === 'function' || value === undefined) return undefined;
  try {
    return type.serialize(value) ?? undefined;
  } catch {
    return undefined;
  }
}

/** What shows a list of plain values; undefined where one of them is something else. */
function shownItems(type: GraphQLLeafType, items: readonly unknown[]): unknown[] | undefined {
  const shown: unknown[] = [];
  for (const item of items) {
    const value = shownPlain(type, item);
    if (value === undefined) return undefined;
    shown.push(value);
  }
  return shown;
}

function ofLeaf(type: GraphQLLeafType): Complete {
  return (_run, _field, _path, value) => {
    const shown = serialized(type, value);
    if (shown != null) return shown;
    throw new Error(
      `Expected \`${inspect(type)}.serialize(${inspect(value)})\` to return non-nullable value, returned: ${inspect(shown)}`,
    );
  };
}

function serialized(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.serialize(value);
  } catch (error) {
    // A type refuses what callers send by a GraphQLError, which they may see. What we send is not for them to mend.
    throw error instanceof GraphQLError ? new Error(error.message, { cause: error }) : error;
  }
}

function nameOf({ parentType, definition }: PlannedField): string {
  return `${parentType.name}.${definition.name}`;
}

import { getArgumentValues, type GraphQLLeafType, type GraphQLResolveInfo, type ResponsePath } from 'graphql';
import { templateOf } from '../../keys/records.js';
import type { PlannedField } from './plan.js';
import { infoOf, isPromise, nullFor, type Run } from './run.js';
import { hasDefaultResolver } from './selection.js';
import { createCompleters, shownPlain } from './values.js';

/** The part of an answer that shows one object. */
export type Data = Record<string, unknown>;

const completerOf = createCompleters(executeFields);

/** Executes the fields of an object, all at once. Throws, or rejects with, the error of a field that must not be null. */
export function executeFields(
  run: Run,
  fields: readonly PlannedField[],
  source: unknown,
  path: ResponsePath | undefined,
): Data | Promise<Data> {
  // Time does not pass between fields that are begun one after another.
  run.signal?.throwIfAborted();
  const data = emptyData(fields);
  let isComplete = true;
  try {
    for (const field of fields) {
      const shown = field.leaf && shownMember(field, field.leaf, source);
      if (shown !== undefined) {
        data[field.responseName] = shown;
        continue;
      }
      const value = executeField(run, field, source, path);
      data[field.responseName] = value;
      if (isPromise(value)) isComplete = false;
    }
  } catch (error) {
    if (isComplete) throw error;
    // The others are waited for, because they may fail as well, and a rejection that nobody hears ends the process.
    return completed(data).finally(() => {
      throw error;
    });
  }
  return isComplete ? data : completed(data);
}

/** Executes the fields of a mutation, each when the one before it is done. Fails as `executeFields` does. */
export function executeInTurn(run: Run, fields: readonly PlannedField[]): Data | Promise<Data> {
  let done: Data | Promise<Data> = emptyData(fields);
  for (const field of fields) {
    const next = (data: Data): Data | Promise<Data> => {
      run.signal?.throwIfAborted();
      const add = (value: unknown) => {
        data[field.responseName] = value;
        return data;
      };
      const value = executeField(run, field, run.rootValue, undefined);
      return isPromise(value) ? value.then(add) : add(value);
    };
    done = isPromise(done) ? done.then(next) : next(done);
  }
  return done;
}

/** What to copy for an object that shows these fields. */
const blanks = new WeakMap<readonly PlannedField[], object>();

/** An object with a member for each field, in their order. A caller may call one `__proto__`, and it is one like the others. */
function emptyData(fields: readonly PlannedField[]): Data {
  let blank = blanks.get(fields);
  if (!blank) blanks.set(fields, (blank = templateOf(fields.map(({ responseName }) => responseName))));
  return { ...blank };
}

/** What shows a member that is a plain value, or none; undefined where there is more to it, such as an error. */
function shownMember({ definition }: PlannedField, type: GraphQLLeafType, source: unknown): unknown {
  let value: unknown;
  try {
    value = memberOf(source, definition.name);
  } catch {
    return undefined;
  }
  // Where the type may be null, it is that of the field, and nothing is round it.
  if (value === null || value === undefined) return definition.type === type ? null : undefined;
  return shownPlain(type, value);
}

async function completed(data: Data): Promise<Data> {
  const names = Object.keys(data);
  const values = await Promise.all(Object.values(data));
  for (const [index, name] of names.entries()) data[name] = values[index];
  return data;
}

function executeField(run: Run, field: PlannedField, source: unknown, parent: ResponsePath | undefined): unknown {
  const { definition, parentType, responseName } = field;
  const path = { prev: parent, key: responseName, typename: parentType.name };
  const complete = completerOf(definition.type);
  try {
    const args = definition.args.length > 0 ? getArgumentValues(definition, field.nodes[0], run.variableValues) : {};
    let info: GraphQLResolveInfo | undefined;
    let value: unknown;
    if (definition.resolve && !hasDefaultResolver(definition)) {
      info = infoOf(run, field, path);
      value = definition.resolve(source, args, run.contextValue, info);
    } else {
      value = memberOf(source, definition.name);
      if (typeof value === 'function') {
        info = infoOf(run, field, path);
        value = (value as (...given: unknown[]) => unknown).call(source, args, run.contextValue, info);
      }
    }
    const found = isPromise(value)
      ? value.then((resolved) => complete(run, field, path, resolved, info))
      : complete(run, field, path, value, info);
    return isPromise(found)
      ? found.then(undefined, (error: unknown) => nullFor(run, field, definition.type, path, error))
      : found;
  } catch (error) {
    return nullFor(run, field, definition.type, path, error);
  }
}

function memberOf(source: unknown, name: string): unknown {
  const mayHave = (typeof source === 'object' && source !== null) || typeof source === 'function';
  return mayHave ? (source as Data)[name] : undefined;
}

import {
  getArgumentValues,
  getVariableValues,
  type GraphQLError,
  OperationTypeNode,
  type ExecutionResult,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
  type ResponsePath,
} from 'graphql';
import { templateOf } from '../../../keys/definition/object-shapes.js';
import { AppError } from '../../../lib/errors.js';
import { hasMoreValues } from '../../../lib/value-count.js';
import { resultError } from '../../errors.js';
import type { Deadline } from '../deadline.js';
import { collectFields, hasDefaultResolver, type CompiledField, type CompiledOperation } from './compile.js';
import { completeOrNull, createCompleters, serializePlain } from './complete-value.js';
import {
  buildResolveInfo,
  createCollectedErrors,
  createWork,
  handleFieldError,
  isPromise,
  maxErrors,
  maxFields,
  type ExecutionContext,
} from './execution-context.js';

/** What differs between two executions of an operation. */
export interface ExecuteArgs {
  /** As sent by the client. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly contextValue: unknown;
  readonly rootValue?: unknown;
  /** Ends the execution. The result then rejects with its error. */
  readonly deadline?: Deadline | undefined;
  /** Awaited within long lists; undefined while the current tick of the event loop has time left. */
  readonly nextSlice?: (() => Promise<void> | undefined) | undefined;
}

/** Executes an operation as graphql-js's `execute` does. A result without `data` was not executed. */
export type Execute = (compiled: CompiledOperation, args: ExecuteArgs) => ExecutionResult | Promise<ExecutionResult>;

/** graphql-js stops after as many errors in the variables of one request. */
const maxVariableErrors = 50;

/** Variables of more values end after the first error: a message that quotes 12,000 takes 5 ms. */
const largeValues = 500;

/** Our executor. */
export const executeCompiled: Execute = (
  compiled,
  { variableValues: sent, rootValue, contextValue, deadline, nextSlice },
) => {
  const variableValues = compiled.coerceVariables(sent);
  if (!variableValues) return { errors: variableErrors(compiled, sent) };
  return executeOperation({ compiled, rootValue, contextValue, variableValues, deadline, work: createWork(nextSlice) });
};

/** The errors of variables that `coerceVariables` rejected. */
function variableErrors({ schema, operation }: CompiledOperation, rawVariables: Readonly<Record<string, unknown>>) {
  const definitions = operation.variableDefinitions ?? [];
  // Each message quotes the whole variable; masking removes it later.
  const maxErrors = hasMoreValues(rawVariables, largeValues) ? 1 : maxVariableErrors;
  const { errors } = getVariableValues(schema, definitions, rawVariables, { maxErrors });
  // Both coerce by the same rules, as test/unit/graphql/executor.test.ts verifies.
  if (!errors) throw new Error('graphql-js accepts variables that the executor rejected.');
  return errors;
}

/** The part of a response that shows one object. */
type Data = Record<string, unknown>;

const completerOf = createCompleters(executeFields);

/**
 * Executes an operation with coerced variables, as graphql-js does. When the deadline expires, no further resolver is
 * called, and the error of the deadline is thrown instead of a result.
 */
function executeOperation(
  input: Omit<ExecutionContext, 'errors' | 'isFinished'>,
): ExecutionResult | Promise<ExecutionResult> {
  const context: ExecutionContext = { ...input, errors: createCollectedErrors(), isFinished: false };
  const { compiled, deadline, errors, work } = context;
  const buildResponse = (data: Data | null): ExecutionResult =>
    errors.all.length === 0 ? { data } : { errors: errors.all, data };
  const buildFailedResponse = (error: unknown): ExecutionResult => {
    deadline?.throwIfExpired();
    if (errors.isFull()) return { errors: [...errors.all, tooManyErrors()], data: null };
    if (work.isTooMuch()) return { errors: [...errors.all, tooManyFields()], data: null };
    // Every error was converted to a GraphQLError with its path.
    errors.add(error as GraphQLError, undefined);
    return buildResponse(null);
  };
  const finish = (result: ExecutionResult) => {
    context.isFinished = true;
    return result;
  };
  try {
    const fields = collectFields(compiled, context.variableValues);
    const data =
      compiled.operation.operation === OperationTypeNode.MUTATION
        ? executeFieldsSerially(context, fields)
        : executeFields(context, fields, context.rootValue, undefined);
    if (!isPromise(data)) return finish(buildResponse(data));
    const response = data.then(buildResponse, buildFailedResponse).then(finish);
    return deadline ? untilExpired(deadline, response) : response;
  } catch (error) {
    return finish(buildFailedResponse(error));
  }
}

/** The error that ends an execution with more than `maxErrors`. */
export function tooManyErrors(): GraphQLError {
  const message = `The operation has more than ${maxErrors} errors and was ended. Changes that it made are saved.`;
  return resultError(new AppError('TOO_LARGE', message));
}

/** The error that ends an execution with more than `maxFields`. */
function tooManyFields(): GraphQLError {
  const count = maxFields.toLocaleString('en');
  const message =
    `The response has more than ${count} fields, and the operation was ended. Changes that it made are saved. ` +
    'Request smaller pages or fewer fields.';
  return resultError(new AppError('TOO_LARGE', message));
}

function untilExpired<T>(deadline: Deadline, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const removeListener = deadline.onExpire(() => reject(deadline.error));
    promise.finally(removeListener).then(resolve, reject);
  });
}

/** Executes the fields of an object concurrently. Throws or rejects with the error of a field that must not be null. */
function executeFields(
  context: ExecutionContext,
  fields: readonly CompiledField[],
  source: unknown,
  path: ResponsePath | undefined,
): Data | Promise<Data> {
  // Checked once: the fields start synchronously, one after another.
  context.deadline?.throwIfExpired();
  context.work.count(fields.length);
  if (context.work.isTooMuch()) throw new Error('The execution has too many fields.');
  const data = createData(fields);
  let isComplete = true;
  try {
    for (const field of fields) {
      const plain = field.leaf && completePlainProperty(field, field.leaf, source);
      if (plain !== undefined) {
        data[field.responseName] = plain;
        continue;
      }
      const value = executeField(context, field, source, path);
      data[field.responseName] = value;
      if (isPromise(value)) isComplete = false;
    }
  } catch (error) {
    // The other fields are not awaited any more, and an unhandled rejection ends the process.
    if (!isComplete) void Promise.allSettled(Object.values(data));
    throw error;
  }
  return isComplete ? data : awaitProperties(data);
}

/** Executes the root fields of a mutation one after another. Fails as `executeFields` does. */
function executeFieldsSerially(context: ExecutionContext, fields: readonly CompiledField[]): Data | Promise<Data> {
  let done: Data | Promise<Data> = createData(fields);
  for (const field of fields) {
    const next = (data: Data): Data | Promise<Data> => {
      context.deadline?.throwIfExpired();
      const add = (value: unknown) => {
        data[field.responseName] = value;
        return data;
      };
      const value = executeField(context, field, context.rootValue, undefined);
      return isPromise(value) ? value.then(add) : add(value);
    };
    done = isPromise(done) ? done.then(next) : next(done);
  }
  return done;
}

/** The objects to copy for the data of these fields. */
const templates = new WeakMap<readonly CompiledField[], object>();

/** An object with a property for each field, in their order. A client may name one `__proto__`: it is an own property. */
function createData(fields: readonly CompiledField[]): Data {
  let template = templates.get(fields);
  if (!template) templates.set(fields, (template = templateOf(fields.map(({ responseName }) => responseName))));
  return { ...template };
}

async function awaitProperties(data: Data): Promise<Data> {
  const names = Object.keys(data);
  const values = await Promise.all(Object.values(data));
  for (const [index, name] of names.entries()) data[name] = values[index];
  return data;
}

function executeField(
  context: ExecutionContext,
  field: CompiledField,
  source: unknown,
  parent: ResponsePath | undefined,
): unknown {
  const { definition, parentType, responseName } = field;
  const { type } = definition;
  const path = { prev: parent, key: responseName, typename: parentType.name };
  let info: GraphQLResolveInfo | undefined;
  let value: unknown;
  try {
    const args =
      definition.args.length > 0 ? getArgumentValues(definition, field.nodes[0], context.variableValues) : {};
    if (definition.resolve && !hasDefaultResolver(definition)) {
      info = buildResolveInfo(context, field, path);
      value = definition.resolve(source, args, context.contextValue, info);
    } else {
      value = propertyOf(source, definition.name);
      if (typeof value === 'function') {
        info = buildResolveInfo(context, field, path);
        value = (value as (...given: unknown[]) => unknown).call(source, args, context.contextValue, info);
      }
    }
  } catch (error) {
    return handleFieldError(context, field, type, path, error);
  }
  return completeOrNull(completerOf(type), context, field, type, path, value, info);
}

/**
 * Completes a property that is null or a primitive value, without a path and without a resolver; undefined for all
 * others, such as a promise, an error, or a value that is not valid.
 */
function completePlainProperty({ definition }: CompiledField, type: GraphQLLeafType, source: unknown): unknown {
  let value: unknown;
  try {
    value = propertyOf(source, definition.name);
  } catch {
    return undefined;
  }
  // `definition.type` is the leaf type itself when it is nullable.
  if (value === null || value === undefined) return definition.type === type ? null : undefined;
  return serializePlain(type, value);
}

function propertyOf(source: unknown, name: string): unknown {
  const mayHave = (typeof source === 'object' && source !== null) || typeof source === 'function';
  return mayHave ? (source as Data)[name] : undefined;
}

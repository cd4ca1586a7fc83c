import {
  isNonNullType,
  locatedError,
  responsePathAsArray,
  type GraphQLError,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLResolveInfoHelpers,
  type ResponsePath,
  type VariableValues,
} from 'graphql';
import { withoutStackTraces } from '../../../lib/stack-traces.js';
import type { Deadline } from '../deadline.js';
import type { CompiledField, CompiledOperation } from './compile.js';

/** One execution of an operation. */
export interface ExecutionContext {
  readonly compiled: CompiledOperation;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  readonly variableValues: VariableValues;
  readonly deadline: Deadline | undefined;
  readonly errors: CollectedErrors;
  readonly work: Work;
  /** Set with the result. Promises below a value that is null already may be pending; they call no further resolver. */
  isFinished: boolean;
}

/** Ends the work on a promise that the result did not wait for. The error is not part of the result. */
export function throwIfFinished({ isFinished }: ExecutionContext): void {
  if (isFinished) throw new Error('The execution is finished.');
}

/**
 * The maximum number of errors of one execution, which fails as a whole at the next one. A list of representations can have
 * 12,000 invalid items, and each error takes 30 µs until it is sent.
 */
export const maxErrors = 200;

/**
 * The maximum number of fields of one execution, which fails as a whole at the next one. Lists inside of keys, such as the
 * APIs of a policy, can have more items than the limits of documents know. A response with as many fields has more than 2 MiB
 * in nearly every case, and 250,000 take about a second.
 */
export const maxFields = 250_000;

/** A list waits for a time slice after about as many fields: 1 to 2 ms. A key with all its fields has 100, and does not wait. */
const fieldsPerCheck = 500;

/** Counts the fields of one execution, and divides it into time slices. */
export interface Work {
  readonly count: (fields: number) => void;
  /** Whether there were more than `maxFields`. */
  readonly isTooMuch: () => boolean;
  /** Awaited before an item of a list; undefined while the current tick of the event loop has time left. */
  readonly nextSlice: () => Promise<void> | undefined;
}

/**
 * Counts the work of an execution.
 *
 * @param nextSlice - undefined while time is left; it is asked after every few fields
 */
export function createWork(nextSlice: Work['nextSlice'] = () => undefined): Work {
  let fields = 0;
  let checkAt = fieldsPerCheck;
  return {
    count: (more) => {
      fields += more;
    },
    isTooMuch: () => fields > maxFields,
    nextSlice() {
      if (fields < checkAt) return undefined;
      const checkLater = () => void (checkAt = fields + fieldsPerCheck);
      const slice = nextSlice();
      if (!slice) checkLater();
      // Until it has time again, other lists have to wait too.
      return slice?.then(checkLater);
    },
  };
}

/** The errors of one execution, in the order in which they occurred. */
export interface CollectedErrors {
  readonly all: readonly GraphQLError[];
  /** Whether there are `maxErrors`. */
  readonly isFull: () => boolean;
  /** Adds an error that made the value at a path null; undefined is the whole response. */
  readonly add: (error: GraphQLError, path: ResponsePath | undefined) => void;
}

/** Collects errors, except those below a value that is null already: the response has no place for them. */
export function createCollectedErrors(): CollectedErrors {
  const all: GraphQLError[] = [];
  const nulled = new Set<ResponsePath | undefined>();
  const isNulled = (path: ResponsePath | undefined): boolean =>
    nulled.has(path) || (path !== undefined && isNulled(path.prev));
  return {
    all,
    isFull: () => all.length >= maxErrors,
    add: (error, path) => {
      if (isNulled(path)) return;
      nulled.add(path);
      all.push(error);
    },
  };
}

/** Nothing waits for what a resolver tracks, but an unhandled rejection would end the process. */
const asyncHelpers: GraphQLResolveInfoHelpers = {
  promiseAll: (values) => Promise.all(values),
  track: (values) => void Promise.allSettled(values),
};

const getAsyncHelpers = () => asyncHelpers;
/** Resolvers have a deadline instead. */
const getAbortSignal = () => undefined;

/** The fourth argument of a resolver. */
export function buildResolveInfo(
  { compiled, rootValue, variableValues }: ExecutionContext,
  field: CompiledField,
  path: ResponsePath,
): GraphQLResolveInfo {
  return {
    fieldName: field.definition.name,
    fieldNodes: field.nodes,
    returnType: field.definition.type,
    parentType: field.parentType,
    path,
    schema: compiled.schema,
    fragments: compiled.fragments,
    rootValue,
    operation: compiled.operation,
    variableValues,
    getAbortSignal,
    getAsyncHelpers,
  };
}

/**
 * Returns null for a value that failed, and collects the error.
 *
 * @throws {GraphQLError} when the type is not nullable: the parent becomes null instead.
 * @throws `rawError` when there are `maxErrors`, or more than `maxFields`: the response becomes null.
 */
export function handleFieldError(
  context: ExecutionContext,
  field: CompiledField,
  type: GraphQLOutputType,
  path: ResponsePath,
  rawError: unknown,
): null {
  if (context.errors.isFull() || context.work.isTooMuch()) throw rawError;
  const error = withoutStackTraces(() => locatedError(rawError, field.nodes, responsePathAsArray(path)));
  if (isNonNullType(type)) throw error;
  context.errors.add(error, path);
  return null;
}

/** Whether a value is a promise or another thenable. */
export function isPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  // Most values are primitive, and reading a property of a string takes time.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Partial<PromiseLike<T>>).then === 'function';
}

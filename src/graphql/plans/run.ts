import {
  isNonNullType,
  locatedError,
  responsePathAsArray,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type ResponsePath,
} from 'graphql';
import type { FieldErrors } from './field-errors.js';
import type { Plan, PlannedField } from './plan.js';

/** What is asked of whatever ends an execution before its time, such as an `AbortSignal`. */
export interface Signal {
  /** Why it was aborted. */
  readonly reason: Error;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** One execution of a plan. */
export interface Run {
  readonly plan: Plan;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  readonly variableValues: Record<string, unknown>;
  readonly signal: Signal | undefined;
  readonly errors: FieldErrors;
}

/** What a resolver may know of its place. */
export function infoOf(
  { plan, rootValue, variableValues }: Run,
  field: PlannedField,
  path: ResponsePath,
): GraphQLResolveInfo {
  return {
    fieldName: field.definition.name,
    fieldNodes: field.nodes,
    returnType: field.definition.type,
    parentType: field.parentType,
    path,
    schema: plan.schema,
    fragments: plan.fragments,
    rootValue,
    operation: plan.operation,
    variableValues,
  };
}

/** Null in the place of what failed. Where there may be no null, the error is thrown on to what holds it. */
export function nullFor(
  run: Run,
  field: PlannedField,
  type: GraphQLOutputType,
  path: ResponsePath,
  thrown: unknown,
): null {
  const error = locatedError(thrown, field.nodes, responsePathAsArray(path));
  if (isNonNullType(type)) throw error;
  run.errors.add(error, path);
  return null;
}

/** Whether there is something to wait for, which need not be a Promise of the language. */
export function isPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  // Most values are no objects, and to ask a text for its members takes time.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Partial<PromiseLike<T>>).then === 'function';
}

/** Whether a value is a list of some kind. A text is none, though it has items. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] === 'function'
  );
}

import { OperationTypeNode, type ExecutionResult, type GraphQLError } from 'graphql';
import { createFieldErrors } from './field-errors.js';
import { executeFields, executeInTurn, type Data } from './fields.js';
import { rootFields } from './plan.js';
import { isPromise, type Run, type Signal } from './run.js';

/**
 * Executes an operation as graphql-js does, by its plan. Once the signal is aborted no further field is begun, and its
 * reason is thrown in place of an answer.
 */
export function executePlan(input: Omit<Run, 'errors'>): ExecutionResult | Promise<ExecutionResult> {
  const run: Run = { ...input, errors: createFieldErrors() };
  const { plan, signal, errors } = run;
  const answer = (data: Data | null): ExecutionResult =>
    errors.all.length === 0 ? { data } : { errors: errors.all, data };
  const answerNull = (error: unknown): ExecutionResult => {
    signal?.throwIfAborted();
    // Whatever fails has been made a GraphQLError where its place was known.
    errors.add(error as GraphQLError, undefined);
    return answer(null);
  };
  try {
    const fields = rootFields(plan, run.variableValues);
    const data =
      plan.operation.operation === OperationTypeNode.MUTATION
        ? executeInTurn(run, fields)
        : executeFields(run, fields, run.rootValue, undefined);
    if (!isPromise(data)) return answer(data);
    const promise = data.then(answer, answerNull);
    return signal ? untilAborted(signal, promise) : promise;
  } catch (error) {
    return answerNull(error);
  }
}

function untilAborted<T>(signal: Signal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp);
    promise.finally(() => signal.removeEventListener('abort', giveUp)).then(resolve, reject);
  });
}

import { getOperationAST, OperationTypeNode, type DocumentNode, type GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '../../lib/errors.js';
import type { Context } from '../context.js';
import { Deadline } from '../operation/deadline.js';
import { operationError } from '../errors.js';

/** Ends an operation that takes too long. */
export function useDeadline(timeoutMs: number): Plugin<Context> {
  return {
    onExecute({ args, extendContext }) {
      const operation = getOperationAST(args.document as DocumentNode, args.operationName as string | undefined);
      const isMutation = operation?.operation === OperationTypeNode.MUTATION;
      const deadline = startDeadline(timeoutMs, isMutation);
      if (isMutation) extendContext({ deadline });
      else Object.assign(args, { deadline });
      return { onExecuteDone: () => deadline.clear() };
    },
  };
}

/**
 * Starts the deadline of an operation. A query fails as a whole: it is for the executor. Mutations fail one by one,
 * because the response must report what an earlier one has changed: it is for `runUntilDeadline`.
 */
export function startDeadline(timeoutMs: number, isMutation: boolean): Deadline {
  return new Deadline(timeoutMs, isMutation ? notBegun : tooLong);
}

const inSeconds = (timeoutMs: number) => `${timeoutMs / 1000} seconds`;

function tooLong(timeoutMs: number): GraphQLError {
  const message = `The query took longer than ${inSeconds(timeoutMs)}.`;
  return operationError(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 }));
}

function notBegun(timeoutMs: number): AppError {
  const message = `The operation took longer than ${inSeconds(timeoutMs)} and this change had not started: nothing was written.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

/**
 * Runs one mutation until the deadline of its operation. A mutation that has not started to write by then never does. One
 * that has continues to its end, and its response reports what it did.
 *
 * @throws {AppError} UNAVAILABLE when the deadline expires before the mutation starts to write.
 */
export async function runUntilDeadline<T>(context: Context, run: (context: Context) => T | Promise<T>): Promise<T> {
  const { deadline } = context;
  if (deadline === undefined) return run(context);
  deadline.throwIfExpired();
  let isCommitting = false;
  const change = {
    throwIfExpired: () => deadline.throwIfExpired(),
    markCommitting: () => {
      deadline.throwIfExpired();
      isCommitting = true;
    },
  };
  return new Promise((resolve, reject) => {
    const removeListener = deadline.onExpire(() => {
      if (!isCommitting) reject(deadline.error);
    });
    (async () => run({ ...context, changeDeadline: change }))().then(resolve, reject).finally(removeListener);
  });
}

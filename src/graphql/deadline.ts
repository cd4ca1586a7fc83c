import { getOperationAST, type GraphQLError, OperationTypeNode, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '../errors.js';
import type { Context } from './context.js';
import { operationError } from './errors.js';

/** Longer than anything within the limits takes on a busy machine, and shorter than clients and proxies wait. */
export const defaultDeadlineMs = 5000;

/**
 * Ends an operation that takes too long. A query is given up as a whole, and no further resolver of it runs. Mutations
 * are given up one by one by `inTurn`, because what one of them has changed already must be told.
 */
export function useDeadline(deadlineMs: number): Plugin<Context> {
  return {
    onExecute({ args, extendContext }) {
      const operation = getOperationAST(args.document as DocumentNode, args.operationName as string | undefined);
      const isMutation = operation?.operation === OperationTypeNode.MUTATION;
      const { signal, end } = beginDeadline(deadlineMs, isMutation);
      if (isMutation) extendContext({ deadline: signal });
      else Object.assign(args, { signal });
      return { onExecuteDone: end };
    },
  };
}

/** A signal that is aborted when the time of an operation is up, unless that has come to its end. */
export function beginDeadline(deadlineMs: number, isMutation: boolean): { signal: AbortSignal; end: () => void } {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort((isMutation ? notBegun : tooLong)(deadlineMs)), deadlineMs);
  return { signal: deadline.signal, end: () => clearTimeout(timer) };
}

const inWords = (deadlineMs: number) => `${deadlineMs / 1000} seconds`;

function tooLong(deadlineMs: number): GraphQLError {
  const message = `The query took longer than ${inWords(deadlineMs)}.`;
  return operationError(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 }));
}

function notBegun(deadlineMs: number): AppError {
  const message = `The operation took longer than ${inWords(deadlineMs)}, and this change had not begun: nothing was written.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

/**
 * Runs a mutation until the deadline. One that has not begun to write by then never does, and is UNAVAILABLE. One that
 * has goes on to its end, so that its answer tells what it did.
 */
export async function inTurn<T>(context: Context, run: (context: Context) => T | Promise<T>): Promise<T> {
  const { deadline } = context;
  if (deadline === undefined) return run(context);
  deadline.throwIfAborted();
  let hasBegun = false;
  const turn = {
    requireTime: () => deadline.throwIfAborted(),
    begin: () => {
      deadline.throwIfAborted();
      hasBegun = true;
    },
  };
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      if (!hasBegun) reject(deadline.reason as Error);
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    const done = () => deadline.removeEventListener('abort', giveUp);
    (async () => run({ ...context, turn }))().then(resolve, reject).finally(done);
  });
}

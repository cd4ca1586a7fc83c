import { getOperationAST, type GraphQLError, OperationTypeNode, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '../lib/errors.js';
import type { Context } from './context.js';
import { operationError } from './errors.js';
import type { Signal } from './plans/run.js';

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
      if (isMutation) {
        const deadline = beginDeadline(deadlineMs, isMutation);
        extendContext({ deadline });
        return { onExecuteDone: deadline.end };
      }
      // Yoga's own executor needs all that a signal of Node can do.
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(tooLong(deadlineMs)), deadlineMs);
      Object.assign(args, { signal: controller.signal });
      return { onExecuteDone: () => clearTimeout(timer) };
    },
  };
}

/** The end of an operation's time. */
export interface Deadline extends Signal {
  /** The operation has come to its end before. */
  readonly end: () => void;
}

/**
 * Aborts when the time of an operation is up, unless that has come to its end. Node's own signals take twenty times as
 * long to be made and listened to, and nearly all operations end in time.
 */
export function beginDeadline(deadlineMs: number, isMutation: boolean): Deadline {
  const listeners = new Set<() => void>();
  let error: Error | undefined;
  const reason = () => (error ??= (isMutation ? notBegun : tooLong)(deadlineMs));
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    for (const listener of listeners) listener();
  }, deadlineMs);
  return {
    get reason() {
      return reason();
    },
    throwIfAborted: () => {
      if (isOver) throw reason();
    },
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener),
    end: () => clearTimeout(timer),
  };
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
      if (!hasBegun) reject(deadline.reason);
    };
    deadline.addEventListener('abort', giveUp);
    const done = () => deadline.removeEventListener('abort', giveUp);
    (async () => run({ ...context, turn }))().then(resolve, reject).finally(done);
  });
}

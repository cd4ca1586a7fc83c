import {
  createSourceEventStream,
  validateSubscriptionArgs,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { preferredType } from '../../http/content-negotiation.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import type { Logger } from '../../lib/log.js';
import { withTimeout } from '../../lib/timeout.js';
import type { Context } from '../context.js';
import type { Execute } from '../execution/executor/execute.js';
import { requestError, originalErrorOf } from '../errors.js';
import { maskResult } from './use-masked-errors.js';
import type { OpenSubscription, SubscriptionRegistry } from '../execution/subscription-registry.js';

/** How often the credential of an open subscription is verified again. */
export const recheckEveryMs = 5_000;

interface SubscriptionDeps {
  readonly subscriptions: SubscriptionRegistry;
  readonly execute: Execute;
  readonly log: Logger;
  /** The deadline of the start of a subscription, and of each event, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Executes subscriptions. Rejects the request of a subscription that cannot start. A started subscription ends with an
 * error that gives the reason, unless the client closed it. It also ends after an event that failed, because its cursor
 * is lost.
 */
export function useSubscriptions({ subscriptions, execute, log, deadlineMs }: SubscriptionDeps): Plugin<Context> {
  const withDeadline = <T>(work: T | Promise<T>) =>
    withTimeout(deadlineMs, Promise.resolve(work), () => {
      const message = `The subscription took longer than ${deadlineMs / 1000} seconds to start or to produce an event. Subscribe again with the last cursor as \`after\`.`;
      throw new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
    });

  async function subscribe(args: ExecutionArgs): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> {
    const context = args.contextValue as Context;
    const { headers, signal } = context.requestContext;
    if (preferredType(headers.get('accept'), ['text/event-stream']) === undefined) {
      throw requestError(new AppError('INVALID', 'A subscription needs the header Accept: text/event-stream.'), 406);
    }
    let subscription: OpenSubscription | undefined;
    const registerSubscription: Context['registerSubscription'] = (credentialID) => {
      const opened = subscriptions.open(credentialID);
      subscription = opened;
      // A write to a closed connection does not always fail.
      const clientSignal = signal();
      clientSignal.addEventListener('abort', () => opened.end(), { once: true });
      if (clientSignal.aborted) opened.end();
      return opened.signal;
    };
    const source = await withDeadline(
      createSource({ ...args, contextValue: { ...context, registerSubscription } }),
    ).catch((error: unknown) => ({ errors: [error as GraphQLError] }));
    if (!isStream(source)) {
      subscription?.end();
      return { errors: (source.errors ?? []).map(toRequestError) };
    }
    return subscription ? results(source, args, context, subscription) : { errors: [] };
  }

  function results(
    source: AsyncIterable<unknown>,
    args: ExecutionArgs,
    context: Context,
    subscription: OpenSubscription,
  ): AsyncIterableIterator<ExecutionResult> {
    const { requestID } = context;
    const startedMs = performance.now();
    const stopChecking = revalidateCredential(context, subscription);
    let events = 0;

    async function* generate(): AsyncGenerator<ExecutionResult, void> {
      let failure: unknown;
      try {
        for await (const rootValue of source) {
          const contextValue = { ...(args.contextValue as Context), ...context.renewReads() };
          const executed = await withDeadline(execute({ ...args, contextValue, rootValue }));
          const result = await maskResult(executed, requestID, log, context.nextSlice);
          events += 1;
          yield result;
          if (!result.data) return;
        }
        failure = subscription.signal.reason;
      } catch (error) {
        failure = error;
      } finally {
        subscription.end();
        stopChecking();
        const verdict = failure instanceof Error && failure.name !== 'AbortError' ? errorCodeOf(failure) : 'ok';
        const ms = Math.round(performance.now() - startedMs);
        log.info({ requestID, events, verdict, ms }, 'subscription ended');
      }
      // A client that closed the connection receives no error.
      if (failure instanceof Error && failure.name !== 'AbortError') {
        yield await maskResult({ errors: [failure as GraphQLError] }, requestID, log, context.nextSlice);
      }
    }
    const iterator = generate();
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => iterator.next(),
      // A generator that awaits an event returns only after the event, so the subscription ends first.
      return: () => {
        subscription.end();
        return iterator.return();
      },
    };
  }

  return {
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe as Parameters<typeof setSubscribeFn>[0]),
  };
}

/** Returns the events of a subscription, or the errors that prevent its start. */
function createSource(args: ExecutionArgs) {
  const validated = validateSubscriptionArgs(args);
  return 'schema' in validated ? createSourceEventStream(validated) : { errors: validated };
}

/** Ends the subscription when its credential is no longer valid. */
function revalidateCredential(context: Context, subscription: OpenSubscription): () => void {
  const check = async () => {
    try {
      await context.revalidate();
    } catch (error) {
      subscription.end(error);
    }
  };
  const timer = setInterval(() => void check(), recheckEveryMs).unref();
  const stop = () => clearInterval(timer);
  subscription.signal.addEventListener('abort', stop, { once: true });
  return stop;
}

/** The error of the whole request: no response has been sent yet. */
function toRequestError(error: GraphQLError): GraphQLError {
  const cause = originalErrorOf(error);
  return cause instanceof AppError && cause.code !== 'INTERNAL' ? requestError(cause) : error;
}

function isStream(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

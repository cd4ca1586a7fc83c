import {
  createSourceEventStream,
  validateSubscriptionArgs,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from 'graphql';
import { preferredType } from '../../http/content-negotiation.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { withTimeout } from '../../lib/timeout.js';
import type { Context } from '../context.js';
import type { Execute } from './executor/execute.js';
import { requestError, originalErrorOf } from '../errors.js';
import { servedSchema } from '../schema/served.js';
import { maskResult, type MaskDeps } from './response.js';
import type { PreparedOperation } from './operation-cache.js';
import type { RequestedOperation } from './params.js';
import { RejectedOperation } from './rejection.js';
import type { OpenSubscription, SubscriptionRegistry } from './subscription-registry.js';

/** How often the credential of an open subscription is verified again. */
export const recheckEveryMs = 5_000;

/** What `subscribe` needs. */
interface SubscribeDeps extends MaskDeps {
  readonly subscriptions: SubscriptionRegistry;
  readonly execute: Execute;
  /** The deadline of the start of a subscription, and of each event, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Starts a subscription. A started subscription ends with an error that gives the reason, unless the client closed it. It
 * also ends after an event that failed, because its cursor is lost.
 *
 * @throws {RejectedOperation} when the request does not accept an event stream, or the subscription cannot start.
 */
export async function subscribe(
  deps: SubscribeDeps,
  prepared: PreparedOperation,
  variables: RequestedOperation['variables'],
  context: Context,
): Promise<AsyncIterableIterator<ExecutionResult, void, void>> {
  const { headers, signal } = context.requestContext;
  if (preferredType(headers.get('accept'), ['text/event-stream']) === undefined) {
    const error = new AppError('INVALID', 'A subscription needs the header Accept: text/event-stream.');
    throw new RejectedOperation(prepared, [requestError(error, 406)]);
  }
  let subscription: OpenSubscription | undefined;
  let hasFailed = false;
  const registerSubscription: Context['registerSubscription'] = (credentialID) => {
    // A resolver may go on after the deadline. Nothing would end a subscription that it registers then.
    if (hasFailed) throw new AppError('UNAVAILABLE', 'The subscription was registered after its deadline.');
    const opened = deps.subscriptions.open(credentialID);
    subscription = opened;
    // A write to a closed connection does not always fail.
    const clientSignal = signal();
    clientSignal.addEventListener('abort', () => opened.end(), { once: true });
    if (clientSignal.aborted) opened.end();
    return opened.signal;
  };
  const args = {
    schema: servedSchema,
    document: prepared.document,
    operationName: prepared.operation.name?.value,
    variableValues: variables,
    contextValue: { ...context, registerSubscription },
  };
  const source = await withDeadline(deps, createSource(args)).catch((error: unknown) => ({
    errors: [error as GraphQLError],
  }));
  if (isStream(source) && subscription) return resultsOf(deps, source, { prepared, variables, context, subscription });
  hasFailed = true;
  subscription?.end();
  throw new RejectedOperation(prepared, isStream(source) ? [] : (source.errors ?? []).map(toRequestError));
}

interface StartedSubscription {
  readonly prepared: PreparedOperation;
  readonly variables: RequestedOperation['variables'];
  readonly context: Context;
  readonly subscription: OpenSubscription;
}

function resultsOf(
  deps: SubscribeDeps,
  source: AsyncIterable<unknown>,
  { prepared, variables, context, subscription }: StartedSubscription,
): AsyncIterableIterator<ExecutionResult, void, void> {
  const { execute, log, nextSlice } = deps;
  const { requestID } = context;
  const startedMs = performance.now();
  const stopChecking = revalidateCredential(context, subscription);
  let events = 0;

  async function* generate(): AsyncGenerator<ExecutionResult, void, void> {
    let failure: unknown;
    try {
      for await (const rootValue of source) {
        const contextValue = { ...context, ...context.renewReads() };
        const given = { variableValues: variables, contextValue, rootValue, nextSlice };
        const executed = await withDeadline(deps, execute(prepared.compiled, given));
        const result = await maskResult(deps, executed, requestID);
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
      yield await maskResult(deps, { errors: [failure as GraphQLError] }, requestID);
    }
  }
  const iterator = generate();
  let isStarted = false;
  const next = () => {
    isStarted = true;
    return iterator.next();
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next,
    // A generator that awaits an event returns only after the event, so the subscription ends first. One that has not
    // started would return without writing the end of the subscription to the log.
    return: () => {
      subscription.end();
      if (!isStarted) void next();
      return iterator.return();
    },
  };
}

function withDeadline<T>({ deadlineMs }: SubscribeDeps, work: T | Promise<T>): Promise<T> {
  return withTimeout(deadlineMs, Promise.resolve(work), () => {
    const message = `The subscription took longer than ${deadlineMs / 1000} seconds to start or to produce an event. Subscribe again with the last cursor as \`after\`.`;
    throw new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
  });
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

import type { ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { statuses } from '../../http/error-response.js';
import type { RequestHandler } from '../../http/request-handler.js';
import { paramsOfMessage } from '../execution/params.js';
import type { GraphQLServer } from '../server.js';

/** What executes operations: `run` gives each the record of a request. */
export interface OperationDeps extends Pick<RequestHandler, 'run'>, Pick<GraphQLServer, 'serve'> {}

/** The parameters of an operation in a message: `query`, `variables`, `operationName`, `extensions`. */
export interface SentPayload {
  readonly payload: object;
  /** Their size in the message. */
  readonly bytes: number;
}

/** An operation that a client sent over a transport other than HTTP. */
export interface SentOperation extends SentPayload {
  /** The headers of the request, credentials included. */
  readonly headers: Headers;
  readonly socketAddress: string;
}

/** The results of an operation. `return` cancels it, also while a result is awaited. */
export interface OperationResults extends AsyncIterableIterator<object, undefined, void> {
  readonly return: () => Promise<IteratorResult<object, undefined>>;
}

/**
 * Executes an operation with the authentication, the limits, the log line and the metrics of a request.
 *
 * @param cancel - aborted when the client cancels the results
 * @param ended - resolves when the client has all results, or has cancelled them
 */
export function startOperation(
  { run, serve }: OperationDeps,
  { payload, bytes, headers, socketAddress }: SentOperation,
  cancel: AbortController,
  ended?: Promise<void>,
): Promise<OperationResults> {
  const incoming = {
    method: 'POST',
    target: '/graphql',
    // The transport can send a stream.
    headers: { get: (name: string) => (name === 'accept' ? 'text/event-stream' : headers.get(name)) },
    openBody: () => undefined,
    openSignal: () => cancel.signal,
  };
  return run(incoming, socketAddress, async (request) => {
    const { record } = request;
    record.route = '/graphql';
    const result = await serve(() => paramsOfMessage(request, payload, bytes), request);
    if (isAsyncIterable(result)) return { result: streamOf(result, cancel), status: 200, ended };
    const status = 'data' in result || record.verdict === 'ok' ? 200 : statuses[record.verdict];
    return { result: singleResult(shownResult(result)), status };
  });
}

/** The results of a subscription, none after it was cancelled. */
function streamOf(results: AsyncIterator<ExecutionResult, void, void>, cancel: AbortController): OperationResults {
  let isCancelled = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => {
      const { done, value } = await results.next();
      return isCancelled || done === true ? noMoreResults : { value: shownResult(value) };
    },
    return: async () => {
      isCancelled = true;
      cancel.abort();
      await results.return?.();
      return noMoreResults;
    },
  };
}

const noMoreResults = { done: true, value: undefined } as const;

/**
 * A single result, such as the errors of a rejected operation. Replaces the message `error` of the protocol, whose
 * errors Hive's gateway loses.
 */
export function singleResult(result: object): OperationResults {
  let next: object | undefined = result;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => {
      const value = next;
      next = undefined;
      return Promise.resolve(value ? { done: false, value } : noMoreResults);
    },
    return: () => {
      next = undefined;
      return Promise.resolve(noMoreResults);
    },
  };
}

/** A result as clients receive it, without what only concerns HTTP. */
function shownResult({ data, errors, extensions }: ExecutionResult): object {
  return {
    ...(errors && { errors: errors.map(shownError) }),
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
  };
}

/** An error as clients receive it. Those of fields are JSON already. */
export function shownError(error: GraphQLError): object {
  const { extensions, ...rest } = 'toJSON' in error ? error.toJSON() : error;
  const { http: _http, ...shown } = extensions ?? {};
  return { ...rest, extensions: shown };
}

import type { ExecutionResult } from 'graphql';
import { parseJSON, stringifyJSON } from '../../lib/json.js';

/** Serves an HTTP request of the API, in this process. */
export type ServeRequest = (request: Request, socketAddress: string) => Promise<Response>;

/** An operation that a client sent over a transport other than HTTP. */
export interface SentOperation {
  /** The members of a GraphQL over HTTP request: `query`, `variables`, `operationName`, `extensions`. */
  readonly payload: object;
  /** The headers of the request, credentials included. */
  readonly headers: Headers;
  readonly socketAddress: string;
}

/** The results of an operation. `return` cancels it, also while a result is awaited. */
export interface OperationResults extends AsyncIterableIterator<ExecutionResult, undefined, void> {
  readonly return: () => Promise<IteratorResult<ExecutionResult, undefined>>;
}

/**
 * Executes an operation as a request for an event stream, so that every transport has the same authentication, limits,
 * deadlines, log lines and metrics.
 *
 * @param cancel - aborted when the client cancels the results
 */
export async function openOperationStream(
  serve: ServeRequest,
  { payload, headers, socketAddress }: SentOperation,
  cancel: AbortController,
): Promise<OperationResults> {
  const request = new Request('http://localhost/graphql', {
    method: 'POST',
    headers: { ...Object.fromEntries(headers), accept: 'text/event-stream', 'content-type': 'application/json' },
    body: stringifyJSON(payload),
    signal: cancel.signal,
  });
  const response = await serve(request, socketAddress);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && response.body !== null) return resultsOf(response.body, cancel);
  return singleResult((await response.json()) as object);
}

/** The results in the events of a stream. Each is the `data` of one event, on one line. */
function resultsOf(events: ReadableStream<Uint8Array>, cancel: AbortController): OperationResults {
  const reader = events.getReader();
  let isCancelled = false;
  async function* read(): AsyncGenerator<ExecutionResult, undefined, void> {
    const decoder = new TextDecoder();
    let rest = '';
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const lines = `${rest}${decoder.decode(chunk.value, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!isCancelled && line.startsWith('data: ')) yield parseJSON(line.slice('data: '.length)) as ExecutionResult;
      }
    }
    return undefined;
  }
  const results = read();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next(),
    return: () => {
      isCancelled = true;
      // Ends the stream, which is then read to its end: cancelling it before its first read would throw in Yoga.
      cancel.abort();
      return results.next();
    },
  };
}

/**
 * A single result, such as the errors of a rejected operation. Replaces the message `error` of the protocol, whose
 * errors Hive's gateway loses.
 */
export function singleResult(result: object): OperationResults {
  let next: ExecutionResult | undefined = result;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => {
      const value = next;
      next = undefined;
      return Promise.resolve(value ? { done: false, value } : { done: true, value: undefined });
    },
    return: () => {
      next = undefined;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}

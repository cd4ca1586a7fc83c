import type { WebSocket } from 'ws';
import type { Enqueue } from '../../http/server/admission-control.js';
import { AppError } from '../../lib/errors.js';
import { isObject, parseJSON, stringifyJSON } from '../../lib/json.js';
import { maskError } from '../errors.js';
import { openOperationStream, singleResult, type OperationResults, type ServeRequest } from './operation-stream.js';

/** An open connection. */
export interface Connection {
  readonly socket: WebSocket;
  readonly socketAddress: string;
  readonly enqueue: Enqueue;
  /** The payloads of operations that are about to start, by their ids. */
  readonly payloads: Map<string, object>;
  /** The headers of its operations: those of the handshake, overridden by `connectionParams`. */
  headers: Headers;
  readonly operations: Set<AbortController>;
  /** The maximum number of concurrent operations. */
  readonly maxOperations: number;
  /** Called before the message that completes an operation is sent. */
  readonly onOperationEnd: () => void;
  /** Whether the client has responded to the last ping. */
  isAlive: boolean;
  /** Whether an operation was started since the last ping. */
  isUsed: boolean;
}

/** Executes an operation of a connection. */
export async function startOperation(
  serve: ServeRequest,
  connection: Connection,
  id: string,
  reportError: (error: unknown) => void,
): Promise<OperationResults> {
  const { operations, maxOperations, payloads, enqueue, onOperationEnd } = connection;
  const payload = payloads.get(id) ?? {};
  payloads.delete(id);
  if (operations.size >= maxOperations) return errorResults(tooManyOperationsError(maxOperations));
  const cancel = new AbortController();
  operations.add(cancel);
  connection.isUsed = true;
  const end = () => {
    operations.delete(cancel);
    onOperationEnd();
  };
  try {
    await waitForAdmission(enqueue);
    const results = await openOperationStream(serve, { ...connection, payload }, cancel);
    return withEndCallback(results, end, reportError);
  } catch (error) {
    end();
    if (!(error instanceof AppError)) reportError(error);
    return errorResults(error);
  }
}

/**
 * Returns the message for graphql-ws. Keeps the payload of an operation in `payloads`, because graphql-ws uses
 * `JSON.parse`, which rounds integers and misreads escaped names.
 *
 * @throws {AppError} INVALID when the text is not JSON, or has a repeated member
 */
export function readMessage({ payloads }: Connection, text: string): string {
  const message = parseJSON(text);
  if (!isObject(message) || message['type'] !== 'subscribe') return stringifyJSON(message);
  const { id, payload } = message;
  if (typeof id !== 'string' || !isObject(payload)) return stringifyJSON(message);
  payloads.set(id, payload);
  // A trusted document has no text.
  return JSON.stringify({ id, type: 'subscribe', payload: { query: '' } });
}

function tooManyOperationsError(maxOperations: number): AppError {
  const message = `The connection already has ${maxOperations} operations, which is the maximum.`;
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: 10 });
}

function errorResults(error: unknown): OperationResults {
  const { message, extensions } = maskError(error);
  const { http: _http, ...shown } = extensions;
  return singleResult({ errors: [{ message, extensions: shown }] });
}

/** @throws {AppError} UNAVAILABLE when the service is overloaded */
function waitForAdmission(enqueue: Enqueue): Promise<void> {
  return new Promise((resolve, reject) => {
    const message = 'The service is overloaded. It has not executed the operation.';
    enqueue(resolve, () => reject(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 })));
  });
}

/**
 * Calls back when the results end, fail or are cancelled. The client receives no details of a failure. `return` does not
 * reject: graphql-ws does not await it.
 */
function withEndCallback(
  results: OperationResults,
  onEnd: () => void,
  onError: (error: unknown) => void,
): OperationResults {
  const observe = async (step: ReturnType<OperationResults['next']>) => {
    try {
      const result = await step;
      if (result.done === true) onEnd();
      return result;
    } catch (error) {
      onEnd();
      onError(error);
      throw new Error('Internal error.', { cause: error });
    }
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => observe(results.next()),
    return: () => observe(results.return()).catch(() => ({ done: true, value: undefined })),
  };
}

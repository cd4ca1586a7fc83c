import type { WebSocket } from 'ws';
import { AppError } from '../../lib/errors.js';
import { isObject, parseJSON, stringifyJSON, type JSONValue } from '../../lib/json.js';
import type { Admit } from '../../lib/scheduler.js';
import { maskError } from '../errors.js';
import {
  shownError,
  singleResult,
  startOperation,
  type OperationDeps,
  type OperationResults,
  type SentPayload,
} from './operation.js';

/** An open connection. */
export interface Connection {
  readonly socket: WebSocket;
  readonly socketAddress: string;
  readonly admit: Admit;
  /** The payloads of operations that are about to start, by their ids. */
  readonly payloads: Map<string, SentPayload>;
  /** The headers of its operations: those of the handshake, overridden by `connectionParams`. */
  headers: Headers;
  readonly operations: Set<AbortController>;
  /** The maximum number of concurrent operations. */
  readonly maxOperations: number;
  /** Called before the message that completes an operation is sent. */
  readonly onOperationEnd: () => void;
  /** Settled when the newest operation has been admitted or rejected. */
  admission: Promise<unknown>;
  /** Whether the connection has been initialized. */
  isAcknowledged: boolean;
  /** Whether the client has responded to the last ping. */
  isAlive: boolean;
  /** Whether an operation was started since the last ping. */
  isUsed: boolean;
}

/** Executes an operation of a connection. */
export async function openOperation(
  deps: OperationDeps,
  connection: Connection,
  id: string,
  reportError: (error: unknown) => void,
): Promise<OperationResults> {
  const { operations, maxOperations, payloads, admit, onOperationEnd } = connection;
  const sent = payloads.get(id) ?? { payload: {}, bytes: 0 };
  payloads.delete(id);
  if (operations.size >= maxOperations) return errorResults(tooManyOperationsError(maxOperations));
  const cancel = new AbortController();
  operations.add(cancel);
  connection.isUsed = true;
  const ended = Promise.withResolvers<void>();
  const end = () => {
    ended.resolve();
    operations.delete(cancel);
    onOperationEnd();
  };
  try {
    const admission = waitForAdmission(admit);
    connection.admission = admission.catch(() => undefined);
    await admission;
    // As for a request, the client may have closed the connection meanwhile.
    cancel.signal.throwIfAborted();
    const { headers, socketAddress } = connection;
    const results = await startOperation(deps, { ...sent, headers, socketAddress }, cancel, ended.promise);
    return withEndCallback(results, end, reportError);
  } catch (error) {
    end();
    if (!(error instanceof AppError || cancel.signal.aborted)) reportError(error);
    return errorResults(error);
  }
}

/** The types of the messages that clients send. */
const messageTypes = ['connection_init', 'ping', 'pong', 'subscribe', 'complete'] as const;

/** The maximum size of a message without an operation. */
const smallMessageBytes = 8 * 1024;

/** The members of a message around the payload of an operation. */
const bytesAroundPayload = '{"id":"","type":"subscribe","payload":}'.length;

/** A message for graphql-ws. */
export interface ReadMessage {
  readonly type: (typeof messageTypes)[number];
  readonly text: string;
}

/**
 * Reads a message. Keeps the payload of an operation in `payloads`, because graphql-ws uses `JSON.parse`, which rounds
 * integers and misreads escaped names.
 *
 * @throws {AppError} INVALID when the message is not JSON, has a repeated member, or is none that a client may send
 */
export function readMessage({ payloads }: Connection, data: Buffer): ReadMessage {
  const message = parseMessage(data.toString('utf8'));
  const type = isObject(message) ? messageTypes.find((one) => one === message['type']) : undefined;
  if (!isObject(message) || type === undefined) {
    throw new AppError('INVALID', `The type of a message must be one of ${messageTypes.join(', ')}.`);
  }
  if (type !== 'subscribe') {
    if (data.length <= smallMessageBytes) return { type, text: stringifyJSON(message) };
    throw new AppError(
      'INVALID',
      `Only a message of the type subscribe may have more than ${smallMessageBytes} bytes.`,
    );
  }
  const { id, payload } = message;
  if (typeof id !== 'string' || !isObject(payload)) return { type, text: stringifyJSON(message) };
  payloads.set(id, { payload, bytes: data.length - Buffer.byteLength(id) - bytesAroundPayload });
  // A trusted document has no text.
  return { type, text: JSON.stringify({ id, type, payload: { query: '' } }) };
}

/** Without the details of the error, which describes the body of a request. */
function parseMessage(text: string): JSONValue {
  try {
    return parseJSON(text);
  } catch (cause) {
    throw new AppError('INVALID', 'The message is not valid JSON.', { cause });
  }
}

function tooManyOperationsError(maxOperations: number): AppError {
  const message = `The connection already has ${maxOperations} operations, which is the maximum.`;
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: 10 });
}

function errorResults(error: unknown): OperationResults {
  return singleResult({ errors: [shownError(maskError(error))] });
}

/** @throws {AppError} UNAVAILABLE when the service is overloaded */
function waitForAdmission(admit: Admit): Promise<void> {
  return new Promise((resolve, reject) => {
    const message = 'The service is overloaded. It has not executed the operation.';
    admit(resolve, () => reject(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 })));
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

import { resultsIn } from './event-stream.js';
import { parseJSON } from './json.js';
import type { TypedDocumentString } from './generated/graphql.js';

/* What a dashboard asks Keyfront with. It needs `fetch` and no package, and runs in browsers as it does in Node. */

export * from './generated/graphql.js';

export interface ClientOptions {
  /** Where the service is, such as `https://keyfront.example.com`. */
  readonly url: string;
  /** Opens previews: a management credential, or a token of single sign-on. A function is asked before each request. */
  readonly management?: Credential | undefined;
  /** Opens the keys of organisations: a service credential. */
  readonly service?: Credential | undefined;
  /** In the place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

export type Credential = string | (() => string | Promise<string>);

export interface Client {
  /**
   * Sends a document and returns its data. Fields that failed are null in it, with an error each: look at `errors` before
   * you take a null for the value.
   *
   * @throws {KeyfrontError} if there is no data; otherwise as `fetch` does if there is no response
   */
  send<Data, Variables>(
    document: TypedDocumentString<Data, Variables>,
    variables: Variables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<OperationResult<Data>>;
  /**
   * Sends a document that asks for `orgKeyChanged` and its cursor, and yields its events, each once and in order. If the
   * connection ends, it continues from the last cursor by itself.
   *
   * @throws {KeyfrontError} if another connection would not help
   */
  follow<Result extends Following, Variables extends { readonly after?: string | null | undefined }>(
    document: TypedDocumentString<Result, Variables>,
    variables: Variables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<OperationResult<Result>, void>;
}

/** The data of an operation, and the errors of the fields that are null because of them. */
export interface OperationResult<Data> {
  readonly data: Data;
  readonly errors: readonly KeyfrontError[];
}

interface Following {
  readonly orgKeyChanged: { readonly cursor: string };
}

/** What went wrong, for programs. The README says what each means. */
export type KeyfrontErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'INVALID'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** One problem of one value: "path message" reads as a sentence. */
export interface KeyfrontIssue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

interface Details {
  readonly issues?: readonly KeyfrontIssue[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestID?: string | undefined;
  readonly path?: readonly (string | number)[] | undefined;
}

/** A refusal. Its `message` is for people. */
export class KeyfrontError extends Error {
  readonly code: KeyfrontErrorCode;
  /** Every problem of what was sent, or what has changed since; empty for other errors. */
  readonly issues: readonly KeyfrontIssue[];
  /** When to try again, where that helps. */
  readonly retryAfterSeconds: number | undefined;
  /** Names the request in the log of the service. */
  readonly requestID: string | undefined;
  /** The field of the operation that failed; undefined if the operation failed as a whole. */
  readonly path: readonly (string | number)[] | undefined;

  constructor(code: KeyfrontErrorCode, message: string, details: Details = {}) {
    super(message);
    this.name = 'KeyfrontError';
    this.code = code;
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestID = details.requestID;
    this.path = details.path;
  }
}

/** A client of one service. Integers beyond 2^53 are digits in a text, both ways: `BigInt(value)` computes with them. */
export function createClient({ url, management, service, fetch = globalThis.fetch }: ClientOptions): Client {
  const endpoint = `${url.replace(/\/+$/, '')}/graphql`;
  const post = async (accept: string, query: string, variables: unknown, signal: AbortSignal | undefined) => {
    const [bearer, key] = await Promise.all([secretOf(management), secretOf(service)]);
    return fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(key !== undefined && { 'x-svc-authorization': key }),
      },
      body: JSON.stringify({ query, variables }),
      credentials: 'omit',
      ...(signal && { signal }),
    });
  };

  /** The events of one connection. */
  async function* connected<Result>(
    query: string,
    variables: unknown,
    outer: AbortSignal | undefined,
  ): AsyncGenerator<OperationResult<Result>, void> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    outer?.addEventListener('abort', abort, { once: true });
    if (outer?.aborted) abort();
    try {
      const response = await post('text/event-stream', query, variables, controller.signal);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (!isStream || !response.body) throw errorOf(await answerOf<Result>(response), response);
      for await (const answer of resultsIn(response.body, { silentAfterMs, onSilent: abort })) {
        yield resultOf(answer as Answer<Result>, response);
      }
    } finally {
      outer?.removeEventListener('abort', abort);
      abort();
    }
  }

  return {
    async *follow(document, variables, { signal } = {}) {
      const isOver = () => signal?.aborted === true;
      let { after } = variables;
      for (let failures = 0; !isOver(); failures += 1) {
        let waitMs = Math.min(firstWaitMs * 2 ** failures, longestWaitMs) * (0.5 + Math.random() / 2);
        try {
          for await (const event of connected<Following>(document.toString(), { ...variables, after }, signal)) {
            after = event.data.orgKeyChanged.cursor;
            failures = 0;
            yield event as never;
          }
        } catch (error) {
          if (isOver()) return;
          if (error instanceof KeyfrontError) {
            if (!passing.has(error.code)) throw error;
            waitMs = Math.max(waitMs, (error.retryAfterSeconds ?? 0) * 1000);
          }
        }
        await pause(waitMs, signal);
      }
    },
    send: async <Data, Variables>(
      document: TypedDocumentString<Data, Variables>,
      variables: Variables,
      { signal }: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<OperationResult<Data>> => {
      const accept = 'application/graphql-response+json, application/json';
      const response = await post(accept, document.toString(), variables, signal);
      return resultOf(await answerOf<Data>(response), response);
    },
  };
}

const silentAfterMs = 40_000;
const firstWaitMs = 250;
const longestWaitMs = 15_000;
/** What is over after a while, and may be tried again. */
const passing: ReadonlySet<KeyfrontErrorCode> = new Set(['UNAVAILABLE', 'RATE_LIMITED']);

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

function secretOf(credential: Credential | undefined): string | undefined | Promise<string> {
  return typeof credential === 'function' ? credential() : credential;
}

/** An answer of GraphQL, or of the server before it, which is in the form of REST. */
interface Answer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Details & { readonly code?: KeyfrontErrorCode };
  }[];
  readonly code?: KeyfrontErrorCode;
  readonly message?: string;
}

/** The body of a response; an empty answer when it is not JSON, as of a proxy. */
async function answerOf<Result>(response: Response): Promise<Answer<Result>> {
  try {
    const body = parseJSON(await response.text());
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // Not JSON.
  }
  return {};
}

function resultOf<Data>(answer: Answer<Data>, response: Response): OperationResult<Data> {
  const { data, errors = [] } = answer;
  if (!data) throw errorOf(answer, response);
  return { data, errors: errors.map((error) => errorOf({ errors: [error] }, response)) };
}

function errorOf({ errors: [first] = [], code, message }: Answer<unknown>, response: Response): KeyfrontError {
  const { status, headers } = response;
  const { code: named = code, ...details } = first?.extensions ?? {};
  const wait = Number(headers.get('retry-after') ?? Number.NaN);
  return new KeyfrontError(
    named ?? codeOf(status),
    first?.message ?? message ?? `The service answered with status ${status}.`,
    {
      ...details,
      path: first?.path,
      retryAfterSeconds: details.retryAfterSeconds ?? (Number.isFinite(wait) ? wait : undefined),
      requestID: details.requestID ?? headers.get('x-request-id') ?? undefined,
    },
  );
}

/** Of answers that are not Keyfront's: a proxy before it may speak for it. */
function codeOf(status: number): KeyfrontErrorCode {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 429) return 'RATE_LIMITED';
  return status >= 502 && status <= 504 ? 'UNAVAILABLE' : 'INTERNAL';
}

import { parametersOf, type DocumentText, type TypedDocument } from './document.js';
import { readEventStream } from './event-stream.js';
import { KeyfrontError, type KeyfrontErrorCode, type KeyfrontErrorDetails } from './errors.js';
import { parseJSON } from './json.js';
import { createRetries } from './retry.js';

/* GraphQL client for Keyfront. It uses `fetch`, has no dependencies, and runs in browsers and in Node. */

export type { DocumentText, DocumentTypes, TypedDocument } from './document.js';
export * from './edit.js';
export { KeyfrontError, type KeyfrontErrorCode, type KeyfrontIssue } from './errors.js';
export * from './generated/graphql.js';
export * from './copy-digest.js';
export * from './sync.js';

/** Options of a client. `Tree` is the type of the syntax trees that it sends besides texts. */
export interface ClientOptions<Tree = never> {
  /** Base URL of the service, such as `https://keyfront.example.com`. */
  readonly url: string;
  /** For previews: a management credential, or a token of single sign-on. A function is called before each request. */
  readonly management?: Credential | undefined;
  /** For the keys of organizations: a service credential, or a token of single sign-on. */
  readonly service?: Credential | undefined;
  /** Whether to send the id of each document in place of its text, for services that execute trusted documents only. */
  readonly trustedDocuments?: boolean | undefined;
  /** Prints documents that are syntax trees, such as those of gql.tada and Apollo Client: `print` of the package graphql. */
  readonly print?: ((tree: Tree) => string) | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** A credential, or a function that returns it. */
export type Credential = string | (() => string | Promise<string>);

/** A client of one service. */
export interface Client<Tree = never> {
  /**
   * Sends an operation and returns its data. A field that failed is null and has an entry in `errors`: check `errors`
   * before you use a null as a value.
   *
   * @throws {KeyfrontError} if there is no data, or every field of the operation failed; UNREACHABLE if there is no response
   */
  send<Data, Variables>(
    document: TypedDocument<Data, Variables, Tree>,
    variables: Variables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<OperationResult<Data>>;
  /**
   * Sends a subscription to `orgKeyChanged` that selects its cursor and has the variable `$after`, and yields the events,
   * each once and in order. If the connection ends, it reconnects and continues after the last cursor.
   *
   * @throws {KeyfrontError} if the error is permanent; RATE_LIMITED after the fifth such response in a row
   */
  follow<Result extends ChangeSubscription, Variables extends { readonly after?: string | null | undefined }>(
    document: TypedDocument<Result, Variables, Tree>,
    variables: Variables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<OperationResult<Result>, void>;
}

/** The data of an operation, and the errors of the fields that are null because of them. */
export interface OperationResult<Data> {
  readonly data: Data;
  readonly errors: readonly KeyfrontError[];
}

/** The data of a subscription that `follow` accepts. */
export interface ChangeSubscription {
  readonly orgKeyChanged: { readonly cursor: string };
}

/**
 * Creates a client of one service. In both directions, integers beyond 2^53 are strings of digits; convert them with
 * `BigInt`.
 */
export function createClient<Tree = never>(options: ClientOptions<Tree>): Client<Tree> {
  type Sent = DocumentText | Tree;
  const { url, management, service, trustedDocuments = false, print, fetch = globalThis.fetch } = options;
  const endpoint = `${url.replace(/\/+$/, '')}/graphql`;
  const post = async (accept: string, document: Sent, variables: unknown, signal: AbortSignal | undefined) => {
    const parameters = parametersOf(document, print, trustedDocuments);
    const [bearer, key] = await Promise.all([secretOf(management), secretOf(service)]);
    const response = fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(key !== undefined && { 'x-svc-authorization': key }),
      },
      body: JSON.stringify({ ...parameters, variables }),
      credentials: 'omit',
      ...(signal && { signal }),
    });
    return response.catch((cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw new KeyfrontError('UNREACHABLE', `Cannot connect to ${endpoint}.`, { cause });
    });
  };

  /** Yields the events of one connection. */
  async function* streamEvents<Result>(
    document: Sent,
    variables: unknown,
    outer: AbortSignal | undefined,
  ): AsyncGenerator<OperationResult<Result>, void> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    outer?.addEventListener('abort', abort, { once: true });
    if (outer?.aborted) abort();
    try {
      const response = await post('text/event-stream', document, variables, controller.signal);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (!isStream || !response.body) throw toError(await readBody<Result>(response), response);
      for await (const result of readEventStream(response.body, { silenceTimeoutMs, onSilence: abort })) {
        yield toResult(result as ResponseBody<Result>, response);
      }
    } finally {
      outer?.removeEventListener('abort', abort);
      abort();
    }
  }

  return {
    async *follow(document, variables, { signal } = {}) {
      const isAborted = () => signal?.aborted === true;
      let { after } = variables;
      const retries = createRetries(signal);
      while (!isAborted()) {
        let failure: unknown;
        try {
          for await (const event of streamEvents<ChangeSubscription>(document, { ...variables, after }, signal)) {
            after = event.data.orgKeyChanged.cursor;
            retries.reset();
            yield event as never;
          }
        } catch (error) {
          if (isAborted()) return;
          failure = error;
        }
        await retries.after(failure);
      }
    },
    send: async <Data, Variables>(
      document: TypedDocument<Data, Variables, Tree>,
      variables: Variables,
      { signal }: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<OperationResult<Data>> => {
      const accept = 'application/graphql-response+json, application/json';
      const response = await post(accept, document, variables, signal);
      return toResult(await readBody<Data>(response), response);
    },
  };
}

/** The service sends an event or a comment about every 12 seconds. */
const silenceTimeoutMs = 40_000;

function secretOf(credential: Credential | undefined): string | undefined | Promise<string> {
  return typeof credential === 'function' ? credential() : credential;
}

/** A GraphQL response, or an error response of the HTTP server, which has the form of REST. */
interface ResponseBody<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: KeyfrontErrorDetails & { readonly code?: KeyfrontErrorCode };
  }[];
  readonly code?: KeyfrontErrorCode;
  readonly message?: string;
}

/** Parses the body of a response. Returns an empty object if it is not JSON, such as from a proxy. */
async function readBody<Result>(response: Response): Promise<ResponseBody<Result>> {
  try {
    const body = parseJSON(await response.text());
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // Not JSON.
  }
  return {};
}

function toResult<Data>(body: ResponseBody<Data>, response: Response): OperationResult<Data> {
  const { data, errors = [] } = body;
  // Root fields are nullable, so that a failed field does not erase the others, which may be null as their value.
  const hasFailed = ([field, value]: [string, unknown]) =>
    value === null && errors.some(({ path }) => path === undefined || path[0] === field);
  const isEmpty = !data || (errors.length > 0 && Object.entries(data).every(hasFailed));
  if (isEmpty) throw toError(body, response);
  return { data, errors: errors.map((error) => toError({ errors: [error] }, response)) };
}

function toError({ errors: [first] = [], code, message }: ResponseBody<unknown>, response: Response): KeyfrontError {
  const { status, headers } = response;
  const { code: errorCode = code, ...details } = first?.extensions ?? {};
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  return new KeyfrontError(
    errorCode ?? codeOfStatus(status),
    first?.message ?? message ?? `The service returned status ${status}.`,
    {
      ...details,
      path: first?.path,
      retryAfterSeconds: details.retryAfterSeconds ?? (Number.isFinite(retryAfter) ? retryAfter : undefined),
      requestID: details.requestID ?? headers.get('x-request-id') ?? undefined,
    },
  );
}

/** The code for a response that is not Keyfront's, such as one of a proxy. */
function codeOfStatus(status: number): KeyfrontErrorCode {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 429) return 'RATE_LIMITED';
  return status >= 502 && status <= 504 ? 'UNAVAILABLE' : 'INTERNAL';
}

import type { PastedCredentials } from './credentials.js';
import { readEventStream } from './event-stream.js';
import { explainMissingSample, explainRejection, type SentHeader } from './explain.js';
import type { Subscriptions } from './subscriptions.js';

interface FetcherOptions {
  readonly credentials: PastedCredentials;
  readonly subscriptions: Subscriptions;
  /** Shows a text above GraphiQL; an empty one hides it. */
  readonly showHint: (text: string) => void;
  readonly reloadSchema: () => void;
}

/** The parameters of an operation as GraphiQL passes them. */
interface OperationParams {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

interface GraphQLResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
  }[];
}

/** Sends the operations of GraphiQL, with the credentials of all tabs, and explains rejected ones. */
export function createFetcher({ credentials, subscriptions, showHint, reloadSchema }: FetcherOptions) {
  let isSchemaMissing = false;

  function explain(result: GraphQLResult, request: string, sent: readonly SentHeader[]): string {
    const errors = result.errors ?? [];
    const isSchemaRequest = request.includes('__schema');
    const rateLimit = errors.find(({ extensions }) => extensions?.code === 'RATE_LIMITED')?.extensions;
    const isUnauthenticated = errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
    if (isUnauthenticated || rateLimit !== undefined) {
      credentials.forget(sent);
      isSchemaMissing ||= isSchemaRequest;
      if (rateLimit !== undefined) {
        return `Too many invalid credentials. Wait ${rateLimit.retryAfterSeconds ?? 60} seconds before the next attempt; a valid credential is accepted immediately.`;
      }
      return explainRejection(
        isSchemaRequest ? 'any' : /\bpreviewKey\b/.test(request) ? 'management' : 'service',
        sent,
      );
    }
    if (isSchemaRequest) isSchemaMissing = false;
    else if (isSchemaMissing && sent.some(({ value }) => value !== '')) reloadSchema();
    const isNotFound = errors.some(({ extensions }) => extensions?.code === 'NOT_FOUND');
    const hasNullField = Object.values(result.data ?? {}).includes(null);
    return isNotFound || hasNullField ? explainMissingSample(request) : '';
  }

  return async (
    { query, operationName, variables }: OperationParams,
    options: { readonly headers?: HeadersInit } = {},
  ) => {
    const operation = chooseOperation(query, operationName);
    const isSubscription = operation?.type === 'subscription';
    const body = JSON.stringify({ query, variables, operationName: operation?.name });
    const running = isSubscription ? subscriptions.find(body) : undefined;
    if (running !== undefined) return running;

    const headers = new Headers(options.headers);
    const sent = credentials.complete(headers);
    headers.set('content-type', 'application/json');
    headers.set('accept', isSubscription ? 'text/event-stream' : 'application/graphql-response+json, application/json');
    const tab = subscriptions.activeTab();
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch('/graphql', { method: 'POST', headers, body, signal, credentials: 'omit' });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (!isStream || response.body === null) {
      const text = await response.text();
      const result = parse(text) as GraphQLResult;
      showHint(explain(result, body, sent));
      return result;
    }
    showHint('');
    async function* events(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<unknown, void> {
      for await (const text of readEventStream(stream)) {
        const result = parse(text) as GraphQLResult;
        const hint = explain(result, body, sent);
        if (hint !== '') showHint(hint);
        yield result;
      }
    }
    return subscriptions.start(tab, body, events(response.body), () => controller.abort());
  };
}

/** Chooses the operation: just after a change of tab, GraphiQL still passes an operation name of the previous tab. */
function chooseOperation(
  query: string,
  name: string | null | undefined,
): { type: string; name: string | undefined } | undefined {
  const operations = [...query.matchAll(/^[ \t]*(query|mutation|subscription)\b[ \t]*(\w*)/gm)];
  const [, type, chosen] = operations.find((operation) => operation[2] === name) ?? operations[0] ?? [];
  return type === undefined ? undefined : { type, name: chosen || undefined };
}

/** The script of GraphiQL replaces `JSON.parse` by one that keeps the digits of large integers. */
function parse(text: string): unknown {
  return JSON.parse(text);
}

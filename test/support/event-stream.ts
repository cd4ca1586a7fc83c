/** The messages of a stream of GraphQL results. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** Resolves to the next result, or to undefined after the event `complete`. Rejects if the connection ends before. */
  readonly next: () => Promise<StreamedResult | undefined>;
  /** Resolves to the remaining results, after the event `complete`. */
  readonly rest: () => Promise<StreamedResult[]>;
  readonly close: () => void | Promise<unknown>;
}

export interface StreamedResult {
  readonly data?: { readonly orgKeyChanged: StreamedChange } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: Readonly<Record<string, unknown>> }[];
}

export interface StreamedChange {
  readonly __typename: string;
  readonly cursor: string;
  readonly keyHash?: string | null;
  readonly entry?: { readonly version: number; readonly operation: string; readonly reason?: string } | null;
  readonly key?: { readonly version: number; readonly keyID: string } | null;
}

export const followQuery = `subscription ($orgID: String, $keyHash: String, $after: String) {
  orgKeyChanged(orgID: $orgID, keyHash: $keyHash, after: $after) {
    __typename cursor ... on OrgKeyChanged { keyHash entry { version operation reason } }
  }
}`;

interface SubscriptionOptions {
  readonly url: string;
  readonly service?: string;
  readonly query?: string;
  readonly variables?: object;
  readonly headers?: Record<string, string>;
}

/** Subscribes as a browser does, over fetch. */
export async function openStream({
  url,
  service,
  query = followQuery,
  variables = {},
  headers = {},
}: SubscriptionOptions): Promise<EventStream> {
  const controller = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(service && { 'x-svc-authorization': service }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    signal: controller.signal,
  });
  return { ...readStream(response), close: () => controller.abort() };
}

/** Reads the event stream of a response, or the JSON body of an error response. */
export function readStream(response: Response): EventStream {
  const messages = response.ok ? messagesOf(response) : bodyOf(response);
  const next = async () => {
    const { value } = await messages.next();
    return value === undefined ? undefined : (JSON.parse(value) as StreamedResult);
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    close: () => messages.return(undefined),
    rest: async () => {
      const all: StreamedResult[] = [];
      for (let result = await next(); result; result = await next()) all.push(result);
      return all;
    },
  };
}

async function* bodyOf(response: Response): AsyncGenerator<string, undefined> {
  yield await response.text();
  return undefined;
}

/** Yields the data of each event `next`. Returns after the event `complete`. */
async function* messagesOf(response: Response): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, event, data] = /^event: (\w+)\ndata: ?([^]*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event === 'complete') return undefined;
      if (event === 'next') yield data ?? '';
    }
  }
  throw new Error('The stream broke.');
}

import type { Browser, CredentialHeader } from './browser.js';
import type { explain } from './explain.js';

interface Answer {
  readonly errors?: readonly {
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
  }[];
}

interface Tools {
  readonly credentials: readonly CredentialHeader[];
  readonly explain: typeof explain;
  /** Shows words above GraphiQL, and takes them away where there are none. */
  readonly say: (words: string) => void;
  readonly reloadSchema: () => void;
}

/**
 * Looks at each request and its answer. A credential that has opened something is used wherever a tab still has the bare
 * beginning of one, so that it is pasted once; what is wrong with one is explained.
 */
export function watchCredentials(browser: Browser, { credentials, explain, say, reloadSchema }: Tools): void {
  // In the memory of this page, and nowhere else.
  const opened = new Map<string, string>();
  let schemaIsMissing = false;

  const send = browser.fetch.bind(browser);
  browser.fetch = async (target, init = {}) => {
    const headers = new Headers(init.headers);
    const sent = credentials.map((header) => {
      const written = headers.get(header.name)?.trim() ?? '';
      const isBare = written !== '' && header.beginning.startsWith(written);
      return { ...header, value: isBare ? (opened.get(header.name) ?? '') : written };
    });
    for (const { name, value } of sent) {
      // A bare beginning is no guess at a credential, and must not be counted as one.
      if (value === '') headers.delete(name);
      else headers.set(name, value);
    }
    const response = await send(target, { ...init, headers });
    if (!(response.headers.get('content-type') ?? '').includes('json')) return response;

    const { errors = [] } = (await response.clone().json()) as Answer;
    const text = typeof init.body === 'string' ? init.body : '';
    const isAboutSchema = text.includes('__schema');
    const limit = errors.find(({ extensions }) => extensions?.code === 'RATE_LIMITED')?.extensions;
    const isRefused = errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
    if (isRefused || limit !== undefined) {
      for (const { name, value } of sent) if (opened.get(name) === value) opened.delete(name);
      schemaIsMissing ||= isAboutSchema;
      const needed = isAboutSchema ? 'any' : /\bpreviewKey\b/.test(text) ? 'management' : 'service';
      say(
        limit === undefined
          ? explain(needed, sent)
          : `There were too many wrong credentials. Others are looked at in ${limit.retryAfterSeconds ?? 60} seconds; a valid one is taken at once.`,
      );
      return response;
    }
    for (const { name, value } of sent) if (value !== '') opened.set(name, value);
    say('');
    if (isAboutSchema) schemaIsMissing = false;
    else if (schemaIsMissing && opened.size > 0) reloadSchema();
    return response;
  };
}

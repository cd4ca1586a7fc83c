import type { CredentialHeader } from './credential-headers.js';
import { explainRejection } from './explain.js';

interface GraphQLResponse {
  readonly errors?: readonly {
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number };
  }[];
}

interface CredentialWatcherOptions {
  readonly credentialHeaders: readonly CredentialHeader[];
  /** Shows a text above GraphiQL; an empty one hides it. */
  readonly showHint: (text: string) => void;
  readonly reloadSchema: () => void;
}

/**
 * Wraps `window.fetch`. A credential that was accepted is used in each tab whose header contains only a prefix, so that
 * it is pasted once; a rejected one is explained.
 */
export function watchCredentials({ credentialHeaders, showHint, reloadSchema }: CredentialWatcherOptions): void {
  // Accepted credentials by header name, in memory only.
  const accepted = new Map<string, string>();
  let isSchemaMissing = false;

  const send = window.fetch.bind(window);
  window.fetch = async (target, init = {}) => {
    const headers = new Headers(init.headers);
    const sent = credentialHeaders.map((header) => {
      const written = headers.get(header.name)?.trim() ?? '';
      const isOnlyPrefix = written !== '' && header.prefix.startsWith(written);
      return { ...header, value: isOnlyPrefix ? (accepted.get(header.name) ?? '') : written };
    });
    for (const { name, value } of sent) {
      // A prefix alone must not count as a failed attempt.
      if (value === '') headers.delete(name);
      else headers.set(name, value);
    }
    const response = await send(target, { ...init, headers });
    if (!(response.headers.get('content-type') ?? '').includes('json')) return response;

    const { errors = [] } = (await response.clone().json()) as GraphQLResponse;
    const text = typeof init.body === 'string' ? init.body : '';
    const isSchemaRequest = text.includes('__schema');
    const rateLimit = errors.find(({ extensions }) => extensions?.code === 'RATE_LIMITED')?.extensions;
    const isUnauthenticated = errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
    if (isUnauthenticated || rateLimit !== undefined) {
      for (const { name, value } of sent) if (accepted.get(name) === value) accepted.delete(name);
      isSchemaMissing ||= isSchemaRequest;
      const needed = isSchemaRequest ? 'any' : /\bpreviewKey\b/.test(text) ? 'management' : 'service';
      showHint(
        rateLimit === undefined
          ? explainRejection(needed, sent)
          : `Too many invalid credentials. Wait ${rateLimit.retryAfterSeconds ?? 60} seconds before the next attempt; a valid credential is accepted immediately.`,
      );
      return response;
    }
    for (const { name, value } of sent) if (value !== '') accepted.set(name, value);
    showHint('');
    if (isSchemaRequest) isSchemaMissing = false;
    else if (isSchemaMissing && accepted.size > 0) reloadSchema();
    return response;
  };
}

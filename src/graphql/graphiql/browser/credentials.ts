import { credentialHeaders, type CredentialHeader } from './credential-headers.js';
import type { SentHeader } from './explain.js';

/** The credentials that were pasted into any tab, in memory only. */
export interface PastedCredentials {
  /** Takes the credentials from the text of a Headers editor, which may be incomplete JSON. */
  readonly remember: (headersText: string) => void;
  readonly has: (kind: CredentialHeader['kind']) => boolean;
  /** Completes each header that contains only a prefix, or removes it: a prefix alone must not count as a failed attempt. */
  readonly complete: (headers: Headers) => readonly SentHeader[];
  readonly forget: (sent: readonly SentHeader[]) => void;
}

/** Creates an empty collection of credentials. */
export function createCredentials(): PastedCredentials {
  const pasted = new Map<string, string>();

  function remember(name: string, value: string, prefix: string): void {
    if (value !== '' && !prefix.startsWith(value)) pasted.set(name, value);
  }

  return {
    remember(headersText) {
      for (const { name, prefix } of credentialHeaders) {
        const [, value = ''] = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*)"`, 'i').exec(headersText) ?? [];
        remember(name, value.trim(), prefix);
      }
    },
    has: (kind) => credentialHeaders.some((header) => header.kind === kind && pasted.has(header.name)),
    complete: (headers) =>
      credentialHeaders.map((header) => {
        const written = headers.get(header.name)?.trim() ?? '';
        remember(header.name, written, header.prefix);
        const isOnlyPrefix = written !== '' && header.prefix.startsWith(written);
        const value = isOnlyPrefix ? (pasted.get(header.name) ?? '') : written;
        if (value === '') headers.delete(header.name);
        else headers.set(header.name, value);
        return { ...header, value };
      }),
    forget(sent) {
      for (const { name, value } of sent) if (pasted.get(name) === value) pasted.delete(name);
    },
  };
}

import { printable } from '../lib/text.js';

/** The headers in which clients and routers send the name of a client: Apollo's, Hive's, and those of other tools. */
export const clientNameHeaders = ['apollographql-client-name', 'graphql-client-name', 'x-graphql-client-name'] as const;

const maxCharacters = 64;

/** The name that a client gives itself, truncated and safe for terminals; undefined if it gives none. */
export function clientNameOf(header: (name: string) => string | null): string | undefined {
  for (const name of clientNameHeaders) {
    const value = header(name)?.trim();
    if (value) return printable(value.slice(0, maxCharacters));
  }
  return undefined;
}

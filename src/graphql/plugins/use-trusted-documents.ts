import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { specifiedRules, validate } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { AppError } from '../../lib/errors.js';
import { isObject, parseJSON } from '../../lib/json.js';
import { operationError, requestError } from '../errors.js';
import { parseWithin } from '../operation/limits.js';
import { exactFloats } from '../schema/literals.js';
import { servedSchema } from '../schema/served.js';

/** The operations that the service was started with, by their ids without `sha256:`. Nothing adds to them. */
export interface TrustedDocuments {
  readonly documents: ReadonlyMap<string, string>;
  /** Whether all other operations are refused. */
  readonly only: boolean;
}

/**
 * Reads a file of the form `{ "<id>": "<document>" }`, as codegen's client preset writes it. Throws one Error that names
 * the file and every entry that will not do.
 */
export function readTrustedDocuments(file: string): ReadonlyMap<string, string> {
  const entries = Object.entries(objectIn(file));
  const problems = entries.flatMap(([id, document]) => {
    const problem = problemOf(id, document);
    return problem === undefined ? [] : [`  ${JSON.stringify(id.slice(0, 80))} ${problem}`];
  });
  if (entries.length === 0) throw unusable(file, 'It holds no document.');
  if (problems.length > 0) throw unusable(file, `It has problems:\n${problems.join('\n')}`);
  return new Map(entries.map(([id, document]) => [withoutPrefix(id), String(document)]));
}

function objectIn(file: string): object {
  const bytes = readBytes(file);
  let content: unknown;
  try {
    content = parseJSON(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof AppError ? `: ${cause.message}` : ', in UTF-8.';
    throw unusable(file, `It must be JSON${reason}`, cause);
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw unusable(file, 'It must be a JSON object with a member for each document, named by its id.');
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw unusable(file, `It cannot be read (${code}).`, cause);
  }
}

function unusable(file: string, reason: string, cause?: unknown): Error {
  return new Error(`KEYFRONT_TRUSTED_DOCUMENTS: ${file} cannot be used. ${reason}`, { cause });
}

/** What is wrong with an entry, in words that go on from its id. */
function problemOf(id: string, document: unknown): string | undefined {
  if (withoutPrefix(id) === '') return 'is no id.';
  // Half of a surrogate pair is hashed like U+FFFD, so that two texts would have one hash.
  if (typeof document !== 'string' || !document.isWellFormed()) return 'must be the text of a document.';
  if (!isHashOf(id, document)) return 'is not the hash of its document.';
  try {
    const [error] = validate(servedSchema, parseWithin(document, { noLocation: true }), [
      ...specifiedRules,
      exactFloats,
    ]);
    return error && `is not valid here: ${error.message}`;
  } catch (error) {
    return `does not parse: ${error instanceof Error ? error.message : 'for an unknown reason.'}`;
  }
}

/** Whether an id that has the form of a hash is that of the text. Codegen writes SHA-256, or SHA-1 without a prefix. */
function isHashOf(id: string, text: string): boolean {
  const hash = (algorithm: 'sha1' | 'sha256') => createHash(algorithm).update(text, 'utf8').digest('hex');
  if (id.startsWith('sha256:') || /^[0-9a-f]{64}$/i.test(id)) return withoutPrefix(id) === hash('sha256');
  return !/^[0-9a-f]{40}$/i.test(id) || id === hash('sha1');
}

function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

/** Answers a request that names a document by its id, and where only those are wanted, no other. */
export function useTrustedDocuments({ documents, only }: TrustedDocuments): Plugin[] {
  const refusal = (message: string) => operationError(new AppError('INVALID', message));
  const needed = 'Only trusted documents are answered here. Send the `documentId` of one, and no `query`.';
  const persisted = usePersistedOperations({
    allowArbitraryOperations: !only,
    extractPersistedOperationId: (params) => documentIDOf(params) ?? null,
    getPersistedOperation: (id) => documents.get(withoutPrefix(id)) ?? null,
    customErrors: {
      persistedQueryOnly: () => refusal(needed),
      keyNotFound: () =>
        requestError(new AppError('INVALID', only ? needed : 'A `query` or a `documentId` must be given.')),
      // Apollo's clients ask by hash first, and at this word send their texts from then on.
      notFound: ({ params }) =>
        refusal(
          !only && params.extensions?.['persistedQuery']
            ? 'PersistedQueryNotSupported'
            : 'No document with this id is trusted here.',
        ),
    },
  });
  return [only ? {} : useTextsBesideIDs, persisted];
}

/**
 * The text of the document that a request names, by itself or by an id; undefined when the plugins have to decide.
 *
 * @throws {GraphQLError} INVALID when the id is not a text.
 */
export function trustedTextOf({ documents, only }: TrustedDocuments, params: GraphQLParams): unknown {
  const id = documentIDOf(params);
  if (id === undefined) return only ? undefined : params.query;
  return params.query == null ? documents.get(withoutPrefix(id)) : undefined;
}

/** Holds a text that comes with an id to be what the id says. The text is used, and not kept. */
const useTextsBesideIDs: Plugin = {
  onParams({ params, setParams }) {
    const id = documentIDOf(params);
    if (typeof params.query !== 'string' || id === undefined) return;
    if (withoutPrefix(id) !== createHash('sha256').update(params.query, 'utf8').digest('hex')) {
      throw operationError(new AppError('INVALID', 'The id beside the `query` is not its SHA-256.'));
    }
    const { documentId: _, ...rest } = params as GraphQLParams & { documentId?: unknown };
    setParams(rest);
  },
};

/** The id that a request names its document by: `documentId` as in the GraphQL over HTTP draft, or as Apollo sends it. */
export function documentIDOf(params: GraphQLParams & { readonly documentId?: unknown }): string | undefined {
  const persistedQuery: unknown = params.extensions?.['persistedQuery'];
  const hash = isObject(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
  const id = params.documentId ?? hash ?? undefined;
  if (id !== undefined && typeof id !== 'string') {
    throw requestError(new AppError('INVALID', 'The id of a document must be a text.'));
  }
  return id;
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { AppError } from '../../lib/errors.js';
import { explainSystemError } from '../../lib/system-error.js';
import { isObject, parseJSON } from '../../lib/json.js';
import { operationError, requestError } from '../errors.js';
import { parseWithLimits } from './limits.js';
import { validateDocument } from './validate-document.js';
import { servedSchema } from '../schema/served.js';

/** The documents that the service loaded at its start, by id without `sha256:`. They never change. */
export interface TrustedDocuments {
  readonly documents: ReadonlyMap<string, string>;
  /** Whether all other operations are rejected. */
  readonly only: boolean;
}

/**
 * Reads a file of the form `{ "<id>": "<document>" }`, as codegen's client preset writes it; no documents without a file.
 *
 * @throws {Error} when the file cannot be used; its message names the file and every entry that is not valid.
 */
export function readTrustedDocuments(file: string | undefined): ReadonlyMap<string, string> {
  return new Map(file === undefined ? [] : readDocuments(file));
}

/**
 * Reads the documents that the build has put beside the service. They are not validated again, which took longer than
 * the rest of a start: `npm run generate` writes them from the same schema.
 */
export function readBuiltDocuments(file: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(readJSONObject(file)).map(([id, document]) => [withoutPrefix(id), String(document)]));
}

function readDocuments(file: string): [id: string, document: string][] {
  const entries = Object.entries(readJSONObject(file));
  const problems = entries.flatMap(([id, document]) => {
    const problem = problemOf(id, document);
    return problem === undefined ? [] : [`  ${JSON.stringify(id.slice(0, 80))} ${problem}`];
  });
  if (entries.length === 0) throw fileError(file, 'It contains no documents.');
  if (problems.length > 0) throw fileError(file, `It has invalid entries:\n${problems.join('\n')}`);
  return entries.map(([id, document]) => [withoutPrefix(id), String(document)]);
}

function readJSONObject(file: string): object {
  const bytes = readBytes(file);
  let content: unknown;
  try {
    content = parseJSON(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof AppError ? `: ${cause.message}` : ', in UTF-8.';
    throw fileError(file, `It must be JSON${reason}`, cause);
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content;
  throw fileError(file, 'It must be a JSON object that maps ids to documents.');
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw fileError(file, `It cannot be read: ${explainSystemError(cause)}.`, cause);
  }
}

function fileError(file: string, reason: string, cause?: unknown): Error {
  return new Error(`KEYFRONT_TRUSTED_DOCUMENTS: ${file} cannot be used. ${reason}`, { cause });
}

/** Returns the problem of an entry, to follow its id in a message; undefined for a valid entry. */
function problemOf(id: string, document: unknown): string | undefined {
  if (withoutPrefix(id) === '') return 'is not an id.';
  // A lone surrogate is hashed like U+FFFD, so two texts would have the same hash.
  if (typeof document !== 'string' || !document.isWellFormed()) return 'must be a document, as a string.';
  if (!isHashOf(id, document)) return 'is not the hash of its document.';
  try {
    const [error] = validateDocument(servedSchema, parseWithLimits(document, { noLocation: true }));
    return error && `does not match the schema: ${error.message}`;
  } catch (error) {
    return `does not parse: ${error instanceof Error ? error.message : 'for an unknown reason.'}`;
  }
}

/** Whether an id in the form of a hash is the hash of the text. Codegen writes SHA-256, or SHA-1 without a prefix. */
function isHashOf(id: string, text: string): boolean {
  const hash = (algorithm: 'sha1' | 'sha256') => createHash(algorithm).update(text, 'utf8').digest('hex');
  if (id.startsWith('sha256:') || /^[0-9a-f]{64}$/i.test(id)) return withoutPrefix(id) === hash('sha256');
  return !/^[0-9a-f]{40}$/i.test(id) || id === hash('sha1');
}

/** The id of a document in a request: `documentId` of the GraphQL over HTTP draft, or the hash that Apollo sends. */
export function documentIDOf(params: GraphQLParams & { readonly documentId?: unknown }): string | undefined {
  const persistedQuery: unknown = params.extensions?.['persistedQuery'];
  const hash = isObject(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
  const id = params.documentId ?? hash ?? undefined;
  if (id !== undefined && typeof id !== 'string') {
    throw requestError(new AppError('INVALID', 'The id of a document must be a string.'));
  }
  return id;
}

/** The id without `sha256:`, under which the document is known. */
export function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '');
}

/**
 * The text of the document that a request names: its `query`, or the trusted document with its id.
 *
 * @throws {GraphQLError} INVALID for a document that is not trusted when only trusted ones are, for an unknown id, for an
 * id that is not the hash of the `query`, and without a document.
 */
export function documentTextOf({ documents, only }: TrustedDocuments, params: GraphQLParams): unknown {
  const { query } = params;
  if (query) {
    if (only) throw rejection(onlyTrustedMessage);
    const id = typeof query === 'string' ? documentIDOf(params) : undefined;
    if (id !== undefined && withoutPrefix(id) !== createHash('sha256').update(query, 'utf8').digest('hex')) {
      throw rejection('The id is not the SHA-256 hash of the `query`.');
    }
    return query;
  }
  const id = documentIDOf(params);
  if (id === undefined) {
    const message = only ? onlyTrustedMessage : 'A `query` or a `documentId` is required.';
    throw requestError(new AppError('INVALID', message));
  }
  const text = documents.get(withoutPrefix(id));
  if (text !== undefined) return text;
  // Apollo's clients send the hash first. After this message they send the text.
  throw rejection(
    !only && params.extensions?.['persistedQuery']
      ? 'PersistedQueryNotSupported'
      : 'There is no trusted document with this id.',
  );
}

const onlyTrustedMessage = 'This service executes trusted documents only. Send a `documentId`, and no `query`.';

function rejection(message: string): GraphQLError {
  return operationError(new AppError('INVALID', message));
}

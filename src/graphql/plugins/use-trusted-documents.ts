import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { AppError } from '../../lib/errors.js';
import { explainSystemError } from '../../lib/system-error.js';
import { parseJSON } from '../../lib/json.js';
import { operationError, requestError } from '../errors.js';
import { parseWithLimits } from '../execution/limits.js';
import { documentIDOf, withoutPrefix } from '../execution/params.js';
import { validateDocument } from '../execution/validate-document.js';
import { servedSchema } from '../schema/served.js';

/** The documents that the service loaded at its start, by id without `sha256:`. They never change. */
export interface TrustedDocuments {
  readonly documents: ReadonlyMap<string, string>;
  /** Whether all other operations are rejected. */
  readonly only: boolean;
}

/**
 * Reads files of the form `{ "<id>": "<document>" }`, as codegen's client preset writes them.
 *
 * @throws {Error} when a file cannot be used; its message names the file and every entry that is not valid.
 */
export function readTrustedDocuments(...files: readonly (string | undefined)[]): ReadonlyMap<string, string> {
  return new Map(files.flatMap((file) => (file === undefined ? [] : readDocuments(file))));
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

/** Executes trusted documents by their ids. Rejects all other operations when `only` is set. */
export function useTrustedDocuments({ documents, only }: TrustedDocuments): Plugin[] {
  const rejection = (message: string) => operationError(new AppError('INVALID', message));
  const onlyTrustedMessage = 'This service executes trusted documents only. Send a `documentId`, and no `query`.';
  const persisted = usePersistedOperations({
    allowArbitraryOperations: !only,
    extractPersistedOperationId: (params) => documentIDOf(params) ?? null,
    getPersistedOperation: (id) => documents.get(withoutPrefix(id)) ?? null,
    customErrors: {
      persistedQueryOnly: () => rejection(onlyTrustedMessage),
      keyNotFound: () =>
        requestError(new AppError('INVALID', only ? onlyTrustedMessage : 'A `query` or a `documentId` is required.')),
      // Apollo's clients send the hash first. After this message they send the text.
      notFound: ({ params }) =>
        rejection(
          !only && params.extensions?.['persistedQuery']
            ? 'PersistedQueryNotSupported'
            : 'There is no trusted document with this id.',
        ),
    },
  });
  return [only ? {} : useDocumentHashes, persisted];
}

/** Rejects a `query` that does not have the hash sent with it. Executes others, without storing them under the id. */
const useDocumentHashes: Plugin = {
  onParams({ params, setParams }) {
    const id = documentIDOf(params);
    if (typeof params.query !== 'string' || id === undefined) return;
    if (withoutPrefix(id) !== createHash('sha256').update(params.query, 'utf8').digest('hex')) {
      throw operationError(new AppError('INVALID', 'The id is not the SHA-256 hash of the `query`.'));
    }
    const { documentId: _, ...rest } = params as GraphQLParams & { documentId?: unknown };
    setParams(rest);
  },
};

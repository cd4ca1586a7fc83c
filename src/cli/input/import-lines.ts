import { hashTypeOf } from '../../crypto/password-hash.js';
import { prepareImport } from '../../keys/commands/import.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { readDefinition } from '../../keys/definition/parse.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import type { KeyStore, KeyTransition, Ports } from '../../keys/ports.js';
import { AppError, pathText, type Issue } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import type { Services } from '../../storage/open-storage.js';
import { definitionFromWire } from '../../wire/field-names.js';

/** How an import treats the lines of a file. */
export interface ImportOptions {
  /** Owner of the keys whose line has no `org_id`. */
  readonly orgID: string | undefined;
  /** Stores passwords as they are: they must be bcrypt or argon2id hashes. */
  readonly passwordsAreHashed: boolean;
  /** Who imports, for the history. Default: the command. */
  readonly actorLabel?: string;
}

/** Callbacks of an import. */
export interface ImportListener {
  /** @param line the number of the line, from 1 */
  onInvalidLine(line: number, reason: string): void;
  onProgress(lines: number): void;
}

/** Where an import adds keys. */
export type ImportStore = Pick<KeyStore, 'add'>;

/** How many lines were imported, skipped and rejected. */
export interface ImportCounts {
  readonly imported: number;
  readonly existing: number;
  readonly invalid: number;
}

/** Text, or bytes in UTF-8. */
type Line = string | Uint8Array;

// A transaction blocks other writers, so that its number of keys depends on how long the last one took.
const maxBatchSize = 500;
const minBatchSize = 20;
const targetBatchMs = 200;

/**
 * Imports lines of the form `{"key_id": "...", ...definition}` in transactions of 20 to 500 keys. Invalid lines are reported
 * to the listener and skipped; keys that exist stay unchanged.
 */
export async function importLines(
  { ports, store }: Pick<Services, 'ports'> & { readonly store: ImportStore },
  lines: AsyncIterable<Line> | Iterable<Line>,
  options: ImportOptions,
  listener: ImportListener,
): Promise<ImportCounts> {
  const counts = { imported: 0, existing: 0, invalid: 0 };
  let batch: KeyTransition[] = [];
  let batchSize = minBatchSize;
  const flush = async () => {
    const startMs = performance.now();
    const added = await store.add(batch);
    const growth = targetBatchMs / (performance.now() - startMs);
    batchSize = Math.round(Math.min(Math.max(batch.length * growth, minBatchSize), maxBatchSize));
    const imported = added.filter(Boolean).length;
    counts.imported += imported;
    counts.existing += added.length - imported;
    batch = [];
  };
  let number = 0;
  for await (const line of lines) {
    number += 1;
    try {
      const text = decode(line);
      if (text.trim() !== '') batch.push(await parseLine(ports, text, options));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID') throw error;
      counts.invalid += 1;
      listener.onInvalidLine(number, reasonOf(error));
    }
    if (batch.length >= batchSize) await flush();
    listener.onProgress(number);
  }
  await flush();
  return counts;
}

function decode(line: Line): string {
  try {
    return typeof line === 'string' ? line : new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch (cause) {
    throw new AppError('INVALID', 'The line is not valid UTF-8.', { cause });
  }
}

async function parseLine(
  ports: Ports,
  line: string,
  { orgID, passwordsAreHashed, actorLabel: label = 'keyfront keys import' }: ImportOptions,
): Promise<KeyTransition> {
  const body = parseJSON(line);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The line is not a JSON object.');
  }
  const { key_id: keyID, ...definition } = body;
  if (typeof keyID !== 'string') throw new AppError('INVALID', '`key_id` is missing or not a string.');
  return withWireIssuePaths(definition, async () => {
    const { passwordHash, rest } = passwordsAreHashed
      ? takePasswordHash(definition)
      : { passwordHash: undefined, rest: definition };
    const input = readDefinition('update', definitionFromWire(rest));
    return prepareImport(ports, { keyID, orgID, passwordHash, input, actor: { credentialID: 'cli', label } });
  });
}

/** Splits the password hash off: it is stored as it is, and the rules for passwords do not apply to it. */
function takePasswordHash(definition: Record<string, unknown>): { passwordHash: string | undefined; rest: unknown } {
  const basicAuth = definition['basic_auth_data'];
  if (
    typeof basicAuth !== 'object' ||
    basicAuth === null ||
    !('password' in basicAuth) ||
    basicAuth.password === null
  ) {
    return { passwordHash: undefined, rest: definition };
  }
  const { password, ...others } = basicAuth;
  const hashType = typeof password === 'string' ? hashTypeOf(password) : undefined;
  const declaredType: unknown = Reflect.get(others, 'hash_type') ?? hashType;
  if (typeof password !== 'string' || hashType === undefined || declaredType !== hashType) {
    const issue: Issue = {
      path: ['basicAuthData', 'password'],
      code: 'UNKNOWN_HASH_TYPE',
      message: 'must be a bcrypt or argon2id hash of the `hashType` given',
    };
    throw invalidDefinition([issue]);
  }
  return { passwordHash: password, rest: { ...definition, basic_auth_data: others } };
}

function reasonOf({ message, issues }: AppError): string {
  if (issues.length === 0) return message;
  const listed = issues.map((issue) => `${pathText(issue.path)} ${issue.message}`.trim()).join('; ');
  return issues.length < maxIssues ? listed : `${listed}; ${message}`;
}

import { hasExpired, type Actor } from '../../keys/key.js';
import { hashTypeOf } from '../../crypto/password-hash.js';
import { type ImportPorts, type ImportRequest, prepareImport } from '../../keys/import.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import type { KeyDefinition } from '../../keys/definition/schema.js';
import { keyWarnings } from '../../keys/access/policy-warnings.js';
import type { Policies } from '../../keys/access/policy.js';
import type { KeyStore, KeyTransition } from '../../keys/ports.js';
import { AppError, pathText, type Issue } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire, issuesToWire } from '../../wire/field-names.js';
import { parseLine } from '../definitions.js';
import type { ConvertedSession, Difference, DifferenceCode } from './tyk-session.js';

/** Callbacks of an import. Lines are numbered from 1. */
interface ImportListener {
  onInvalidLine(line: number, reason: string): void;
  /** @param first - number of the first line with this identifier, which the import uses */
  onDuplicate?(line: number, first: number): void;
  /** @param warnings - text of the warnings of a valid line */
  onWarnings?(line: number, warnings: string): void;
  /** @param found - what the import does otherwise than the system that the line is from */
  onDifferences?(line: number, found: readonly Difference[]): void;
  onProgress(lines: number): void;
}

/** Destination of an import. */
export interface ImportTarget {
  readonly ports: ImportPorts;
  readonly store: Pick<KeyStore, 'add'>;
  /**
   * Replaces the definition of an existing key. Resolves to false if the definition is the same. If absent, existing
   * keys stay unchanged.
   *
   * @throws {AppError} INVALID, NOT_FOUND or TOO_LARGE when the line is rejected
   */
  readonly replace?: (line: PreparedLine) => Promise<boolean>;
}

/** Number of lines by result. */
export interface ImportCounts {
  readonly imported: number;
  readonly updated: number;
  /** Lines of existing keys that stay unchanged, and duplicates. */
  readonly existing: number;
  readonly invalid: number;
  /** Valid lines with warnings. */
  readonly warned: number;
  /** Keys among those imported or updated that had expired before. They have no event of it. */
  readonly expired: number;
  /** Valid lines of another system by what the import does otherwise with them. */
  readonly differences?: Readonly<Partial<Record<DifferenceCode, number>>>;
}

/** Text, or bytes in UTF-8. */
type Line = string | Uint8Array;
type NumberedLine = PreparedLine & { readonly number: number };

// A transaction blocks other writers, so the duration of the previous one determines the size of the next one.
const maxBatchSize = 1_000;
const minBatchSize = 20;
const targetBatchMs = 200;

/**
 * Imports lines of the form `{"key_id": "...", ...definition}` in transactions of 20 to 1,000 keys. Reports invalid lines
 * and lines with the identifier of an earlier line to the listener, and skips them.
 */
export async function importLines(
  { ports, store, replace }: ImportTarget,
  lines: AsyncIterable<Line> | Iterable<Line>,
  options: ImportOptions,
  listener: ImportListener,
): Promise<ImportCounts> {
  const counts = { imported: 0, updated: 0, existing: 0, invalid: 0, warned: 0, expired: 0 };
  const differences: Partial<Record<DifferenceCode, number>> = {};
  const lineOfKey = new Map<string, number>();
  let batch: NumberedLine[] = [];
  let batchSize = minBatchSize;
  const skipInvalid = (number: number, error: unknown) => {
    if (!(error instanceof AppError) || !['INVALID', 'NOT_FOUND', 'TOO_LARGE'].includes(error.code)) throw error;
    counts.invalid += 1;
    listener.onInvalidLine(number, reasonOf(error));
  };
  const countExpired = ({ transition: { next } }: NumberedLine) => {
    if (hasExpired(next.definition, ports.now())) counts.expired += 1;
  };
  const replaceExisting = async (line: NumberedLine) => {
    try {
      const isUpdated = (await replace?.(line)) === true;
      counts[isUpdated ? 'updated' : 'existing'] += 1;
      if (isUpdated) countExpired(line);
    } catch (error) {
      skipInvalid(line.number, error);
    }
  };
  const flush = async () => {
    const startMs = performance.now();
    const added = await store.add(batch.map(({ transition }) => transition));
    counts.imported += added.filter(Boolean).length;
    batch.filter((_, index) => added[index] === true).forEach(countExpired);
    // Concurrent changes share group commits.
    await Promise.all(batch.filter((_, index) => added[index] !== true).map(replaceExisting));
    const growth = targetBatchMs / (performance.now() - startMs);
    batchSize = Math.round(Math.min(Math.max(batch.length * growth, minBatchSize), maxBatchSize));
    batch = [];
  };
  const addToBatch = (line: NumberedLine) => {
    const { keyHash } = line.transition.next;
    const first = lineOfKey.get(keyHash);
    if (first === undefined) {
      lineOfKey.set(keyHash, line.number);
      if (line.warnings.length > 0) {
        counts.warned += 1;
        listener.onWarnings?.(line.number, describeIssues(line.warnings));
      }
      batch.push(line);
    } else {
      counts.existing += 1;
      listener.onDuplicate?.(line.number, first);
    }
  };
  const prepareFound = async (found: JSONValue, line: number) => {
    const { convert } = options;
    if (!convert) return prepareLine(ports, found, options);
    const { body, passwordIsHashed, differences: ofLine } = convert(found);
    const prepared = await prepareLine(ports, body, { ...options, passwordsAreHashed: passwordIsHashed });
    for (const code of new Set(ofLine.map((one) => one.code))) differences[code] = (differences[code] ?? 0) + 1;
    if (ofLine.length > 0) listener.onDifferences?.(line, ofLine);
    return prepared;
  };
  let number = 0;
  for await (const line of lines) {
    number += 1;
    try {
      const text = decode(line);
      if (text.trim() !== '') addToBatch({ number, ...(await prepareFound(parseLine(text), number)) });
    } catch (error) {
      skipInvalid(number, error);
    }
    if (batch.length >= batchSize) await flush();
    listener.onProgress(number);
  }
  await flush();
  return { ...counts, ...(options.convert && { differences }) };
}

function decode(line: Line): string {
  try {
    return typeof line === 'string' ? line : new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch (cause) {
    throw new AppError('INVALID', 'The line is not valid UTF-8.', { cause });
  }
}

function reasonOf({ message, issues }: AppError): string {
  if (issues.length === 0) return message;
  const listed = describeIssues(issues);
  return issues.length < maxIssues ? listed : `${listed}; ${message}`;
}

function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `${pathText(path) || 'The line'} ${message}`).join('; ');
}

/** How an import treats the lines of a file. */
export interface ImportOptions {
  /** Owner of the keys whose line has no `org_id`. */
  readonly orgID: string | undefined;
  /** Stores passwords as they are: they must be bcrypt or argon2id hashes. */
  readonly passwordsAreHashed: boolean;
  /** How many hex digits the hash of a key may have whose identifier is not known: see `foreignHashLengths`. */
  readonly hashLengths?: readonly number[];
  /** Reads the lines of another system. */
  readonly convert?: ((found: JSONValue) => ConvertedSession) | undefined;
  /** Who imports, for the history. Default: the command. */
  readonly actor?: Actor;
  /** The known policies. Default: none. */
  readonly policies?: Policies;
}

/** A valid line of an import. */
export interface PreparedLine {
  readonly name: ImportRequest['name'];
  readonly input: KeyDefinition;
  /** Replaces the password of `input`. */
  readonly passwordHash: string | undefined;
  /** Creates the key if it does not exist. */
  readonly transition: KeyTransition;
  /** Valid but suspicious values, with paths in the names of REST. */
  readonly warnings: readonly Issue[];
}

/**
 * Validates a line of the form `{"key_id": "...", ...definition}`, or with `key_hash` if nobody knows the identifier. Stores
 * nothing.
 *
 * @throws {AppError} INVALID with paths in the names of REST
 */
export async function prepareLine(
  ports: ImportPorts,
  body: JSONValue,
  {
    orgID,
    passwordsAreHashed,
    hashLengths = [],
    actor = { credentialID: 'cli', label: 'keyfront keys import' },
    policies = new Map(),
  }: ImportOptions,
): Promise<PreparedLine> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The line is not a JSON object.');
  }
  const { key_id: keyID, key_hash: keyHash, retiring_key_id: retiringID, retires_at: retiresAt, ...definition } = body;
  const name = nameFrom(keyID, keyHash, hashLengths);
  const retiring = retiringFrom(retiringID, retiresAt);
  return withWireIssuePaths(definition, async () => {
    const { passwordHash, rest } = passwordsAreHashed
      ? takePasswordHash(definition)
      : { passwordHash: undefined, rest: definition };
    const input = parseDefinition('update', definitionFromWire(rest));
    const transition = await prepareImport(ports, {
      name,
      retiring,
      orgID,
      passwordHash,
      input,
      actor,
      policies,
    });
    const warnings = keyWarnings(input, { orgID: transition.next.orgID, policies }, ports.now());
    // An import stores the dates of a key that it adds, so that they are no reason for a warning.
    const shown = warnings.filter(({ code }) => code !== 'SERVER_OWNED');
    return { name, input, passwordHash, transition, warnings: issuesToWire(shown, body) };
  });
}

/** The identifier that a rotated key had before, and the time at which it retires: both or none. */
function retiringFrom(keyID: JSONValue | undefined, retiresAt: JSONValue | undefined): ImportRequest['retiring'] {
  if ((keyID ?? null) === null && (retiresAt ?? null) === null) return undefined;
  if (typeof keyID !== 'string') throw malformedRetirement('retiring_key_id', 'must be a string beside `retires_at`');
  if (typeof retiresAt !== 'string' || !isDateTime(retiresAt)) {
    throw malformedRetirement('retires_at', `${dateTimeRule}, beside \`retiring_key_id\``);
  }
  return { keyID, retiresAt: new Date(retiresAt) };
}

function malformedRetirement(member: string, message: string): AppError {
  const issue = { path: [member], code: 'MALFORMED_ARGUMENT', message };
  return new AppError('INVALID', 'The rotation of the key is not valid.', { issues: [issue] });
}

/** @throws {AppError} INVALID when the line has neither an identifier nor a hash of this installation's algorithm. */
function nameFrom(
  keyID: JSONValue | undefined,
  keyHash: JSONValue | undefined,
  hashLengths: readonly number[],
): ImportRequest['name'] {
  if (typeof keyID === 'string') return { keyID };
  if ((keyID ?? null) !== null || (keyHash ?? null) === null) {
    throw namesNoKey('key_id', 'MISSING', 'is required and must be a string');
  }
  const digits = hashLengths.join(', ') || 'no number of';
  if (typeof keyHash === 'string' && hashLengths.includes(keyHash.length) && /^[\da-f]+$/.test(keyHash))
    return { keyHash };
  throw namesNoKey(
    'key_hash',
    'MALFORMED_ARGUMENT',
    `must have ${digits} lower-case hex digits, as the hashes of KEYFRONT_KEY_HASH`,
  );
}

function namesNoKey(member: string, code: string, message: string): AppError {
  return new AppError('INVALID', 'The line names no key.', { issues: [{ path: [member], code, message }] });
}

/** Separates the password hash, which is stored unchanged and to which the rules for passwords do not apply. */
function takePasswordHash(definition: Record<string, unknown>): { passwordHash: string | undefined; rest: unknown } {
  const basicAuth = definition['basic_auth_data'];
  const isObject = typeof basicAuth === 'object' && basicAuth !== null;
  if (!isObject || !('password' in basicAuth) || basicAuth.password === null || basicAuth.password === '') {
    return { passwordHash: undefined, rest: definition };
  }
  const { password, ...others } = basicAuth;
  const hashType = typeof password === 'string' ? hashTypeOf(password) : undefined;
  const declaredType: unknown = Reflect.get(others, 'hash_type') || hashType;
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

import { hashTypeOf } from '../../crypto/password-hash.js';
import { prepareImport, type ImportPorts } from '../../keys/import.js';
import { invalidDefinition } from '../../keys/definition/issues.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import type { KeyDefinition } from '../../keys/definition/schema.js';
import { warningsOf } from '../../keys/definition/warnings.js';
import type { KeyTransition } from '../../keys/ports.js';
import { AppError, type Issue } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import { definitionFromWire, issuesToWire } from '../../wire/field-names.js';

/** How an import treats the lines of a file. */
export interface ImportOptions {
  /** Owner of the keys whose line has no `org_id`. */
  readonly orgID: string | undefined;
  /** Stores passwords as they are: they must be bcrypt or argon2id hashes. */
  readonly passwordsAreHashed: boolean;
  /** Label of the actor in the history. Default: the command. */
  readonly actorLabel?: string;
}

/** A valid line of an import. */
export interface PreparedLine {
  readonly keyID: string;
  readonly input: KeyDefinition;
  /** Replaces the password of `input`. */
  readonly passwordHash: string | undefined;
  /** Creates the key if it does not exist. */
  readonly transition: KeyTransition;
  /** Valid but suspicious values, with paths in the names of REST. */
  readonly warnings: readonly Issue[];
}

/**
 * Validates a line of the form `{"key_id": "...", ...definition}`. Stores nothing.
 *
 * @throws {AppError} INVALID with paths in the names of REST
 */
export async function prepareLine(
  ports: ImportPorts,
  body: JSONValue,
  { orgID, passwordsAreHashed, actorLabel: label = 'keyfront keys import' }: ImportOptions,
): Promise<PreparedLine> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('INVALID', 'The line is not a JSON object.');
  }
  const { key_id: keyID, ...definition } = body;
  if (typeof keyID !== 'string') throw missingKeyID();
  return withWireIssuePaths(definition, async () => {
    const { passwordHash, rest } = passwordsAreHashed
      ? takePasswordHash(definition)
      : { passwordHash: undefined, rest: definition };
    const input = parseDefinition('update', definitionFromWire(rest));
    const actor = { credentialID: 'cli', label };
    return {
      keyID,
      input,
      passwordHash,
      transition: await prepareImport(ports, { keyID, orgID, passwordHash, input, actor }),
      warnings: issuesToWire(importWarningsOf(input, ports.now()), body),
    };
  });
}

/** An import stores the dates of a key that it adds, so that they are no reason for a warning. */
function importWarningsOf(input: KeyDefinition, now: Date): Issue[] {
  return warningsOf(input, now).filter(({ code }) => code !== 'SERVER_OWNED');
}

function missingKeyID(): AppError {
  const issue = { path: ['key_id'], code: 'MISSING', message: 'is required and must be a string' };
  return new AppError('INVALID', 'The line names no key.', { issues: [issue] });
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

import { randomBytes } from 'node:crypto';
import { readConfig } from '../../config/config.js';
import { createKeyHash } from '../../crypto/key-hash.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import { previewKey } from '../../keys/queries/preview-key.js';
import { pathText } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import { withWireIssuePaths, warningsMember } from '../../rest/json-body.js';
import { definitionFromWire, definitionToWire } from '../../wire/field-names.js';
import type { OptionValues } from '../command.js';
import type { IO } from '../io.js';
import { createConnection, managementCredential, serviceAddress, toAppError } from '../key-client/connection.js';
import type { Problem } from '../output/format.js';
import { prepareLine, type ImportOptions } from './import-line.js';

/** A valid definition in the names of REST, without secrets. */
export interface ValidDefinition {
  /** Absent if the definition has no key_id: the hash would be that of a random identifier. */
  readonly key_hash?: string;
  readonly data: unknown;
  readonly warnings: readonly Problem[];
}

/** Validates the definition at a location. Rejects with an `AppError` whose paths are in the names of REST. */
export type ValidateDefinition = (body: JSONValue, location: string) => Promise<ValidDefinition>;

/** Validates as the preview does, in this process: opens no storage and sends no request. */
export function createLocalValidator(io: IO): ValidateDefinition {
  const deps = { ownerID: undefined, hashKeyID: hashKeyIDOf(io), randomHex: () => randomBytes(16).toString('hex') };
  return async (body) =>
    withWireIssuePaths(body, () => {
      const input = parseDefinition('preview', definitionFromWire(body));
      const { keyHash, definition, warnings } = previewKey(input, { ...deps, now: new Date() });
      const listed = warningsMember(warnings, body).warnings as Problem[] | undefined;
      return { ...hashMember(body, keyHash), data: definitionToWire(definition), warnings: listed ?? [] };
    });
}

/** Validates as an import does, in this process. A definition of the same key as an earlier one has a warning. */
export function createImportValidator(io: IO, options: ImportOptions): ValidateDefinition {
  const now = () => new Date();
  // Placeholders, because nothing is stored.
  const hashPassword = (_: string, type: string) => Promise.resolve(type === 'argon2id' ? '$argon2id$' : '$2b$');
  const ports = { now, hashKeyID: hashKeyIDOf(io), hashPassword, newIdentity: () => '', seal: () => new Uint8Array() };
  const locationOfKey = new Map<string, string>();
  return async (body, location) => {
    const { transition, warnings } = await prepareLine(ports, body, options);
    const { keyHash, orgID, definition } = transition.next;
    const first = locationOfKey.get(keyHash);
    if (first === undefined) locationOfKey.set(keyHash, location);
    const message = `is the same as in ${first}; an import skips this definition`;
    const duplicate = first === undefined ? [] : [{ path: 'key_id', code: 'DUPLICATE', message }];
    return {
      key_hash: keyHash,
      data: definitionToWire({ ...definition, orgID }),
      warnings: [
        ...warnings.map(({ path, code, message: text }) => ({ path: pathText(path), code, message: text })),
        ...duplicate,
      ],
    };
  };
}

/** Validates with a service over REST, which uses the field names of the files. */
export function createRemoteValidator(io: IO, options: OptionValues, url: string): ValidateDefinition {
  const send = createConnection(io, serviceAddress(io, options, url, managementCredential));
  return async (body) => {
    const response = await send('/api/keys/preview', body);
    if (response['status'] === 'error') throw toAppError(response);
    return {
      ...hashMember(body, String(response['key_hash'])),
      data: withoutSecrets(response['data']),
      warnings: toProblems(response['warnings']),
    };
  };
}

function hashKeyIDOf({ env }: IO): (keyID: string) => string {
  const { config, secrets } = readConfig(env);
  return createKeyHash(config.keyHash, secrets.keyHashPepper);
}

function hashMember(body: JSONValue, keyHash: string): Pick<ValidDefinition, 'key_hash'> {
  const hasKeyID = typeof body === 'object' && body !== null && 'key_id' in body && body.key_id !== null;
  return hasKeyID ? { key_hash: keyHash } : {};
}

/** Removes the secrets that the service echoes: the output may be the log of a build. */
function withoutSecrets(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const { hmac_string: hmac, jwt_data: jwt, ...shown } = data as Record<string, unknown>;
  if (typeof jwt !== 'object' || jwt === null) return shown;
  const { secret, ...rest } = jwt as Record<string, unknown>;
  return { ...data, hmac_string: undefined, jwt_data: rest };
}

function toProblems(warnings: unknown): Problem[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.map((warning: unknown) => {
    const { path, code, message } = Object(warning) as Record<string, unknown>;
    return { path: String(path), code: String(code), message: String(message) };
  });
}

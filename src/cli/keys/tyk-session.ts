import type * as z from 'zod';
import { hashTypeOf } from '../../crypto/password-hash.js';
import { memberOf, shapeOf } from '../../keys/definition/introspection.js';
import { fieldsOnlyIn, freeFormFields, KeyDefinition } from '../../keys/definition/schema.js';
import { AppError, pathText, type Path } from '../../lib/errors.js';
import { isObject, parseJSON, type JSONValue } from '../../lib/json.js';
import { wireName } from '../../wire/field-names.js';

/*
 * Sessions of the gateway family of Tyk, as its admin API returns them (`GET /tyk/keys/{id}`) and as Redis has them. The names
 * are those of REST. What differs is here; docs/import-from-tyk.md lists it.
 */

/** What an import does otherwise than the gateway did, by a stable code. docs/import-from-tyk.md has the same table. */
export const differences = {
  UNKNOWN_MEMBER: 'is not kept: Keyfront has no such field',
  RESTRICTION_LOST: 'is not kept, so the key may do more than before: Keyfront has no such restriction',
  RATE_OFF: 'is not kept: the gateway limits the rate only if `rate` and `per` are above 0',
  POLICY_ID_IGNORED: 'is not kept: the gateway ignores it beside `apply_policies`',
  INACTIVE_WITH_POLICY: 'is kept: Keyfront rejects the key; the gateway ignores it, because the key has policies',
  POLICY_REPLACES: 'is kept: a policy of the key that governs it replaces it, once you import the policies',
  SMOOTHING_IGNORED: 'is not kept: the gateway ignores smoothing without its other fields',
  PASSWORD_LOST: 'is not kept: only bcrypt and argon2id hashes can be verified; set a new password',
  HASH_ONLY: 'is all that is known of the identifier: the key works, and no read or delivery shows its identifier',
} as const;

/** One of {@link differences}. */
export type DifferenceCode = keyof typeof differences;

/** What an import does otherwise with a member of a session. */
export interface Difference {
  readonly code: DifferenceCode;
  /** Names of REST. */
  readonly path: Path;
}

/** A session as the body of a line of an import. */
export interface ConvertedSession {
  readonly body: JSONValue;
  /** Whether the password is a hash. */
  readonly passwordIsHashed: boolean;
  readonly differences: readonly Difference[];
}

/** How to read sessions. */
export interface SessionOptions {
  /** The names of the sessions are hashes of identifiers (`hash_keys` of the gateway). */
  readonly namesAreHashes: boolean;
  /** Keep members without a field in `meta_data`, under `tyk`. */
  readonly keepsUnknown: boolean;
}

type Members = Readonly<Record<string, JSONValue>>;

/** Members that limit what a key may do, and have no field. */
const restrictions: ReadonlySet<string> = new Set([
  'allowed_types',
  'allowance_scope',
  'disable_introspection',
  'endpoints',
  'field_access_rights',
  'json_rpc_methods',
  'max_query_depth',
  'mtls_static_certificate_bindings',
  'restricted_types',
]);

const isRestriction = (name: string) => restrictions.has(name) || name.startsWith('mcp_');

/** Text that describes a difference, for one line of output. */
export function describeDifference({ code, path }: Difference): string {
  return `${pathText(path)} ${differences[code]}`;
}

/**
 * Converts a session.
 *
 * @throws {AppError} INVALID when it is no session of a key.
 */
export function convertSession(found: JSONValue, options: SessionOptions): ConvertedSession {
  const { name, session } = sessionIn(found, options);
  const seen: Difference[] = [];
  const unknown = new Map<string, JSONValue>();
  const lost = (path: Path, value: JSONValue) => {
    seen.push({ code: isRestriction(String(path.at(-1))) ? 'RESTRICTION_LOST' : 'UNKNOWN_MEMBER', path });
    unknown.set(pathText(path), value);
  };
  const definition = knownMembers(session, definitionShape, [], lost);
  if (name.member === 'key_hash') seen.push({ code: 'HASH_ONLY', path: ['key_hash'] });
  seen.push(...adjust(definition));
  const { passwordIsHashed, ...password } = adjustPassword(definition);
  seen.push(...password.differences);
  if (options.keepsUnknown && unknown.size > 0) {
    const metaData = definition['meta_data'] ?? {};
    if (isMembers(metaData)) definition['meta_data'] = { ...metaData, tyk: Object.fromEntries(unknown) };
  }
  return { body: { [name.member]: name.value, ...definition }, passwordIsHashed, differences: seen };
}

interface NamedSession {
  readonly name: { readonly member: 'key_id' | 'key_hash'; readonly value: JSONValue };
  readonly session: Members;
}

/** The name and the members of a session, which is a line itself or the `value` of its `key`. */
function sessionIn(found: JSONValue, { namesAreHashes }: SessionOptions): NamedSession {
  if (!isMembers(found)) throw notASession('The line is not a JSON object.');
  const { key, value, ...others } = found;
  if (key === undefined) {
    const { key_id: keyID, key_hash: keyHash, ...session } = found;
    if (isZero(keyID)) return { name: { member: 'key_hash', value: keyHash ?? null }, session };
    return { name: { member: namesAreHashes ? 'key_hash' : 'key_id', value: keyID ?? null }, session };
  }
  if (typeof key !== 'string') throw malformed('key', 'must be the name of the key, as text');
  // Redis has the JSON as text.
  const session = typeof value === 'string' ? parseJSON(value) : (value ?? null);
  if (!isMembers(session)) throw malformed('value', 'must be the session of the key: a JSON object');
  if (Object.keys(others).length > 0)
    throw malformed(Object.keys(others)[0] ?? '', 'is unknown beside `key` and `value`');
  if (key.startsWith('orgkey.')) {
    throw notASession(
      'The session limits all keys of an organization together, which Keyfront does not. Let your gateway count it, or import it without `orgkey.` as a key that the gateway counts against.',
    );
  }
  const { key_id: keyID, key_hash: keyHash, ...members } = session;
  const name = key.replace(/^apikey-/, '');
  if (!namesAreHashes) return { name: { member: 'key_id', value: name }, session: members };
  const known = isZero(keyID) ? undefined : keyID;
  return {
    name: known
      ? { member: 'key_id', value: known }
      : { member: 'key_hash', value: isZero(keyHash) ? name : (keyHash ?? null) },
    session: members,
  };
}

const onlyInPreviews = fieldsOnlyIn('preview');
const definitionShape = Object.fromEntries(
  Object.entries(KeyDefinition.shape).filter(([field]) => !onlyInPreviews.has(field)),
) as z.core.$ZodShape;
const freeForm: ReadonlySet<string> = new Set([...freeFormFields]);

/** The members with a field, without zero values: the gateway writes one for each field that a key does not have. */
function knownMembers(
  members: Members,
  shape: z.core.$ZodShape,
  at: Path,
  lost: (path: Path, value: JSONValue) => void,
): Record<string, JSONValue> {
  const fields = new Map(Object.entries(shape).map(([field, schema]) => [wireName(field), { field, schema }]));
  const known: Record<string, JSONValue> = {};
  for (const [name, value] of Object.entries(members)) {
    const path = [...at, name];
    // Of a key that was never used, it is 0 too.
    const isExhausted =
      name === 'quota_remaining' && isAbove0(members['quota_max']) && isAbove0(members['quota_renews']);
    if (isZero(value) && !isExhausted) continue;
    const found = fields.get(name);
    if (!found && !saysNothing(value)) lost(path, value);
    if (!found) continue;
    const kept = freeForm.has(found.field) ? value : knownIn(value, found.schema, path, lost);
    if (!isZero(kept) || isExhausted) known[name] = kept;
  }
  return known;
}

function knownIn(
  value: JSONValue,
  schema: z.core.$ZodType,
  path: Path,
  lost: (path: Path, value: JSONValue) => void,
): JSONValue {
  const shape = shapeOf(schema);
  if (shape) return isMembers(value) ? knownMembers(value, shape, path, lost) : value;
  const entry = memberOf(schema);
  const entryShape = entry && shapeOf(entry);
  if (!entryShape) return value;
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      isMembers(item) ? knownMembers(item, entryShape, [...path, index], lost) : item,
    );
  }
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([label, item]) => [
      label,
      isMembers(item) ? knownMembers(item, entryShape, [...path, label], lost) : item,
    ]),
  );
}

/** Changes what the gateway understands otherwise. */
function adjust(definition: Record<string, JSONValue>): Difference[] {
  const found: Difference[] = [];
  const remove = (code: DifferenceCode, name: string) => {
    if (!(name in definition)) return;
    // Below 0, nothing was limited.
    if (isAbove0(definition[name]) || typeof definition[name] !== 'number') found.push({ code, path: [name] });
    Reflect.deleteProperty(definition, name);
  };
  // The import rejects another type.
  const isNumber = (name: string) => ['number', 'bigint'].includes(typeof definition[name]);
  if (isNumber('rate') && !isAbove0(definition['per'])) remove('RATE_OFF', 'rate');
  if (isNumber('per') && !isAbove0(definition['rate'])) remove('RATE_OFF', 'per');
  const policies = definition['apply_policies'];
  if (policies !== undefined) remove('POLICY_ID_IGNORED', 'apply_policy_id');
  if (definition['enable_detailed_recording'] !== undefined)
    Reflect.deleteProperty(definition, 'enable_detail_recording');
  const { smoothing } = definition;
  if (isMembers(smoothing)) {
    const { enabled, ...figures } = smoothing;
    if (enabled !== true || Object.values(figures).filter(isAbove0).length < 4)
      remove('SMOOTHING_IGNORED', 'smoothing');
  }
  if (policies !== undefined || definition['apply_policy_id'] !== undefined) {
    if (definition['is_inactive'] === true) found.push({ code: 'INACTIVE_WITH_POLICY', path: ['is_inactive'] });
    for (const name of ['rate', 'quota_max', 'access_rights']) {
      if (name in definition) found.push({ code: 'POLICY_REPLACES', path: [name] });
    }
  }
  return found;
}

/** The gateway stores a password as text, or as a hash of the type beside it. */
function adjustPassword(definition: Record<string, JSONValue>): Omit<ConvertedSession, 'body'> {
  const { basic_auth_data: basicAuth } = definition;
  if (!isMembers(basicAuth)) return { passwordIsHashed: false, differences: [] };
  const { password, hash_type: hashType, ...others } = basicAuth;
  const isText = typeof password === 'string';
  if (isText && (hashType === undefined || hashType === hashTypeOf(password))) {
    return { passwordIsHashed: hashType !== undefined, differences: [] };
  }
  if (Object.keys(others).length === 0) Reflect.deleteProperty(definition, 'basic_auth_data');
  else definition['basic_auth_data'] = others;
  // Without a password, the type says nothing.
  const path = ['basic_auth_data', 'password'];
  return { passwordIsHashed: false, differences: password === undefined ? [] : [{ code: 'PASSWORD_LOST', path }] };
}

/** Whether a value is that of a field that was never set, in the language of the gateway. An entry of a map is one, even if it is empty. */
function isZero(value: JSONValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) === 0;
  return value === '0001-01-01T00:00:00Z' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Whether a value without a field says nothing. */
function saysNothing(value: JSONValue): boolean {
  return isZero(value) || (typeof value === 'object' && value !== null && Object.values(value).every(saysNothing));
}

function isAbove0(value: JSONValue | undefined): boolean {
  return (typeof value === 'number' || typeof value === 'bigint') && value > 0;
}

function isMembers(value: JSONValue | undefined): value is Record<string, JSONValue> {
  return isObject(value);
}

function notASession(message: string): AppError {
  return new AppError('INVALID', message);
}

function malformed(member: string, message: string): AppError {
  const issue = { path: [member], code: 'MALFORMED_ARGUMENT', message };
  return new AppError('INVALID', 'The line is no session.', { issues: [issue] });
}

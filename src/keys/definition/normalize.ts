import type { Path } from '../../lib/errors.js';
import { KeyDefinition } from './schema.js';
import type { FieldTraits } from './field-types.js';
import { createObjectFactory } from './object-shapes.js';
import { memberOf, shapeOf, traitsOf } from './introspection.js';
import type * as z from 'zod';

/** The type without null: in the normal form, a field has a value or is absent. */
type WithoutNull<T> = T extends readonly (infer Item)[]
  ? WithoutNull<Item>[]
  : T extends object
    ? { [K in keyof T]: WithoutNull<NonNullable<T[K]>> }
    : T;

type WithoutSecrets = Omit<
  KeyDefinition,
  'basicAuthData' | 'jwtData' | 'hmacString' | 'applyPolicyID' | 'enableDetailRecording' | 'dateCreated' | 'lastUpdated'
> & {
  basicAuthData?: Omit<NonNullable<KeyDefinition['basicAuthData']>, 'password'>;
  jwtData?: Omit<NonNullable<KeyDefinition['jwtData']>, 'secret'>;
};

/** A definition in its normal form: no null, no deprecated field, no server-owned field, no secret. */
export type Definition = { [K in keyof WithoutSecrets]: WithoutNull<NonNullable<WithoutSecrets[K]>> };

/** The names under which secrets are stored, which are hashed or encrypted. */
export type SecretName = 'password' | 'jwtSecret' | 'hmacString';

/** The path of each secret in a definition. */
export const secretPaths = {
  password: ['basicAuthData', 'password'],
  jwtSecret: ['jwtData', 'secret'],
  hmacString: ['hmacString'],
} as const satisfies Readonly<Record<SecretName, Path>>;

/** The secrets of an update: a new value, null to clear the stored one, absent to keep it. */
export type SecretChanges = Partial<Record<SecretName, string | null>>;

/** Splits a definition into its normal form and its secrets. Pure and idempotent. */
export function normalizeDefinition(definition: KeyDefinition): { definition: Definition; secrets: SecretChanges } {
  const normal = withoutNulls(definition) as Definition;
  if (normal.accessRights) normal.accessRights = normal.accessRights.map(withUpperCaseMethods);
  if (normal.tags) normal.tags = unique(normal.tags);
  const policies = policiesOf(definition);
  if (normal.applyPolicies || policies.length > 0) normal.applyPolicies = policies;
  const recording = definition.enableDetailedRecording ?? definition.enableDetailRecording ?? undefined;
  if (recording !== undefined) normal.enableDetailedRecording = recording;
  return { definition: normal, secrets: secretsOf(definition) };
}

type AccessRight = NonNullable<Definition['accessRights']>[number];

function withUpperCaseMethods(right: AccessRight): AccessRight {
  if (!right.allowedUrls) return right;
  const allowedUrls = right.allowedUrls.map((allowed) =>
    allowed.methods ? { ...allowed, methods: unique(allowed.methods.map((method) => method.toUpperCase())) } : allowed,
  );
  return { ...right, allowedUrls };
}

/**
 * Returns the policies of a definition. The deprecated field counts only if its successor has none: otherwise it would
 * grant the rights of a further policy.
 */
export function policiesOf({
  applyPolicies,
  applyPolicyID,
}: Pick<KeyDefinition, 'applyPolicies' | 'applyPolicyID'>): string[] {
  if (applyPolicies && applyPolicies.length > 0) return unique(applyPolicies);
  return applyPolicyID?.trim() ? [applyPolicyID.trim()] : [];
}

/** Converts an RFC 3339 date and time to UTC, with the same number of fractional digits. */
export function inUTC(dateTime: string): string {
  const fraction = /\.\d+/.exec(dateTime)?.[0] ?? '';
  const instant = new Date(dateTime.replace(fraction, ''));
  return instant.toISOString().replace('.000Z', `${fraction}Z`);
}

function secretsOf({ basicAuthData, jwtData, hmacString }: KeyDefinition): SecretChanges {
  // Null for the object clears the secret inside it.
  const password = basicAuthData === null ? null : basicAuthData?.password;
  const jwtSecret = jwtData === null ? null : jwtData?.secret;
  const secrets: SecretChanges = {};
  if (password !== undefined) secrets.password = password;
  if (jwtSecret !== undefined) secrets.jwtSecret = jwtSecret;
  if (hmacString !== undefined) secrets.hmacString = hmacString;
  return secrets;
}

function unique(texts: readonly string[]): string[] {
  const trimmed = texts.map((text) => text.trim());
  // For short lists, indexOf is faster than a set.
  if (trimmed.length > 8) return [...new Set(trimmed)];
  return trimmed.filter((text, index) => trimmed.indexOf(text) === index);
}

type DropNulls = (value: unknown) => unknown;

/** Removes nulls, and fields that the normal form does not have. Free-form JSON keeps its nulls. */
const withoutNulls = dropNullsOfMembers(KeyDefinition.shape);

function dropNullsOfMembers(shape: z.core.$ZodShape): DropNulls {
  const fields = Object.entries(shape)
    .filter(([, inner]) => isInNormalForm(traitsOf(inner)))
    .map(([name, inner]) => ({ name, dropNulls: dropNullsOf(inner) }));
  const make = createObjectFactory(fields.map(({ name }) => name));
  return (value) => {
    const fieldsOfValue = value as Readonly<Record<string, unknown>>;
    const members: unknown[] = [];
    for (const { name, dropNulls } of fields) {
      const member = fieldsOfValue[name] ?? undefined;
      members.push(member !== undefined && dropNulls ? dropNulls(member) : member);
    }
    return make(members);
  };
}

/** Returns the function for a schema; undefined if values of the schema never change. */
function dropNullsOf(schema: z.core.$ZodType): DropNulls | undefined {
  const shape = shapeOf(schema);
  if (shape) return dropNullsOfMembers(shape);
  const member = memberOf(schema);
  const dropNulls = member && dropNullsOf(member);
  return dropNulls && ((value) => (value as readonly unknown[]).map(dropNulls));
}

/** The normal form has no secrets, no deprecated fields and no fields that the service sets. */
function isInNormalForm({ secret, deprecated, serverOwned }: FieldTraits): boolean {
  return !secret && deprecated === undefined && !serverOwned;
}

/** Adds the secrets to the definition again, for responses that echo them. */
export function withSecrets(definition: Definition, { password, jwtSecret, hmacString }: SecretChanges): KeyDefinition {
  return {
    ...definition,
    ...(typeof password === 'string' && { basicAuthData: { ...definition.basicAuthData, password } }),
    ...(typeof jwtSecret === 'string' && { jwtData: { ...definition.jwtData, secret: jwtSecret } }),
    ...(typeof hmacString === 'string' && { hmacString }),
  };
}

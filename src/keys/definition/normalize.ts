import { KeyDefinition } from './schema.js';
import type { FieldTraits } from './field-types.js';
import { createObjectFactory } from './object-shapes.js';
import { memberOf, shapeOf, traitsOf } from './introspection.js';
import type { z } from 'zod';

/** The type without null: in the normal form a field has a value or is absent. */
type Solid<T> = T extends readonly (infer Item)[]
  ? Solid<Item>[]
  : T extends object
    ? { [K in keyof T]: Solid<NonNullable<T[K]>> }
    : T;

type WithoutSecrets = Omit<
  KeyDefinition,
  'basicAuthData' | 'jwtData' | 'hmacString' | 'applyPolicyID' | 'enableDetailRecording' | 'dateCreated' | 'lastUpdated'
> & {
  basicAuthData?: Omit<NonNullable<KeyDefinition['basicAuthData']>, 'password'>;
  jwtData?: Omit<NonNullable<KeyDefinition['jwtData']>, 'secret'>;
};

/** A definition in its normal form: no null, no deprecated field, no server-owned field, no secret. */
export type Definition = { [K in keyof WithoutSecrets]: Solid<NonNullable<WithoutSecrets[K]>> };

export const secretNames = ['password', 'jwtSecret', 'hmacString'] as const;
export type SecretName = (typeof secretNames)[number];

/** What a definition says of its secrets: a new value, null to clear, absent to keep. */
export type SecretChanges = Partial<Record<SecretName, string | null>>;

/** Parts a definition into its normal form and its secrets. Pure, and the identity on a normal form. */
export function normalizeDefinition(definition: KeyDefinition): { definition: Definition; secrets: SecretChanges } {
  const normal = solid(KeyDefinition, definition) as Definition;
  if (normal.accessRights) normal.accessRights = normal.accessRights.map(withPlainMethods);
  if (normal.tags) normal.tags = unique(normal.tags);
  const policies = policiesOf(definition);
  if (normal.applyPolicies || policies.length > 0) normal.applyPolicies = policies;
  const recording = definition.enableDetailedRecording ?? definition.enableDetailRecording ?? undefined;
  if (recording !== undefined) normal.enableDetailedRecording = recording;
  return { definition: normal, secrets: secretsOf(definition) };
}

type AccessRight = NonNullable<Definition['accessRights']>[number];

function withPlainMethods(right: AccessRight): AccessRight {
  if (!right.allowedUrls) return right;
  const allowedUrls = right.allowedUrls.map((allowed) =>
    allowed.methods ? { ...allowed, methods: unique(allowed.methods.map((method) => method.toUpperCase())) } : allowed,
  );
  return { ...right, allowedUrls };
}

/** The policies of a definition, the one in the deprecated field among them. */
export function policiesOf({
  applyPolicies,
  applyPolicyID,
}: Pick<KeyDefinition, 'applyPolicies' | 'applyPolicyID'>): string[] {
  return unique([...(applyPolicies ?? []), ...(applyPolicyID?.trim() ? [applyPolicyID] : [])]);
}

/** The same instant in UTC, with as many fractional digits as were given. Expects an RFC 3339 text. */
export function inUTC(dateTime: string): string {
  const fraction = /\.\d+/.exec(dateTime)?.[0] ?? '';
  const instant = new Date(dateTime.replace(fraction, ''));
  return instant.toISOString().replace('.000Z', `${fraction}Z`);
}

function secretsOf({ basicAuthData, jwtData, hmacString }: KeyDefinition): SecretChanges {
  // Null for the whole object clears what is inside it.
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
  // Most lists are so short that a set of them takes longer.
  if (trimmed.length > 8) return [...new Set(trimmed)];
  return trimmed.filter((text, index) => trimmed.indexOf(text) === index);
}

type Solidify = (value: unknown) => unknown;

const solidifiers = new WeakMap<z.core.$ZodType, Solidify>();

/** Drops null and what has no place in a normal form; inside free-form JSON null is a value. */
function solid(schema: z.core.$ZodType, value: unknown): unknown {
  return solidifyOf(schema)?.(value) ?? value;
}

/** Asks the table once what it knows of a schema; undefined for one whose values stay as they are. */
function solidifyOf(schema: z.core.$ZodType): Solidify | undefined {
  const known = solidifiers.get(schema);
  if (known) return known;
  const made = createSolidify(schema);
  if (made) solidifiers.set(schema, made);
  return made;
}

function createSolidify(schema: z.core.$ZodType): Solidify | undefined {
  const shape = shapeOf(schema);
  if (shape) {
    const fields = Object.entries(shape)
      .filter(([, inner]) => isKept(traitsOf(inner)))
      .map(([name, inner]) => ({ name, solidify: solidifyOf(inner) }));
    const make = createObjectFactory(fields.map(({ name }) => name));
    return (value) => {
      const given = value as Readonly<Record<string, unknown>>;
      const members: unknown[] = [];
      for (const { name, solidify } of fields) {
        const member = given[name] ?? undefined;
        members.push(member !== undefined && solidify ? solidify(member) : member);
      }
      return make(members);
    };
  }
  const member = memberOf(schema);
  const solidify = member && solidifyOf(member);
  return solidify && ((value) => (value as readonly unknown[]).map(solidify));
}

/** Secrets go their own way, deprecated fields have been moved, and what the service owns is not taken from a client. */
function isKept({ secret, deprecated, serverOwned }: FieldTraits): boolean {
  return !secret && deprecated === undefined && !serverOwned;
}

/** The definition with its secrets back in their places, for the few readers that may have them. */
export function withSecrets(definition: Definition, { password, jwtSecret, hmacString }: SecretChanges): KeyDefinition {
  return {
    ...definition,
    ...(typeof password === 'string' && { basicAuthData: { ...definition.basicAuthData, password } }),
    ...(typeof jwtSecret === 'string' && { jwtData: { ...definition.jwtData, secret: jwtSecret } }),
    ...(typeof hmacString === 'string' && { hmacString }),
  };
}

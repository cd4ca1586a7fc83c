import { KeyDefinition } from './definition.js';
import { memberOf, shapeOf } from './table.js';
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
export function normalise(definition: KeyDefinition): { definition: Definition; secrets: SecretChanges } {
  const { applyPolicyID, enableDetailRecording, dateCreated, lastUpdated, hmacString, ...kept } = solid(
    KeyDefinition,
    definition,
  ) as Solid<KeyDefinition>;

  const normal: Definition = { ...kept };
  if (kept.basicAuthData) {
    const { password, ...shown } = kept.basicAuthData;
    normal.basicAuthData = shown;
  }
  if (kept.jwtData) {
    const { secret, ...shown } = kept.jwtData;
    normal.jwtData = shown;
  }
  if (kept.accessRights) {
    normal.accessRights = kept.accessRights.map((right) => ({
      ...right,
      ...(right.allowedUrls && {
        allowedUrls: right.allowedUrls.map((allowed) => ({
          ...allowed,
          ...(allowed.methods && { methods: unique(allowed.methods.map((method) => method.toUpperCase())) }),
        })),
      }),
    }));
  }
  if (kept.tags) normal.tags = unique(kept.tags);
  const policies = policiesOf({ applyPolicyID, applyPolicies: kept.applyPolicies });
  if (kept.applyPolicies || policies.length > 0) normal.applyPolicies = policies;
  const recording = kept.enableDetailedRecording ?? enableDetailRecording;
  if (recording !== undefined) normal.enableDetailedRecording = recording;

  return { definition: normal, secrets: secretsOf(definition) };
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
  return {
    ...(password !== undefined && { password }),
    ...(jwtSecret !== undefined && { jwtSecret }),
    ...(hmacString !== undefined && { hmacString }),
  };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.trim()))];
}

type Solidify = (value: unknown) => unknown;

const solidifiers = new WeakMap<z.core.$ZodType, Solidify>();

/** Drops null wherever the table knows the field; inside free-form JSON null is a value. */
function solid(schema: z.core.$ZodType, value: unknown): unknown {
  let solidify = solidifiers.get(schema);
  if (!solidify) solidifiers.set(schema, (solidify = createSolidify(schema)));
  return solidify(value);
}

/** Asks the table once what it knows of a schema: to ask it for each value takes longer than all else. */
function createSolidify(schema: z.core.$ZodType): Solidify {
  const shape = shapeOf(schema);
  if (shape) {
    const fields = Object.entries(shape);
    return (value) => {
      const members: Record<string, unknown> = {};
      for (const [field, inner] of fields) {
        const member: unknown = Reflect.get(Object(value), field);
        if (member !== undefined && member !== null) members[field] = solid(inner, member);
      }
      return members;
    };
  }
  const member = memberOf(schema);
  return (value) => (member && Array.isArray(value) ? value.map((item) => solid(member, item)) : value);
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

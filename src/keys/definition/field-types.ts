import * as z from 'zod';
import { integerOf, maxInt64, minInt64 } from '../../lib/int64.js';
import { checkFreeForm, checkFreeFormObject, freeFormLimits } from './free-form.js';
import { customIssue, rule, reservedNames } from './field-rules.js';
import { isStorableText } from '../../lib/text.js';

/** Properties of a field that zod does not need, for the APIs and the storage. */
export interface FieldTraits {
  /** The type in the APIs if the zod type does not determine it: a date, an identifier, free-form JSON, an enum of GraphQL. */
  readonly scalar?: 'KeyDateTime' | 'ID' | 'JSON' | 'JSONObject' | 'KeyPolicyPart';
  /** Write-only: stored as a hash, or encrypted. */
  readonly secret?: 'hashed' | 'sealed';
  /** Set by the service. A value of a client is ignored with a warning. */
  readonly serverOwned?: true;
  /** Set when the key is created. */
  readonly fixed?: true;
  /** The unit of a number, for forms. The description states it too. */
  readonly unit?: 'seconds' | 'Unix seconds' | 'percent' | 'levels' | 'requests';
  /** An empty text is absent: clients that send back what they read write empty texts. */
  readonly emptyIsAbsent?: true;
  /** Deprecation notice with the replacement. */
  readonly deprecated?: string;
  /** Deprecation notice of a field that is stored and has no effect. */
  readonly obsolete?: string;
  /** The only variant that has the field. If absent, both have it. */
  readonly only?: 'preview' | 'update';
}

/** Whether a field is JSON that is stored without being interpreted. */
export function isFreeForm({ scalar }: FieldTraits): boolean {
  return scalar === 'JSON' || scalar === 'JSONObject';
}

/** The traits of each field of the definition. */
export const fieldTraits = z.registry<FieldTraits>();

/** The name and description of a nested object's type. */
export const objectTraits = z.registry<{ readonly name: string; readonly description: string }>();

function field<T extends z.ZodType>(schema: T, description: string, traits: FieldTraits = {}) {
  const described = schema.nullish().describe(description);
  fieldTraits.add(described, traits);
  return described;
}

const soundText = rule<string>((value) =>
  isStorableText(value) ? undefined : ['MALFORMED_TEXT', 'must be well-formed Unicode without NUL'],
);

const notBlank = rule<string>((value) => (value.trim() === '' ? ['EMPTY', 'must not be empty'] : undefined));

// REST uses labels as member names.
const labelName = rule<string>((value) =>
  reservedNames.has(value) ? ['RESERVED_NAME', 'must be another label'] : undefined,
);

const asInteger = (value: unknown, ctx: z.core.$RefinementCtx): unknown => {
  if (typeof value !== 'number' || !Number.isFinite(value)) return value;
  const integer = integerOf(value);
  if (integer !== undefined) return integer;
  ctx.issues.push(customIssue('NOT_INTEGER', 'must be an integer', value));
  return z.NEVER;
};

const asDouble = (value: unknown, ctx: z.core.$RefinementCtx): unknown => {
  // The JSON parser returns a bigint only for an integer that is not exact as a double.
  if (typeof value === 'bigint') {
    ctx.issues.push(customIssue('IMPRECISE', 'has more digits than a double-precision number holds', value));
    return z.NEVER;
  }
  return Object.is(value, -0) ? 0 : value;
};

const minInt32 = -(2 ** 31);
const maxInt32 = 2 ** 31 - 1;

const asInt32 = (value: unknown, ctx: z.core.$RefinementCtx): unknown => {
  const integer = asInteger(value, ctx);
  if (typeof integer !== 'bigint') return integer;
  if (integer >= BigInt(minInt32) && integer <= BigInt(maxInt32)) return Number(integer);
  ctx.issues.push(customIssue('OUT_OF_RANGE', `must be from ${minInt32} to ${maxInt32}`, value));
  return z.NEVER;
};

const bounded = (max: number) => z.string().check(soundText).max(max);

/** A text of at most `max` UTF-16 code units. */
export const text = (description: string, max = 256, traits?: FieldTraits) => field(bounded(max), description, traits);

/** A text that must not be blank. */
export const name = (description: string, max = 256) => field(bounded(max).check(notBlank), description);

/** A text with a rule of its own. */
export const ruledText = (description: string, check: z.core.$ZodCheck<string>, traits?: FieldTraits) =>
  field(bounded(256).check(check), description, traits);

const absentIf = (empty: RegExp) => (value: unknown) =>
  typeof value === 'string' && empty.test(value) ? undefined : value;

/** A text with a rule of its own, which is absent if it matches `empty`. */
export const optionalText = (
  description: string,
  check: z.core.$ZodCheck<string>,
  traits?: FieldTraits,
  max = 256,
  empty = /^$/,
) =>
  field(z.preprocess(absentIf(empty), bounded(max).check(check).optional()), description, {
    ...traits,
    emptyIsAbsent: true,
  });

/** A label that identifies its entry in a list. */
export const label = (description: string) =>
  z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : undefined) })
    .check(soundText, labelName, notBlank)
    .max(256)
    .describe(description);

/** True or false. */
export const flag = (description: string, traits?: FieldTraits) => field(z.boolean(), description, traits);

/** A double-precision number of at least `min`. */
export const double = (description: string, min = -Number.MAX_VALUE, traits?: FieldTraits) =>
  field(z.preprocess(asDouble, z.number().min(min)), description, traits);

/** A signed 64-bit integer of at least `min`. */
export const int64 = (description: string, min = minInt64, traits?: FieldTraits) =>
  field(z.preprocess(asInteger, z.bigint().min(min).max(maxInt64)), description, traits);

/** A signed 32-bit integer of at least `min`. */
export const int32 = (description: string, min = minInt32, traits?: FieldTraits) =>
  field(z.preprocess(asInt32, z.int().min(min)), description, traits);

/** Default maximum number of items in a list of texts. */
const maxTexts = 100;

/** A list of texts, none of them blank. */
export const texts = (
  description: string,
  options: { max?: number; rule?: z.core.$ZodCheck<string>; only?: 'preview' } = {},
) =>
  field(
    z.array(bounded(512).check(notBlank, ...(options.rule ? [options.rule] : []))).max(options.max ?? maxTexts),
    description,
    options.only ? { only: options.only } : {},
  );

/** A list of numbers that satisfy the rule. */
export const doubles = (description: string, check: z.core.$ZodCheck<number>, traits?: FieldTraits) =>
  field(z.array(z.preprocess(asDouble, z.number().check(check))).max(100), description, traits);

/** An object of the definition. */
export const nested = <T extends z.ZodRawShape>(description: string, object: z.ZodObject<T, z.core.$strict>) =>
  field(object, description);

/** A list of at most `max` objects. */
export const list = <T extends z.ZodRawShape>(
  description: string,
  object: z.ZodObject<T, z.core.$strict>,
  max: number,
) => field(z.array(object).max(max), description);

/** Any JSON. Integers of 64 bits are exact. */
export const freeForm = (description: string) =>
  field(z.unknown().check(checkFreeForm), `${description} ${freeFormLimits}`, { scalar: 'JSON' });

/** Any JSON object. */
export const freeFormObject = (description: string) =>
  field(z.unknown().check(checkFreeFormObject), `${description} ${freeFormLimits}`, { scalar: 'JSONObject' });

/** The rule of {@link isDateTime}, as the message of an issue. */
export const dateTimeRule = 'must be an RFC 3339 date and time with an offset';

/** Whether a text is a date and time of RFC 3339 with an offset. */
export function isDateTime(text: string): boolean {
  // Conversion to UTC can change the year, which has four digits in RFC 3339.
  const year = new Date(text).getUTCFullYear();
  return z.iso.datetime({ offset: true }).safeParse(text).success && year >= 0 && year <= 9999;
}

/** A date and time of RFC 3339 with an offset. */
export const dateTime = (description: string, traits: FieldTraits) =>
  field(
    bounded(64).check(
      z.check<string>((ctx) => {
        if (!isDateTime(ctx.value)) ctx.issues.push(customIssue('MALFORMED_DATE', dateTimeRule, ctx.value));
      }),
    ),
    description,
    { ...traits, scalar: 'KeyDateTime' },
  );

import type { z } from 'zod';
import { findingOf } from './rule.js';

/**
 * Reads a value as a schema of the table would, but for that it does not say what is wrong with one: then it answers
 * `refused`, and zod has to look. The checks are zod's own and ours, run one by one; what is spared is all that zod does
 * between them to be ready for everything.
 */
export type QuickRead = (value: unknown) => unknown;

export const refused: unique symbol = Symbol('refused');

type Schema = z.core.$ZodType;
type Payload = z.core.ParsePayload;

/** The quick reader of a schema. Whatever it has of a kind that is not known here, is refused. */
export function quickReadOf(schema: Schema): QuickRead {
  const read = quickParseOf(schema);
  const checks = [
    ...('check' in schema._zod ? [schema as unknown as z.core.$ZodCheck] : []),
    ...(schema._zod.def.checks ?? []),
  ];
  if (checks.length === 0) return read;
  const [test = pass, ...more] = checks.map(testOf);
  const passesMore: Test = more.length === 0 ? pass : (value) => more.every((other) => other(value));
  return (value) => {
    const found = read(value);
    return found !== refused && test(found) && passesMore(found) ? found : refused;
  };
}

/** Whether a value passes a check. */
type Test = (value: unknown) => boolean;

const pass: Test = () => true;

function testOf(check: z.core.$ZodCheck): Test {
  const { def } = check._zod as unknown as { def: z.core.$ZodChecks['_zod']['def'] };
  const finding = findingOf(check);
  if (finding) return (value) => finding(value) === undefined;
  if (def.check === 'max_length') return (value) => (value as ArrayLike<unknown>).length <= def.maximum;
  return (value) => {
    const payload: Payload = { value, issues: [] };
    void check._zod.check(payload as never);
    return payload.issues.length === 0 && payload.value === value;
  };
}

function quickParseOf(schema: Schema): QuickRead {
  const { def } = schema._zod as { def: z.core.$ZodTypes['_zod']['def'] };
  switch (def.type) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return def.coerce ? refuse : ofPrimitive(def.type);
    case 'number':
      return def.coerce ? refuse : (value) => (Number.isFinite(value) ? value : refused);
    case 'unknown':
      return (value) => value;
    case 'optional':
      return unless(undefined, quickReadOf(def.innerType));
    case 'nullable':
      return unless(null, quickReadOf(def.innerType));
    case 'array':
      return ofItems(quickReadOf(def.element));
    case 'pipe':
      return inTurn(quickReadOf(def.in), quickReadOf(def.out));
    case 'transform':
      return ofTransform(def.transform);
    case 'object':
      return def.catchall?._zod.def.type === 'never' ? ofMembers(def.shape) : refuse;
    default:
      return refuse;
  }
}

const refuse: QuickRead = () => refused;

function ofPrimitive(type: 'string' | 'boolean' | 'bigint'): QuickRead {
  return (value) => (typeof value === type ? value : refused);
}

function unless(absent: null | undefined, read: QuickRead): QuickRead {
  return (value) => (value === absent ? absent : read(value));
}

function inTurn(first: QuickRead, second: QuickRead): QuickRead {
  return (value) => {
    const found = first(value);
    return found === refused ? refused : second(found);
  };
}

function ofTransform(transform: z.core.$ZodTransformDef['transform']): QuickRead {
  return (value) => {
    const payload: Payload = { value, issues: [] };
    const found = transform(value, payload);
    return payload.issues.length > 0 || found instanceof Promise ? refused : found;
  };
}

function ofItems(read: QuickRead): QuickRead {
  return (value) => {
    if (!Array.isArray(value)) return refused;
    const items: unknown[] = [];
    for (const item of value as unknown[]) {
      const found = read(item);
      if (found === refused) return refused;
      items.push(found);
    }
    return items;
  };
}

function ofMembers(shape: z.core.$ZodShape): QuickRead {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, ...fieldOf(schema) }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused;
    const given = value as Readonly<Record<string, unknown>>;
    let record = given as Record<string, unknown>;
    let known = 0;
    for (const { name, read, isOptional, isNullable } of fields) {
      const member = given[name];
      if (member === undefined) {
        if (!isOptional) return refused;
        continue;
      }
      known += 1;
      if (member === null && isNullable) continue;
      const found = read(member);
      if (found === refused) return refused;
      if (Object.is(found, member)) continue;
      // Most objects are read as they are. V8 copies one that was read from JSON faster than it puts another together.
      if (record === given) record = { ...given };
      record[name] = found;
    }
    // There may be something else in it: what is unknown, inherited or undefined.
    return Object.keys(given).length === known ? record : refused;
  };
}

function fieldOf(schema: Schema) {
  let [inner, isOptional, isNullable] = [schema, false, false];
  for (;;) {
    const { def } = inner._zod as { def: z.core.$ZodTypes['_zod']['def'] };
    if (def.checks?.length || (def.type !== 'optional' && def.type !== 'nullable')) break;
    if (def.type === 'optional') isOptional = true;
    else isNullable = true;
    inner = def.innerType;
  }
  return { read: quickReadOf(inner), isOptional, isNullable };
}

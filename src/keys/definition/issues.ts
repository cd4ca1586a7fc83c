import type * as z from 'zod';
import { AppError, type Issue, type Path } from '../../lib/errors.js';
import { nearest } from '../../lib/nearest.js';
import { fieldsOnlyIn, KeyDefinition, type Variant } from './schema.js';
import { maxIssues, pathOf } from './field-rules.js';
import { shapeAt, memberOf, shapeOf } from './introspection.js';
import { fastValidatorOf, INVALID, type FastValidator } from './fast-validator.js';

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  bigint: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const units: Record<string, string> = { string: 'characters', array: 'members' };

const fieldsOnlyInVariant: Record<Variant, ReadonlySet<string>> = {
  preview: fieldsOnlyIn('preview'),
  update: fieldsOnlyIn('update'),
};

/** Maximum number of unknown fields with a suggestion. The search takes time, and a body can have thousands of fields. */
const maxSuggestions = 20;

/**
 * Converts the issues of zod for a value of `withoutExcess` to ours, at most `maxIssues` + 1. Field names in a message are
 * in backticks, so that each API can rename them.
 */
export function issuesOf(
  zodIssues: readonly z.core.$ZodIssue[],
  variant: Variant | undefined,
  schema: z.core.$ZodType = KeyDefinition,
): Issue[] {
  let unknown = 0;
  const issues = zodIssues.flatMap((issue): Issue[] => {
    const path = pathOf(issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ path, ...codeAndMessageOf(issue) }];
    return issue.keys.map((name) =>
      unknownField([...path, name], variant, ++unknown <= maxSuggestions ? schema : undefined),
    );
  });
  return issues.slice(0, maxIssues + 1);
}

/** Returns the INVALID error with the issues of a definition. If there are more than `maxIssues`, it lists the first ones. */
export function invalidDefinition(issues: readonly Issue[]): AppError {
  if (issues.length > maxIssues) {
    const message = `The key definition has ${maxIssues} problems and more; only the first ${maxIssues} problems are listed.`;
    return new AppError('INVALID', message, { issues: issues.slice(0, maxIssues) });
  }
  const many = issues.length === 1 ? 'a problem' : `${issues.length} problems`;
  return new AppError('INVALID', `The key definition has ${many}.`, { issues });
}

function codeAndMessageOf(issue: z.core.$ZodIssue): { code: string; message: string } {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.message === 'is required') return { code: 'MISSING', message: issue.message };
      const received = 'received' in issue ? issue.received : undefined;
      if (received === 'Infinity' || received === 'NaN')
        return { code: 'OUT_OF_RANGE', message: 'must be a finite number' };
      return { code: 'WRONG_TYPE', message: `must be ${typeNames[issue.expected] ?? issue.expected}` };
    }
    case 'too_big': {
      const unit = units[issue.origin];
      if (unit === undefined) return { code: 'OUT_OF_RANGE', message: `must be at most ${issue.maximum}` };
      return {
        code: issue.origin === 'string' ? 'TOO_LONG' : 'TOO_MANY',
        message: `must have at most ${issue.maximum} ${unit}`,
      };
    }
    case 'too_small':
      return { code: 'OUT_OF_RANGE', message: `must be at least ${issue.minimum}` };
    case 'custom':
      return { code: String(issue.params?.['code']), message: issue.message };
    default:
      return { code: 'WRONG_TYPE', message: 'is not valid' };
  }
}

/** @param schema the schema to suggest a field of; undefined for no suggestion */
function unknownField(path: Path, variant: Variant | undefined, schema: z.core.$ZodType | undefined): Issue {
  const name = String(path.at(-1));
  const other = variant === 'preview' ? 'update' : 'preview';
  const foreign: ReadonlySet<string> = variant === undefined ? new Set() : fieldsOnlyInVariant[other];
  if (path.length === 1 && foreign.has(name)) {
    return {
      path,
      code: 'WRONG_VARIANT',
      message: `belongs to ${other === 'update' ? 'the update' : 'the preview'} only`,
    };
  }
  const shape = schema ? shapeAt(schema, path.slice(0, -1)) : {};
  const known = Object.keys(shape).filter((field) => path.length > 1 || !foreign.has(field));
  const plainName = name.replaceAll('_', '').toLowerCase();
  if (known.some((field) => plainName === `${field}Set`.toLowerCase())) {
    return { path, code: 'UNKNOWN_FIELD', message: 'is in responses only; omit it' };
  }
  const suggestion = nearest(name, known);
  return {
    path,
    code: 'UNKNOWN_FIELD',
    message: `is an unknown field${suggestion ? `; did you mean \`${suggestion}\`?` : ''}`,
  };
}

/**
 * The value without the invalid parts that follow the first `maxIssues` + 1, so that validation takes no time for issues
 * that no response lists. Valid parts stay.
 */
export function withoutExcess(schema: z.core.$ZodType, value: unknown): unknown {
  let remaining = maxIssues + 1;

  function visit(at: z.core.$ZodType, part: unknown): unknown {
    const shape = shapeOf(at);
    if (shape && typeof part === 'object' && part !== null && !Array.isArray(part)) {
      return Object.fromEntries(
        inSchemaOrder(shape, part).flatMap(([name, member]) =>
          kept(Object.hasOwn(shape, name) ? shape[name] : undefined, member).map((found) => [name, found] as const),
        ),
      );
    }
    const item = memberOf(at);
    if (item && Array.isArray(part)) return part.flatMap((member: unknown) => kept(item, member));
    remaining -= 1;
    return part;
  }

  /** Returns the part in a list, or an empty list to drop it. A part without a schema is unknown, and so invalid. */
  function kept(at: z.core.$ZodType | undefined, part: unknown): unknown[] {
    if (at && isValid(at, part)) return [part];
    if (remaining <= 0) return [];
    if (at) return [visit(at, part)];
    remaining -= 1;
    return [part];
  }

  return visit(schema, value);
}

/**
 * Returns the members in the order in which validation reports their issues: the fields of the schema, then unknown ones.
 * In another order, a required field could be dropped at the limit and then be reported as missing.
 */
function inSchemaOrder(shape: z.core.$ZodShape, part: object): [string, unknown][] {
  const sent = Object.entries(part);
  const known = new Map<string, unknown>(sent.filter(([name]) => Object.hasOwn(shape, name)));
  return [
    ...Object.keys(shape).flatMap((name): [string, unknown][] => (known.has(name) ? [[name, known.get(name)]] : [])),
    ...sent.filter(([name]) => !Object.hasOwn(shape, name)),
  ];
}

const validators = new WeakMap<z.core.$ZodType, FastValidator>();

function isValid(schema: z.core.$ZodType, value: unknown): boolean {
  const known = validators.get(schema);
  const validate = known ?? fastValidatorOf(schema);
  if (!known) validators.set(schema, validate);
  return validate(value) !== INVALID;
}

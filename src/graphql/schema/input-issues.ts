import {
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
} from 'graphql';
import { isJSONSafe, mayBeRoundedInt64 } from '../../lib/int64.js';
import type { Issue, Path } from '../../lib/errors.js';
import type { IssueCode } from '../../keys/definition/issue-codes.js';

/** The issues for which GraphQL rejects an input value, each with its path. The value itself is not quoted. */
export function* inputIssues(type: GraphQLInputType, value: unknown, path: Path): Generator<Issue> {
  if (isNonNullType(type)) {
    if (value === null || value === undefined) yield issue(path, 'MISSING', 'is required');
    else yield* inputIssues(type.ofType, value, path);
  } else if (value === null || value === undefined) {
    return;
  } else if (isListType(type)) {
    const isList = Array.isArray(value);
    const items: readonly unknown[] = isList ? (value as unknown[]) : [value];
    for (const [index, item] of items.entries()) {
      yield* inputIssues(type.ofType, item, isList ? [...path, index] : path);
    }
  } else if (isInputObjectType(type)) {
    yield* objectIssues(type, value, path);
  } else if (isEnumType(type)) {
    if (isRejected(type, value)) {
      const names = type.getValues().map(({ name }) => name);
      yield issue(path, 'MALFORMED_ARGUMENT', `must be one of ${names.join(', ')}`);
    }
  } else if (isRejected(type, value)) {
    yield scalarIssue(type.name, value, path);
  }
}

function* objectIssues(type: GraphQLInputObjectType, value: unknown, path: Path): Generator<Issue> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield issue(path, 'WRONG_TYPE', 'must be an object');
    return;
  }
  const fields = type.getFields();
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(fields, name)) yield issue([...path, name], 'UNKNOWN_FIELD', 'is not a field of this input');
  }
  const members = new Map<string, unknown>(Object.entries(value));
  for (const field of Object.values(fields)) {
    const { name, type: fieldType } = field;
    const member = members.get(name);
    if (member !== undefined || isRequiredInputField(field)) yield* inputIssues(fieldType, member, [...path, name]);
  }
  const isOne = members.size === 1 && ![...members.values()].includes(null);
  if (type.isOneOf && !isOne) yield issue(path, 'MALFORMED_ARGUMENT', 'must have exactly one field that is not null');
}

function isRejected(type: GraphQLScalarType | GraphQLEnumType, value: unknown): boolean {
  try {
    type.coerceInputValue(value);
    return false;
  } catch {
    return true;
  }
}

const scalarNames: Readonly<Record<string, string>> = {
  Boolean: 'true or false',
  Float: 'a number',
  ID: 'an identifier as a string',
  Int: 'a 32-bit integer',
  Int64: 'a 64-bit integer',
};

function scalarIssue(name: string, value: unknown, path: Path): Issue {
  const isNumber = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  if (name === 'JSON' || name === 'JSONObject') return issue([...path, ...pathOfRounded(value)], ...roundedNumber);
  if (name === 'ID' && isNumber) return issue(path, ...roundedNumber);
  if (name === 'Int64' && isNumber && mayBeRoundedInt64(value)) return issue(path, ...roundedNumber);
  const isDigits = isNumber || (name === 'Int64' && typeof value === 'string' && /^-?\d+$/.test(value));
  const code = isDigits && name.startsWith('Int') ? 'OUT_OF_RANGE' : 'WRONG_TYPE';
  return issue(path, code, `must be ${scalarNames[name] ?? 'a string'}`);
}

const roundedNumber = [
  'IMPRECISE',
  'must be a decimal string: gateways round numbers beyond 2^53-1',
] as const satisfies [IssueCode, string];

/** The path of the first number beyond 2^53-1 in free-form JSON. */
function pathOfRounded(value: unknown): (string | number)[] {
  if (typeof value !== 'object' || value === null) return [];
  for (const [name, member] of Object.entries(value)) {
    if (!isJSONSafe(member)) return [Array.isArray(value) ? Number(name) : name, ...pathOfRounded(member)];
  }
  return [];
}

function issue(path: Path, code: IssueCode, message: string): Issue {
  return { path, code, message };
}

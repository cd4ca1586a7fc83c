import * as z from 'zod';
import { maxInt64 } from '../../lib/int64.js';
import { keyIDProblem, orgIDProblem } from '../key-id.js';
import type { IssueCode } from './issue-codes.js';

/** Maximum number of issues that a response lists. Validation stops after one more. */
export const maxIssues = 100;

/** Member names that are rejected because they can reach the prototype of an object. */
export const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** An issue with a code of ours, in the form of zod. `issues.ts` reads the code back. */
export function customIssue(code: IssueCode, message: string, input: unknown, path: (string | number)[] = []) {
  return { code: 'custom' as const, params: { code }, message, input, path };
}

/** Returns the path of an issue of zod. JSON has no symbols, which zod allows in a path. */
export function pathOf(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

/** Returns the code and message of an issue, or undefined for a valid value. */
export type ValidateField<T> = (value: T) => readonly [IssueCode, string] | undefined;

/** Returns a rule for one value as a check for zod. */
export function rule<T>(validate: ValidateField<T>): z.core.$ZodCheck<T> {
  return z.check<T>((ctx) => {
    const issue = validate(ctx.value);
    if (issue) ctx.issues.push(customIssue(issue[0], issue[1], ctx.value));
  });
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);

/** A method of RFC 9110, PATCH, or QUERY, in any case. */
export const httpMethod = rule<string>((text) => {
  const method = text.trim();
  // ASCII only: toUpperCase maps the long s and the dotless i to S and I.
  if (/^[A-Za-z]+$/.test(method) && methods.has(method.toUpperCase())) return undefined;
  return ['UNKNOWN_METHOD', `must be one of ${[...methods].join(', ')}`];
});

const weakHashes = /^(plain|plaintext|none|md5|sha-?1|sha-?224|sha-?256|sha-?384|sha-?512|murmur(32|64|128)?|crc32)$/i;

/** The accepted types of a password hash. */
export const hashTypes = ['bcrypt', 'argon2id'] as const;
/** One of {@link hashTypes}. */
export type HashType = (typeof hashTypes)[number];

/** Whether a text is one of {@link hashTypes}. */
export const isHashType = (value: string): value is HashType => hashTypes.some((type) => type === value);

/** A slow password hash. Fast hashes have a code of their own, so that the message can give the reason. */
export const hashType = rule<string>((type) => {
  if (isHashType(type)) return undefined;
  return weakHashes.test(type)
    ? ['WEAK_HASH', 'must be bcrypt or argon2id; a fast hash does not protect a password']
    : ['UNKNOWN_HASH_TYPE', 'must be bcrypt or argon2id'];
});

/** A secret, not a placeholder for one such as `***`. */
export const secret = rule<string>((value) => {
  return /^(<[^<>]*>|[*•●]+)$/.test(value)
    ? ['MASKED_SECRET', 'is a placeholder; send the secret itself, null to clear it, or leave it out to keep it']
    : undefined;
});

/** A percentage above 0. */
export const percent = rule<number>((value) =>
  value > 0 && value <= 100 ? undefined : ['OUT_OF_RANGE', 'must be above 0 and at most 100'],
);

// Each of up to 2^32 later updates must get a later timestamp.
const maxTimestamp = maxInt64 - 2n ** 32n;

/** Unix seconds, written in digits. */
export const digits = rule<string>((value) =>
  /^\d{1,19}$/.test(value) && BigInt(value) <= maxTimestamp
    ? undefined
    : ['MALFORMED_TIMESTAMP', 'must be Unix seconds, written in digits'],
);

/** A valid identifier of an organization. */
export const orgID = rule<string>((value) => {
  const problem = orgIDProblem(value);
  return problem === undefined ? undefined : ['MALFORMED_ORG_ID', problem];
});

/** A valid key identifier. */
export const keyID = rule<string>((value) => {
  const problem = keyIDProblem(value);
  return problem === undefined ? undefined : ['MALFORMED_KEY_ID', problem];
});

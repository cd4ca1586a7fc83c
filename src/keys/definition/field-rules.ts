import { maxInt64 } from '../../lib/int64.js';
import { keyIDProblem, orgIDProblem } from '../key-id.js';
import type { IssueCode } from './issue-codes.js';
import { z } from 'zod';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);

/** A method of RFC 9110, PATCH, or QUERY, in any case. */
export const httpMethod = rule<string>((text) => {
  if (methods.has(text)) return undefined;
  const method = text.trim();
  // In capitals, the long s and the dotless i would pass for letters that they are not.
  if (/^[A-Za-z]+$/.test(method) && methods.has(method.toUpperCase())) return undefined;
  return ['UNKNOWN_METHOD', `must be one of ${[...methods].join(', ')}`];
});

const weakHashes = /^(|plain|plaintext|none|md5|sha-?1|sha-?224|sha-?256|sha-?384|sha-?512|murmur(32|64|128)?|crc32)$/i;

export const hashTypes = ['bcrypt', 'argon2id'] as const;
export type HashType = (typeof hashTypes)[number];

export const isHashType = (value: string): value is HashType => hashTypes.some((type) => type === value);

/** A hash that is slow on purpose. Fast ones are refused by name, so that the reader learns why. */
export const hashType = rule<string>((type) => {
  if (isHashType(type)) return undefined;
  return weakHashes.test(type)
    ? ['WEAK_HASH', 'must be bcrypt or argon2id; this one can be tried millions of times a second']
    : ['UNKNOWN_HASH_TYPE', 'must be bcrypt or argon2id'];
});

/** A secret, and not the placeholder that stands for one in a document or on a screen. */
export const secret = rule<string>((value) => {
  if (value === '')
    return ['EMPTY', 'must not be empty; send null to clear it, or leave it out to keep what is stored'];
  return /^(<[^<>]*>|[*•●]+)$/.test(value)
    ? ['MASKED_SECRET', 'is a placeholder; send the secret itself, null to clear it, or leave it out to keep it']
    : undefined;
});

export const percent = rule<number>((value) =>
  value > 0 && value <= 100 ? undefined : ['OUT_OF_RANGE', 'must be above 0 and at most 100'],
);

// Every update that a version can count must still find a later moment.
const latestMoment = maxInt64 - 2n ** 32n;

export const digits = rule<string>((value) =>
  /^\d{1,19}$/.test(value) && BigInt(value) <= latestMoment
    ? undefined
    : ['MALFORMED_TIMESTAMP', 'must be Unix seconds, written in digits'],
);

/** A blank text names no organisation, as gateways write it. */
export const orgID = rule<string>((value) => {
  const found = value.trim() === '' ? undefined : orgIDProblem(value);
  return found === undefined ? undefined : ['MALFORMED_ORG_ID', found];
});

export const keyID = rule<string>((value) => {
  const found = keyIDProblem(value);
  return found === undefined ? undefined : ['MALFORMED_KEY_ID', found];
});

/** Names that reach an object's prototype in careless code somewhere down the line. */
export const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The most issues of one request that are looked for and listed. */
export const maxIssues = 100;

/** A problem that zod has no code for, in zod's own form. `issues.ts` reads the code back. */
export function problem(code: IssueCode, message: string, input: unknown, path: (string | number)[] = []) {
  return { code: 'custom' as const, params: { code }, message, input, path };
}

/** The problem of a value, or undefined. */
export type Finding<T> = (value: T) => readonly [IssueCode, string] | undefined;

/** Returns a rule for one value as a check for zod. */
export function rule<T>(finding: Finding<T>): z.core.$ZodCheck<T> {
  return z.check<T>((ctx) => {
    const found = finding(ctx.value);
    if (found) ctx.issues.push(problem(found[0], found[1], ctx.value));
  });
}

import { z } from 'zod';
import type { IssueCode } from './issue-codes.js';
import { problem } from './problem.js';

/** The problem of a value, or undefined. */
export type Finding<T> = (value: T) => readonly [IssueCode, string] | undefined;

/** Returns a rule for one value as a check for zod. */
export function rule<T>(finding: Finding<T>): z.core.$ZodCheck<T> {
  return z.check<T>((ctx) => {
    const found = finding(ctx.value);
    if (found) ctx.issues.push(problem(found[0], found[1], ctx.value));
  });
}

import { z } from 'zod';
import type { IssueCode } from './issue-codes.js';
import { problem } from './problem.js';

/** What is wrong with a value, or undefined. */
export type Finding<T> = (value: T) => readonly [IssueCode, string] | undefined;

const findings = new WeakMap<z.core.$ZodCheck, Finding<never>>();

/** A rule for one value, as a check of zod's. */
export function rule<T>(finding: Finding<T>): z.core.$ZodCheck<T> {
  const check = z.check<T>((ctx) => {
    const found = finding(ctx.value);
    if (found) ctx.issues.push(problem(found[0], found[1], ctx.value));
  });
  findings.set(check, finding);
  return check;
}

/** What a check was made of by `rule`; undefined for any other. */
export function findingOf(check: z.core.$ZodCheck): Finding<unknown> | undefined {
  return findings.get(check) as Finding<unknown> | undefined;
}

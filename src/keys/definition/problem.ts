import type { IssueCode } from './issue-codes.js';

/** The most issues of one request that are looked for and listed. */
export const maxIssues = 100;

/** A problem that zod has no code for, in zod's own form. `issues.ts` reads the code back. */
export function problem(code: IssueCode, message: string, input: unknown, path: (string | number)[] = []) {
  return { code: 'custom' as const, params: { code }, message, input, path };
}

import { z } from 'zod';
import { maxIssues, problem, reservedNames } from './field-rules.js';
import type { IssueCode } from './issue-codes.js';
import { isInt64 } from '../../lib/int64.js';
import { isStorableText } from '../../lib/text.js';

const mostLevels = 32;
const mostMembers = 10_000;
const mostCharacters = 65_536;

/** The bounds of free-form JSON, in words. */
export const freeFormBounds = `At most ${mostLevels} levels deep, and ${mostMembers} members in all.`;

type Report = (code: IssueCode, message: string, path: (string | number)[]) => void;

/**
 * Bounds what is stored without being understood. Stops at the first problem of a member and continues with the next,
 * until there are more problems than are listed.
 */
function examine(value: unknown, reportTo: Report): void {
  let members = 0;
  let found = 0;
  const report: Report = (code, message, path) => {
    found += 1;
    reportTo(code, message, path);
  };
  /** Where the part that is visited stands. */
  const path: (string | number)[] = [];
  const visit = (node: unknown): void => {
    if (typeof node === 'string') {
      if (!isStorableText(node)) report('MALFORMED_TEXT', 'must be well-formed Unicode without NUL', [...path]);
      else if (node.length > mostCharacters)
        report('TOO_LONG', `must have at most ${mostCharacters} characters`, [...path]);
    } else if (typeof node === 'number') {
      if (!Number.isFinite(node)) report('OUT_OF_RANGE', 'must be a finite number', [...path]);
    } else if (typeof node === 'bigint') {
      if (!isInt64(node)) report('IMPRECISE', 'is an integer that 64 bits cannot hold', [...path]);
    } else if (typeof node === 'object' && node !== null) {
      if (path.length >= mostLevels)
        return report('TOO_DEEP', `must be nested at most ${mostLevels} levels deep`, [...path]);
      for (const name of Object.keys(node)) {
        members += 1;
        if (members === mostMembers + 1) report('TOO_MANY', `must have at most ${mostMembers} members in all`, []);
        if (members > mostMembers || found > maxIssues) return;
        path.push(Array.isArray(node) ? Number(name) : name);
        if (!isStorableText(name))
          report('MALFORMED_TEXT', 'must have a name of well-formed Unicode without NUL', [...path]);
        else if (reservedNames.has(name)) report('RESERVED_NAME', 'must have another name', [...path]);
        else visit((node as Readonly<Record<string, unknown>>)[name]);
        path.pop();
      }
    }
  };
  visit(value);
}

export const checkFreeForm = z.check<unknown>((ctx) => {
  examine(ctx.value, (code, message, path) => ctx.issues.push(problem(code, message, ctx.value, path)));
});

export const checkFreeFormObject = z.check<unknown>((ctx) => {
  if (ctx.value === undefined || ctx.value === null) return;
  if (typeof ctx.value !== 'object' || Array.isArray(ctx.value)) {
    ctx.issues.push(problem('WRONG_TYPE', 'must be an object', ctx.value));
  } else {
    examine(ctx.value, (code, message, path) => ctx.issues.push(problem(code, message, ctx.value, path)));
  }
});

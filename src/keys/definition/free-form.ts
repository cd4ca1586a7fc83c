import * as z from 'zod';
import { isInt64 } from '../../lib/int64.js';
import { isStorableText } from '../../lib/text.js';
import { customIssue, maxIssues, reservedNames } from './field-rules.js';
import type { IssueCode } from './issue-codes.js';

const maxLevels = 32;
const maxMembers = 10_000;
const maxCharacters = 65_536;

/** The limits of free-form JSON, for descriptions of its fields. */
export const freeFormLimits = `At most ${maxLevels} levels deep, with at most ${maxMembers} members in total.`;

type ReportFreeFormIssue = (code: IssueCode, message: string, path: (string | number)[]) => void;

/**
 * Validates JSON that is stored without being interpreted. Reports one issue per member, and stops when there are more
 * issues than a response lists.
 */
function validateFreeForm(value: unknown, reportIssue: ReportFreeFormIssue): void {
  let members = 0;
  let issues = 0;
  const report: ReportFreeFormIssue = (code, message, path) => {
    issues += 1;
    reportIssue(code, message, path);
  };
  /** Path of the current node. */
  const path: (string | number)[] = [];
  const visit = (node: unknown): void => {
    if (typeof node === 'string') {
      if (!isStorableText(node)) report('MALFORMED_TEXT', 'must be well-formed Unicode without NUL', [...path]);
      else if (node.length > maxCharacters)
        report('TOO_LONG', `must have at most ${maxCharacters} characters`, [...path]);
    } else if (typeof node === 'number') {
      if (!Number.isFinite(node)) report('OUT_OF_RANGE', 'must be a finite number', [...path]);
    } else if (typeof node === 'bigint') {
      if (!isInt64(node)) report('IMPRECISE', 'is an integer that 64 bits cannot hold', [...path]);
    } else if (typeof node === 'object' && node !== null) {
      if (path.length >= maxLevels)
        return report('TOO_DEEP', `must be nested at most ${maxLevels} levels deep`, [...path]);
      for (const name of Object.keys(node)) {
        members += 1;
        if (members === maxMembers + 1) report('TOO_MANY', `must have at most ${maxMembers} members in all`, []);
        if (members > maxMembers || issues > maxIssues) return;
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

/** Validates free-form JSON. */
export const checkFreeForm = z.check<unknown>((ctx) => {
  validateFreeForm(ctx.value, (code, message, path) => ctx.issues.push(customIssue(code, message, ctx.value, path)));
});

/** Validates a free-form JSON object. */
export const checkFreeFormObject = z.check<unknown>((ctx) => {
  if (typeof ctx.value !== 'object' || Array.isArray(ctx.value)) {
    ctx.issues.push(customIssue('WRONG_TYPE', 'must be an object', ctx.value));
  } else {
    validateFreeForm(ctx.value, (code, message, path) => ctx.issues.push(customIssue(code, message, ctx.value, path)));
  }
});

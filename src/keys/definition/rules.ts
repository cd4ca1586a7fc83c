import * as z from 'zod';
import { pathText, type Path } from '../../lib/errors.js';
import type { KeyDefinition } from './schema.js';
import type { IssueCode } from './issue-codes.js';
import { maxIssues, customIssue, pathOf } from './field-rules.js';
import { hasMoreBytes } from '../../lib/text.js';

type ReportIssue = (path: (string | number)[], code: IssueCode, message: string) => void;

/** Validates the rules across fields. Any field may be absent; invalid fields are absent too. */
function validateRules(definition: KeyDefinition, report: ReportIssue): void {
  const { accessRights, basicAuthData, enableDetailedRecording, enableDetailRecording, smoothing } = definition;

  const labels = new Set<string>();
  accessRights?.forEach(({ label }, index) => {
    if (label === undefined) return;
    if (labels.has(label))
      report(['accessRights', index, 'label'], 'DUPLICATE_LABEL', 'must differ from the labels before it');
    labels.add(label);
  });

  if (smoothing?.enabled === true) {
    for (const field of ['step', 'delay', 'threshold', 'trigger'] as const) {
      const value = smoothing[field];
      if (value === undefined || value === null || value <= 0) {
        report(['smoothing', field], 'INCOMPLETE_SMOOTHING', 'must be above 0 while smoothing is `enabled`');
      } else if (field === 'trigger' && value > 1) {
        report(['smoothing', field], 'OUT_OF_RANGE', 'must be at most 1');
      }
    }
  }

  const password = basicAuthData?.password;
  if (password && (basicAuthData.hashType ?? 'bcrypt') === 'bcrypt' && hasMoreBytes(password, 72)) {
    report(['basicAuthData', 'password'], 'TOO_LONG', 'must have at most 72 bytes with bcrypt, which ignores the rest');
  }

  const [successor, deprecated] = [enableDetailedRecording ?? undefined, enableDetailRecording ?? undefined];
  if (successor !== undefined && deprecated !== undefined && successor !== deprecated) {
    report(
      ['enableDetailRecording'],
      'CONFLICTING_FIELDS',
      'must have the same value as `enableDetailedRecording`, or be left out',
    );
  }
}

/** Whether a definition with valid fields satisfies all rules across fields. */
export function satisfiesRules(definition: KeyDefinition): boolean {
  let isSatisfied = true;
  validateRules(definition, () => {
    isSatisfied = false;
  });
  return isSatisfied;
}

/** Returns a copy of `value` without the members at these paths. A path to a list item removes the whole list. */
function without<T>(value: T, paths: readonly Path[]): T {
  // Copies only the objects on a path: the rest can have 10,000 members of free-form JSON.
  const copies = new Set<unknown>();
  const copyOf = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null || copies.has(part)) return part;
    const copy: object = Array.isArray(part) ? [...(part as unknown[])] : { ...part };
    copies.add(copy);
    return copy;
  };
  const copy = copyOf(value);
  for (const path of paths) {
    let at = copy;
    let owner: object | undefined;
    let name = '';
    for (const [depth, step] of path.entries()) {
      if (typeof at !== 'object' || at === null) break;
      if (!Array.isArray(at)) [owner, name] = [at, String(step)];
      if (depth === path.length - 1 || !Object.hasOwn(at, step)) break;
      const inner = copyOf(Reflect.get(at, step));
      Reflect.set(at, step, inner);
      at = inner;
    }
    if (owner) Reflect.deleteProperty(owner, name);
  }
  return copy as T;
}

/** Validates the rules across fields even if single fields have issues, so that one response lists all issues. */
export const rules = z.check<KeyDefinition>((ctx) => {
  if (typeof ctx.value !== 'object' || ctx.value === null || Array.isArray(ctx.value)) return;
  const failed = ctx.issues.map(({ path = [] }) => pathOf(path));
  const validPart = failed.length === 0 ? ctx.value : without(ctx.value, failed);
  // Fields with an issue were removed, and must not be reported as missing.
  const reported = new Set(failed.map(pathText));
  validateRules(validPart, (path, code, message) => {
    if (ctx.issues.length <= maxIssues && !reported.has(pathText(path)))
      ctx.issues.push(customIssue(code, message, undefined, path));
  });
});
rules._zod.def.when = () => true;

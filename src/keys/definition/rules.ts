import { z } from 'zod';
import { pathText, type Path } from '../../lib/errors.js';
import type { KeyDefinition } from './schema.js';
import { maxTexts } from './field-types.js';
import type { IssueCode } from './issue-codes.js';
import { policiesOf } from './normalize.js';
import { maxIssues, problem } from './field-rules.js';
import { hasMoreBytes } from '../../lib/text.js';

type Report = (path: (string | number)[], code: IssueCode, message: string) => void;

/** The rules that concern more than one field. Every field may be absent, and is where it has a problem of its own. */
function examine(definition: KeyDefinition, report: Report): void {
  const { accessRights, basicAuthData, enableDetailedRecording, enableDetailRecording, smoothing } = definition;

  const seen = new Set<string>();
  accessRights?.forEach(({ label }, index) => {
    if (label === undefined) return;
    if (seen.has(label))
      report(['accessRights', index, 'label'], 'DUPLICATE_LABEL', 'must differ from the labels before it');
    seen.add(label);
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

  // The normal form holds the one among the others, and has to be valid itself.
  if (policiesOf(definition).length > maxTexts) {
    report(
      ['applyPolicyID'],
      'TOO_MANY',
      `must not be one more than ${maxTexts} policies, with those in \`applyPolicies\``,
    );
  }

  const [successor, deprecated] = [enableDetailedRecording ?? undefined, enableDetailRecording ?? undefined];
  if (successor !== undefined && deprecated !== undefined && successor !== deprecated) {
    report(
      ['enableDetailRecording'],
      'CONFLICTING_FIELDS',
      'must say the same as `enableDetailedRecording`, or be left out',
    );
  }
}

/** Whether a definition whose fields are valid breaks no rule across fields. */
export function satisfiesRules(definition: KeyDefinition): boolean {
  let isSatisfied = true;
  examine(definition, () => {
    isSatisfied = false;
  });
  return isSatisfied;
}

/** A copy of `value` without the member that each path leads to. A list loses itself when one of its items is meant. */
function without<T>(value: T, paths: readonly Path[]): T {
  // Only what stands on a path is copied: the rest may be 10,000 members of free-form JSON.
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

/** Runs the rules beside whatever problems single fields have, so that one answer names them all. */
export const rules = z.check<KeyDefinition>((ctx) => {
  if (typeof ctx.value !== 'object' || ctx.value === null || Array.isArray(ctx.value)) return;
  const failed = ctx.issues.map(({ path = [] }) =>
    path.map((step) => (typeof step === 'number' ? step : String(step))),
  );
  const sound = failed.length === 0 ? ctx.value : without(ctx.value, failed);
  // What has a problem of its own is absent here, and must not be said to be missing.
  const known = new Set(failed.map(pathText));
  examine(sound, (path, code, message) => {
    if (ctx.issues.length <= maxIssues && !known.has(pathText(path)))
      ctx.issues.push(problem(code, message, undefined, path));
  });
});
rules._zod.def.when = () => true;

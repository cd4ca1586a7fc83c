import type { Path } from '../lib/errors.js';
import { secretPaths, type Definition } from './definition/normalize.js';
import { identifierFields } from './identifiers.js';
import type { StoredKey, StoredSecrets, FieldChange, KeyRevision } from './key.js';

/** Returns the differences between two states of a key: of the definition, of the identifiers, and of the secrets, without their values. */
export function diffDefinitions(before: StoredKey | undefined, after: StoredKey): FieldChange[] {
  return [
    ...(before
      ? definitionChanges(withSecretObjects(before, after.definition), withSecretObjects(after, before.definition))
      : definitionChanges({}, after.definition)),
    ...(before ? definitionChanges(identifierFields(before), identifierFields(after)) : []),
    ...secretChanges(before?.secrets, after.secrets),
  ];
}

/** Returns the history entry of a change from `before` to `after`. */
export function revisionOf(
  before: StoredKey | undefined,
  after: StoredKey,
  facts: Pick<
    KeyRevision,
    'at' | 'operation' | 'revertedTo' | 'actor' | 'reason' | 'requestID' | 'quotaUsedBeforeReset'
  >,
): KeyRevision {
  return {
    ...facts,
    keyHash: after.keyHash,
    orgID: after.orgID,
    versionBefore: before?.version ?? 0,
    versionAfter: after.version,
    changes: diffDefinitions(before, after),
  };
}

/** Adds the object around a secret that is set, as reads return it. */
function withSecretObjects({ definition, secrets }: StoredKey, other: Definition): Definition {
  const lacks = (name: 'basicAuthData' | 'jwtData') => definition[name] === undefined && other[name] !== undefined;
  const hasPassword = secrets.passwordHash !== undefined && lacks('basicAuthData');
  const hasSecret = secrets.jwtSecret !== undefined && lacks('jwtData');
  if (!hasPassword && !hasSecret) return definition;
  return { ...definition, ...(hasPassword && { basicAuthData: {} }), ...(hasSecret && { jwtData: {} }) };
}

/**
 * Maximum number of changes listed within one object. With more, the whole object is one change: free-form JSON has up to
 * 10,000 members, and each change is stored in the history and returned in responses.
 */
export const maxChangesInObject = 100;

/** Returns the differences between two definitions: of a key, of a policy, or of the effective access of a key. */
export function definitionChanges(before: object, after: object): FieldChange[] {
  return differences(byLabel(before), byLabel(after), []);
}

/** Access rights by label, so that an entry is compared with itself when another one is removed. */
function byLabel(definition: Pick<Definition, 'accessRights'>): object {
  const { accessRights } = definition;
  if (accessRights === undefined) return definition;
  return { ...definition, accessRights: Object.fromEntries(accessRights.map(({ label, ...entry }) => [label, entry])) };
}

function differences(before: unknown, after: unknown, path: Path): FieldChange[] {
  if (isObject(before) && isObject(after)) {
    const changes: FieldChange[] = [];
    const hasTooMany = () => changes.length > maxChangesInObject && path.length > 0;
    for (const name of Object.keys(after)) {
      const [old, current] = [own(before, name), own(after, name)];
      if (!isSame(old, current)) changes.push(...differences(old, current, [...path, name]));
      if (hasTooMany()) break;
    }
    for (const name of hasTooMany() ? [] : Object.keys(before)) {
      if (!Object.hasOwn(after, name)) changes.push(...differences(own(before, name), undefined, [...path, name]));
      if (hasTooMany()) break;
    }
    return hasTooMany() ? [{ path, kind: 'CHANGED', before, after }] : changes;
  }
  if (before === undefined) return [{ path, kind: 'ADDED', after }];
  if (after === undefined) return [{ path, kind: 'REMOVED', before }];
  return [{ path, kind: 'CHANGED', before, after }];
}

/** Whether the change is one of a secret, which has no values. */
export function isSecretChange(change: FieldChange): boolean {
  return !('before' in change) && !('after' in change);
}

/** The change as a dry run that has not compared the secrets reports it. Passwords are never compared, but hashed again. */
export function withoutComparison(change: FieldChange): FieldChange {
  const isCompared = change.kind === 'CHANGED' && isSecretChange(change) && change.path[0] !== secretPaths.password[0];
  return isCompared ? { ...change, kind: 'NOT_COMPARED' } : change;
}

function secretChanges(before: StoredSecrets | undefined, after: StoredSecrets): FieldChange[] {
  return (['passwordHash', 'hmacString', 'jwtSecret'] as const).flatMap((name) => {
    const [was, is] = [before?.[name], after[name]];
    if (was === is || (was instanceof Uint8Array && is instanceof Uint8Array && isSameBytes(was, is))) return [];
    const kind = was === undefined ? 'SET' : is === undefined ? 'CLEARED' : 'CHANGED';
    return [{ path: secretPaths[name === 'passwordHash' ? 'password' : name], kind } as const];
  });
}

function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  // An integer is a number or a bigint, depending on its size and on where it was read.
  if (isNumber(a) && isNumber(b)) return a == b;
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function own(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (Reflect.get(value, name) as unknown) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

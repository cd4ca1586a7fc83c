import { AppError } from '../lib/errors.js';
import type { Principal, Scope, StoredKey } from './key.js';
import type { Ports } from './ports.js';

/** Whether the principal has access to what an organization owns; undefined for what belongs to no organization. */
export function canSee(principal: Pick<Principal, 'orgID'>, orgID: string | undefined): boolean {
  return principal.orgID === undefined || principal.orgID === orgID;
}

/** Whether an organization that a request is limited to is one that the principal cannot see. It looks like an empty one. */
export function isForeign(principal: Pick<Principal, 'orgID'>, orgID: string | undefined): boolean {
  return orgID !== undefined && !canSee(principal, orgID);
}

/** The scopes that a credential has only if they are named: it can be without restrictions and without these. */
const namedScopes: readonly Scope[] = ['router', 'deliver'];

/** Whether the principal has a scope: all of them if it is not restricted, except those that must be named. */
export function hasScope({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return scopes === undefined ? !namedScopes.includes(scope) : scopes.includes(scope);
}

/** @throws {AppError} FORBIDDEN when the principal is restricted to other scopes. */
export function requireScope(principal: Pick<Principal, 'scopes'>, scope: Scope): void {
  if (hasScope(principal, scope)) return;
  throw new AppError('FORBIDDEN', `The credential does not have the scope \`${scope}\`.`);
}

/** @throws {AppError} FORBIDDEN when the principal is bound to an organization. */
export function requireAllOrganizations({ orgID }: Pick<Principal, 'orgID'>): void {
  if (orgID === undefined) return;
  throw new AppError(
    'FORBIDDEN',
    'The credential is bound to an organization; policies and their history are for all of them.',
  );
}

/** Returns the key if the principal has access to it. A foreign key looks like a missing one, so that it is not revealed. */
export function visibleKey(principal: Principal, stored: StoredKey | undefined): StoredKey | undefined {
  return stored !== undefined && canSee(principal, stored.orgID) ? stored : undefined;
}

/**
 * Returns the key if the principal may use it.
 *
 * @throws {AppError} NOT_FOUND when there is no key, it is deleted, or another organization owns it.
 */
export function requireKey(principal: Principal, stored: StoredKey | undefined): StoredKey {
  const key = visibleKey(principal, stored);
  if (key === undefined || key.deleted !== undefined) throw new AppError('NOT_FOUND', 'There is no such key.');
  return key;
}

/**
 * Returns the deleted key if the principal may restore it.
 *
 * @throws {AppError} NOT_FOUND when there is no deleted key, its restore window has ended, or another organization owns it.
 */
export function requireRestorableKey(
  principal: Principal,
  stored: StoredKey | undefined,
  { now, restoreWindowMs }: Pick<Ports, 'now' | 'restoreWindowMs'>,
): StoredKey {
  const key = visibleKey(principal, stored);
  if (key?.deleted === undefined || key.deleted.getTime() + restoreWindowMs <= now().getTime()) {
    throw new AppError('NOT_FOUND', 'There is no deleted key to restore.');
  }
  return key;
}

/** The error for a definition whose organization is not the one that the principal is bound to. */
export function otherOrganization(): AppError {
  return new AppError('FORBIDDEN', 'The credential is bound to another organization than the definition names.');
}

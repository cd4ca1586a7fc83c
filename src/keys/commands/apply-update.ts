import { AppError, type Issue } from '../../lib/errors.js';
import { maxInt64, unixSeconds } from '../../lib/int64.js';
import { invalidDefinition } from '../definition/issues.js';
import type { Definition } from '../definition/normalize.js';
import type { ProtectedSecrets } from './protect-secrets.js';
import type { HashType } from '../definition/field-rules.js';
import { carryOver, resetOf } from '../quota/quota.js';
import type { QuotaState, StoredKey, StoredSecrets } from '../key.js';

/** An update that is ready to be applied: its secrets hashed or sealed, undefined to keep and null to clear. */
export interface PreparedUpdate {
  readonly definition: Definition;
  readonly secrets: ProtectedSecrets;
  readonly resetQuota: boolean;
}

/** Whether two sealed values hold the same secret. */
export type IsSameSecret = (secret: 'jwtSecret' | 'hmacString', a: Uint8Array, b: Uint8Array) => boolean;

/**
 * The key after the update. Pure, so that storage may run it inside its transaction. Throws INVALID where the definition
 * does not fit the stored key.
 */
export function applyUpdate(stored: StoredKey, update: PreparedUpdate, now: Date, isSame: IsSameSecret): StoredKey {
  const seconds = unixSeconds(now);
  const secrets = nextSecrets(stored.secrets, update.secrets, isSame);
  const issues = [...ownerIssues(stored, update), ...passwordIssues(secrets, update)];
  const quota = update.resetQuota
    ? resetQuota(stored.quota, update.definition, seconds, issues)
    : carryOver(stored, update.definition, now);
  if (issues.length > 0) throw invalidDefinition(issues);

  return { ...nextKeyVersion(stored, now), definition: nextDefinition(update, secrets, quota), secrets, quota };
}

/** The key one version on, otherwise as it was. Times increase even where the clock does not. */
export function nextKeyVersion(stored: StoredKey, now: Date): StoredKey {
  const seconds = unixSeconds(now);
  return {
    ...stored,
    version: stored.version + 1,
    lastUpdated: seconds > stored.lastUpdated ? seconds : stored.lastUpdated + 1n,
  };
}

/** Throws CONFLICT where the key is not at the version that the caller knows. */
export function assertExpectedVersion(stored: StoredKey, expected: ExpectedVersion | undefined): void {
  if (expected === undefined) return;
  const versions = versionsOf(expected);
  if (versions.includes(stored.version)) return;
  throw new AppError('CONFLICT', `The key has version ${stored.version} by now, not ${versions.join(' or ')}.`);
}

/** The version that a change is meant for; of several, one must be current. */
export type ExpectedVersion = number | readonly number[];

export function versionsOf(expected: ExpectedVersion): readonly number[] {
  return typeof expected === 'number' ? [expected] : expected;
}

/** How a stored password was hashed; each of the two writes its name at the front. */
function hashTypeOfStored(passwordHash: string): HashType {
  return passwordHash.startsWith('$argon2id$') ? 'argon2id' : 'bcrypt';
}

function ownerIssues({ orgID }: StoredKey, { definition }: PreparedUpdate): Issue[] {
  if (definition.orgID === undefined || definition.orgID === orgID) return [];
  return [{ path: ['orgID'], code: 'ORGANISATION_CHANGED', message: 'must be that of the stored key, or left out' }];
}

function passwordIssues({ passwordHash }: StoredSecrets, { definition, secrets }: PreparedUpdate): Issue[] {
  const wanted = definition.basicAuthData?.hashType;
  if (secrets.passwordHash !== undefined || passwordHash === undefined || wanted === undefined) return [];
  if (wanted === hashTypeOfStored(passwordHash)) return [];
  const message = 'differs from how the stored password is hashed; send the `password` with it';
  return [{ path: ['basicAuthData', 'hashType'], code: 'PASSWORD_NEEDED', message }];
}

function nextSecrets(stored: StoredSecrets, changes: ProtectedSecrets, isSame: IsSameSecret): StoredSecrets {
  const next = <T>(change: T | null | undefined, kept: T | undefined) =>
    change === undefined ? kept : (change ?? undefined);
  // Sealed twice, a secret looks like two; what is stored stays where nothing changed, so that a repeated update is none.
  const sealed = (name: 'jwtSecret' | 'hmacString') => {
    const [was, is] = [stored[name], changes[name]];
    return was && is && isSame(name, was, is) ? was : next(is, was);
  };
  return {
    passwordHash: next(changes.passwordHash, stored.passwordHash),
    jwtSecret: sealed('jwtSecret'),
    hmacString: sealed('hmacString'),
  };
}

/** What is wrong with a period whose end has no number. */
export const renewalBeyondTime: Issue = {
  path: ['quotaRenewalRate'],
  code: 'OUT_OF_RANGE',
  message: 'leads to a renewal beyond the range of time',
};

function resetQuota(quota: QuotaState, definition: Definition, now: bigint, issues: Issue[]): QuotaState {
  const period = definition.quotaRenewalRate ?? 0n;
  if (period > 0n && now + period > maxInt64) issues.push(renewalBeyondTime);
  return resetOf(quota, period, now);
}

function nextDefinition(update: PreparedUpdate, secrets: StoredSecrets, quota: QuotaState): Definition {
  const { orgID, ...sent } = update.definition;
  const next = withStoredHashType(sent, secrets);
  if (!update.resetQuota) return next;
  if (next.quotaMax !== undefined) next.quotaRemaining = next.quotaMax;
  if ((next.quotaRenewalRate ?? 0n) > 0n && quota.renews !== undefined) next.quotaRenews = quota.renews;
  return next;
}

/** The definition naming the hash type of the password that is kept with it, so that a gateway knows how to verify it. */
export function withStoredHashType(definition: Definition, { passwordHash }: StoredSecrets): Definition {
  if (passwordHash === undefined) return { ...definition };
  return { ...definition, basicAuthData: { ...definition.basicAuthData, hashType: hashTypeOfStored(passwordHash) } };
}

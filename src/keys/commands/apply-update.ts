import type { Issue } from '../../lib/errors.js';
import { maxInt64, unixSeconds } from '../../lib/int64.js';
import { keepStoredIntegers } from '../definition/decimal-strings.js';
import type { HashType } from '../definition/field-rules.js';
import { invalidDefinition } from '../definition/issues.js';
import type { Definition } from '../definition/normalize.js';
import type { QuotaState, StoredKey, StoredSecrets } from '../key.js';
import type { Ports } from '../ports.js';
import { carryOverQuota, resetQuota } from '../quota/quota.js';
import { aadFor, type ProtectedSecrets } from './protect-secrets.js';

/** An update with its secrets hashed or sealed. */
export interface PreparedUpdate {
  readonly definition: Definition;
  readonly secrets: ProtectedSecrets;
  readonly resetQuota: boolean;
  /** Whether decimal strings in free-form JSON may stand for stored integers. */
  readonly hasDecimalStrings: boolean;
}

/** Whether two sealed values contain the same secret. */
export type IsSameSecret = (secret: 'jwtSecret' | 'hmacString', a: Uint8Array, b: Uint8Array) => boolean;

/** Compares sealed secrets of one key by opening them. */
export function secretComparison({ open }: Pick<Ports, 'open'>, keyHash: string): IsSameSecret {
  return (secret, a, b) => open(a, aadFor(keyHash, secret)) === open(b, aadFor(keyHash, secret));
}

/**
 * Returns the key after the update. Pure, so that the store may call it inside its transaction.
 *
 * @throws {AppError} INVALID when the definition contradicts the stored key.
 */
export function applyUpdate(stored: StoredKey, sent: PreparedUpdate, now: Date, isSame: IsSameSecret): StoredKey {
  const update = sent.hasDecimalStrings ? withStoredIntegers(stored, sent) : sent;
  const secrets = nextSecrets(stored.secrets, update.secrets, isSame);
  const issues = [...ownerIssues(stored, update), ...passwordIssues(secrets, update)];
  const quota = update.resetQuota
    ? nextQuota(stored.quota, update.definition, unixSeconds(now), issues)
    : carryOverQuota(stored, update.definition, now);
  if (issues.length > 0) throw invalidDefinition(issues);

  return { ...nextKeyVersion(stored, now), definition: nextDefinition(update, secrets, quota), secrets, quota };
}

/** Returns the key with the next version number, otherwise unchanged. `lastUpdated` increases even if the clock does not. */
export function nextKeyVersion(stored: StoredKey, now: Date): StoredKey {
  const seconds = unixSeconds(now);
  return {
    ...stored,
    version: stored.version + 1,
    lastUpdated: seconds > stored.lastUpdated ? seconds : stored.lastUpdated + 1n,
  };
}

/** The hash type of a stored password; both formats start with their name. */
function hashTypeOfStored(passwordHash: string): HashType {
  return passwordHash.startsWith('$argon2id$') ? 'argon2id' : 'bcrypt';
}

function ownerIssues({ orgID }: StoredKey, { definition }: PreparedUpdate): Issue[] {
  if (definition.orgID === undefined || definition.orgID === orgID) return [];
  return [{ path: ['orgID'], code: 'ORGANISATION_CHANGED', message: 'must be that of the stored key, or left out' }];
}

function passwordIssues({ passwordHash }: StoredSecrets, { definition, secrets }: PreparedUpdate): Issue[] {
  const hashType = definition.basicAuthData?.hashType;
  if (secrets.passwordHash !== undefined || passwordHash === undefined || hashType === undefined) return [];
  if (hashType === hashTypeOfStored(passwordHash)) return [];
  const message = 'differs from how the stored password is hashed; send the `password` with it';
  return [{ path: ['basicAuthData', 'hashType'], code: 'PASSWORD_NEEDED', message }];
}

function nextSecrets(stored: StoredSecrets, changes: ProtectedSecrets, isSame: IsSameSecret): StoredSecrets {
  const next = <T>(change: T | null | undefined, current: T | undefined) =>
    change === undefined ? current : (change ?? undefined);
  // Sealing is randomized. The stored value stays if the secret is the same, so that a repeated update changes nothing.
  const sealed = (name: 'jwtSecret' | 'hmacString') => {
    const [before, after] = [stored[name], changes[name]];
    return before && after && isSame(name, before, after) ? before : next(after, before);
  };
  return {
    passwordHash: next(changes.passwordHash, stored.passwordHash),
    jwtSecret: sealed('jwtSecret'),
    hmacString: sealed('hmacString'),
  };
}

/** The issue of a quota period that ends after the last int64 second. */
export const renewalOutOfRange: Issue = {
  path: ['quotaRenewalRate'],
  code: 'OUT_OF_RANGE',
  message: 'must be smaller: the quota period would end after the largest 64-bit timestamp',
};

function nextQuota(quota: QuotaState, definition: Definition, now: bigint, issues: Issue[]): QuotaState {
  const period = definition.quotaRenewalRate ?? 0n;
  if (period > 0n && now + period > maxInt64) issues.push(renewalOutOfRange);
  return resetQuota(quota, period, now);
}

function withStoredIntegers({ definition: stored }: StoredKey, update: PreparedUpdate): PreparedUpdate {
  const definition = { ...update.definition };
  for (const name of ['metaData', 'oauthKeys'] as const) {
    if (name in definition) Object.assign(definition, { [name]: keepStoredIntegers(stored[name], definition[name]) });
  }
  return { ...update, definition };
}

function nextDefinition(update: PreparedUpdate, secrets: StoredSecrets, quota: QuotaState): Definition {
  const { orgID, ...definition } = update.definition;
  const next = withStoredHashType(definition, secrets);
  if (!update.resetQuota) return next;
  if (next.quotaMax !== undefined) next.quotaRemaining = next.quotaMax;
  if ((next.quotaRenewalRate ?? 0n) > 0n && quota.renews !== undefined) next.quotaRenews = quota.renews;
  return next;
}

/** Adds the hash type of the stored password to the definition: a gateway needs it to verify the password. */
export function withStoredHashType(definition: Definition, { passwordHash }: StoredSecrets): Definition {
  if (passwordHash === undefined) return { ...definition };
  return { ...definition, basicAuthData: { ...definition.basicAuthData, hashType: hashTypeOfStored(passwordHash) } };
}

import { maxInt64, unixSeconds } from '../lib/int64.js';
import { invalidDefinition } from './definition/issues.js';
import { inUTC } from './definition/normalize.js';
import { unlimited, type KeyDefinition } from './definition/schema.js';
import type { QuotaState, StoredKey } from './key.js';
import { renewalOutOfRange, withStoredHashType } from './update.js';
import type { ProtectedSecrets } from './protect-secrets.js';

interface NewKeyFields extends Pick<StoredKey, 'keyHash' | 'identity' | 'sealedKeyID' | 'orgID' | 'definition'> {
  readonly protectedSecrets: ProtectedSecrets;
  /** The dates of an imported key; a date that is absent is `at`. */
  readonly dates: Pick<KeyDefinition, 'dateCreated' | 'lastUpdated'>;
  readonly at: Date;
}

/**
 * Returns a key at version 1.
 *
 * @throws {AppError} INVALID when its quota period ends after the largest 64-bit timestamp.
 */
export function newKey(fields: NewKeyFields): StoredKey {
  const { keyHash, identity, sealedKeyID, orgID, definition, protectedSecrets, dates, at } = fields;
  const seconds = unixSeconds(at);
  const secrets = {
    passwordHash: protectedSecrets.passwordHash ?? undefined,
    jwtSecret: protectedSecrets.jwtSecret ?? undefined,
    hmacString: protectedSecrets.hmacString ?? undefined,
  };
  return {
    keyHash,
    identity,
    sealedKeyID,
    orgID,
    version: 1,
    dateCreated: dates.dateCreated ? inUTC(dates.dateCreated) : at.toISOString(),
    lastUpdated: dates.lastUpdated ? BigInt(dates.lastUpdated) : seconds,
    deleted: undefined,
    definition: withStoredHashType(definition, secrets),
    secrets,
    quota: initialQuota(definition, seconds),
  };
}

/** The live quota of a new key: the difference between `quotaMax` and `quotaRemaining` counts as used. */
function initialQuota(
  { quotaMax, quotaRemaining, quotaRenewalRate, quotaRenews }: StoredKey['definition'],
  now: bigint,
): QuotaState {
  const max = quotaMax ?? 0n;
  // An unlimited remainder gives no information about use, so that nothing counts as used.
  const remaining = quotaRemaining === undefined || quotaRemaining === unlimited ? max : quotaRemaining;
  const used = remaining < max ? max - remaining : 0n;
  if (quotaRenews !== undefined && quotaRenews > 0n) return { used, renews: quotaRenews };
  const period = quotaRenewalRate ?? 0n;
  if (now + period > maxInt64) throw invalidDefinition([renewalOutOfRange]);
  return { used, renews: period > 0n ? now + period : undefined };
}

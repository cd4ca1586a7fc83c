import { unlimited, type KeyDefinition } from '../definition/schema.js';
import { maxInt64, unixSeconds } from '../../lib/int64.js';
import { invalidDefinition } from '../definition/issues.js';
import type { ProtectedSecrets } from './protect-secrets.js';
import { inUTC } from '../definition/normalize.js';
import type { QuotaState, StoredKey } from '../key.js';
import { renewalBeyondTime, withStoredHashType } from './apply-update.js';

interface Parts extends Pick<StoredKey, 'keyHash' | 'sealedKeyID' | 'orgID' | 'definition'> {
  readonly kept: ProtectedSecrets;
  /** Where the dates of a key that is older than its entry here come from. */
  readonly dates: Pick<KeyDefinition, 'dateCreated' | 'lastUpdated'>;
  readonly at: Date;
}

/** A key at its first version. */
export function newKey({ keyHash, sealedKeyID, orgID, definition, kept, dates, at }: Parts): StoredKey {
  const seconds = unixSeconds(at);
  const secrets = {
    passwordHash: kept.passwordHash ?? undefined,
    jwtSecret: kept.jwtSecret ?? undefined,
    hmacString: kept.hmacString ?? undefined,
  };
  return {
    keyHash,
    sealedKeyID,
    orgID,
    version: 1,
    dateCreated: dates.dateCreated ? inUTC(dates.dateCreated) : at.toISOString(),
    lastUpdated: dates.lastUpdated ? BigInt(dates.lastUpdated) : seconds,
    deleted: undefined,
    definition: withStoredHashType(definition, secrets),
    secrets,
    quota: quotaOf(definition, seconds),
  };
}

/** The live quota that a definition brings along: what is missing from the maximum has been used. */
function quotaOf(
  { quotaMax, quotaRemaining, quotaRenewalRate, quotaRenews }: StoredKey['definition'],
  now: bigint,
): QuotaState {
  const max = quotaMax ?? 0n;
  // Where the rest is said to be unlimited, nothing is known to have been used.
  const left = quotaRemaining === undefined || quotaRemaining === unlimited ? max : quotaRemaining;
  const used = left < max ? max - left : 0n;
  if (quotaRenews !== undefined && quotaRenews > 0n) return { used, renews: quotaRenews };
  const period = quotaRenewalRate ?? 0n;
  if (now + period > maxInt64) throw invalidDefinition([renewalBeyondTime]);
  return { used, renews: period > 0n ? now + period : undefined };
}

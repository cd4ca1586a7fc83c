import { AppError } from '../lib/errors.js';
import { maxInt64, unixSeconds } from '../lib/int64.js';
import { invalidDefinition } from './definition/issues.js';
import { otherOrganization, visibleKey } from './authorization.js';
import { inUTC, normalizeDefinition } from './definition/normalize.js';
import { unlimited, type KeyDefinition } from './definition/schema.js';
import { withEffectiveQuota, type QuotaKey } from './access/effective-access.js';
import { keyWarnings } from './access/policy-warnings.js';
import { renewalOutOfRange, withStoredHashType, type QuotaState, type StoredKey } from './key.js';
import { checkKeyID, checkKeyIDPrefix, generatedKeyID, ownerOf } from './key-id.js';
import type { CallContext, Ports } from './ports.js';
import { executeChange, type ChangeConditions, type KeyChange } from './change.js';
import { runIdempotent } from './idempotency.js';
import { findByHash } from './find-key.js';
import type { ReceiptOf } from './receipt.js';
import { carryOverQuota } from './quota/quota.js';
import { aadFor, protectSecrets, type ProtectedSecrets } from './protect-secrets.js';

/** A new key. */
export interface CreateRequest {
  /** Generated if absent, after `keyIDPrefix` or else the identifier of the organization (`generatedKeyID`). */
  readonly keyID?: string | undefined;
  readonly keyIDPrefix?: string | undefined;
  readonly input: KeyDefinition;
  readonly reason?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Creates a key. `requestedHash` is the hash of the requested identifier, undefined if one is to be generated.
 *
 * @throws {AppError} INVALID when the key has no valid owner, prefix or quota period, or both an identifier and a prefix;
 * FORBIDDEN when the caller is bound to another organization; CONFLICT when the key exists, even if it is deleted and not
 * yet purged; UNAVAILABLE when too many passwords wait to be hashed; otherwise as `runIdempotent` and `executeChange`.
 */
export async function createOrgKey(
  ports: Ports,
  caller: CallContext,
  requestedHash: string | undefined,
  { idempotencyKey, ...request }: CreateRequest,
): Promise<KeyChange> {
  return runIdempotent<KeyChange>(
    ports,
    caller,
    { operation: 'createOrgKey', idempotencyKey, body: request },
    (receiptOf) => createKey(ports, caller, requestedHash, request, receiptOf),
  );
}

async function createKey(
  ports: Ports,
  caller: CallContext,
  requestedHash: string | undefined,
  { keyID: requestedID, keyIDPrefix, input, reason }: CreateRequest,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  const { store, hashKeyID, newIdentity, randomHex, seal } = ports;
  const prefix = keyIDPrefix === undefined ? undefined : checkKeyIDPrefix(keyIDPrefix);
  if (requestedID !== undefined && prefix !== undefined) throw twoIdentifiers();
  const { definition: normalized, secrets } = normalizeDefinition(input);
  const { orgID: owner = caller.orgID, ...definition } = normalized;
  const orgID = ownerOf(owner);
  if (caller.orgID !== undefined && orgID !== caller.orgID) throw otherOrganization();
  const keyID = requestedID ?? checkKeyID(generatedKeyID(prefix ?? orgID, randomHex()));
  const keyHash = requestedHash ?? hashKeyID(keyID);
  // Hashing is expensive: a request that will fail is rejected before it. The transaction checks again.
  requireAbsent(caller, await findByHash(store, keyHash));
  const protectedSecrets = await protectSecrets(ports, keyHash, secrets, input.basicAuthData?.hashType);
  const sealedKeyID = seal(keyID, aadFor(keyHash, 'keyID'));
  const identity = newIdentity();
  return executeChange(ports, caller, keyHash, {
    operation: 'create',
    warningsOf: ({ at, policies }) => keyWarnings(input, { orgID, policies }, at),
    reason,
    receiptOf,
    authorize: (stored) => requireAbsent(caller, stored),
    apply: (_, conditions) =>
      newKey({ keyHash, identity, sealedKeyID, orgID, definition, protectedSecrets, dates: {}, ...conditions }),
  });
}

function twoIdentifiers(): AppError {
  const issue = { path: ['prefix'], code: 'MALFORMED_ARGUMENT', message: 'must not be combined with `keyID`' };
  return new AppError('INVALID', 'The identifier of the key is given twice.', { issues: [issue] });
}

function requireAbsent(caller: CallContext, stored: StoredKey | undefined): undefined {
  if (stored === undefined) return undefined;
  const isDeleted = visibleKey(caller, stored)?.deleted !== undefined;
  const state = isDeleted ? 'was deleted and can be restored' : 'exists already';
  throw new AppError('CONFLICT', `The key ${state}; it is not overwritten.`);
}

interface NewKeyFields
  extends ChangeConditions, Pick<StoredKey, 'keyHash' | 'identity' | 'sealedKeyID' | 'orgID' | 'definition'> {
  readonly protectedSecrets: ProtectedSecrets;
  /** The dates of an imported key; a date that is absent is `at`. */
  readonly dates: Pick<KeyDefinition, 'dateCreated' | 'lastUpdated'>;
}

/**
 * Returns a key at version 1.
 *
 * @throws {AppError} INVALID when its quota period ends after the largest 64-bit timestamp.
 */
export function newKey(fields: NewKeyFields): StoredKey {
  const { keyHash, identity, sealedKeyID, orgID, definition, protectedSecrets, dates, at, policies } = fields;
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
    quota: initialQuota(definition, withEffectiveQuota({ orgID, definition }, policies).definition, at),
  };
}

/** The live quota of a new key: the difference between the effective `quotaMax` and `quotaRemaining` counts as used. */
function initialQuota(
  { quotaRemaining, quotaRenews, quotaRenewalRate: ownPeriod = 0n }: StoredKey['definition'],
  effective: QuotaKey['definition'],
  at: Date,
): QuotaState {
  const max = effective.quotaMax ?? 0n;
  // An unlimited remainder gives no information about use, so that nothing counts as used.
  const remaining = quotaRemaining === undefined || quotaRemaining === unlimited ? max : quotaRemaining;
  const used = remaining < max ? max - remaining : 0n;
  if (quotaRenews !== undefined && quotaRenews > 0n) return { used, renews: quotaRenews };
  if (unixSeconds(at) + ownPeriod > maxInt64) throw invalidDefinition([renewalOutOfRange]);
  return carryOverQuota({ definition: {}, quota: { used, renews: undefined } }, effective, at);
}

import { AppError } from '../errors.js';
import { unlimited, type KeyDefinition } from './definition.js';
import { maxInt64 } from './int64.js';
import { invalidDefinition } from './issues.js';
import { checkKeyID } from './key-id.js';
import { keepSecrets, placeOf, type KeptSecrets } from './keep-secrets.js';
import { inUTC, normalise } from './normal-form.js';
import type { Ports } from './service.js';
import type { Actor, Change, QuotaState, StoredKey } from './store.js';
import { renewalBeyondTime, withStoredHashType } from './update.js';

export interface ImportRequest {
  readonly keyID: string;
  /** Read as an update's definition. Its dates are kept, because the key is older than its import. */
  readonly input: KeyDefinition;
  /** The owner where the definition names none. */
  readonly orgID: string | undefined;
  /** A password that was hashed elsewhere, instead of one in the definition. */
  readonly passwordHash: string | undefined;
  readonly actor: Actor;
}

/** A key as it enters a new installation. Throws INVALID where it has no owner or no usable identifier. */
export async function prepareImport(ports: Ports, request: ImportRequest): Promise<Change> {
  const keyID = checkKeyID(request.keyID);
  const keyHash = ports.hashKeyID(keyID);
  const { definition: named, secrets } = normalise(request.input);
  const { orgID: namedID, ...definition } = named;
  // Gateways write an empty identifier where a key has no organisation.
  const orgID = namedID?.trim() ? namedID : request.orgID;
  if (orgID === undefined) {
    throw new AppError('INVALID', 'The key names no organisation.', {
      issues: [{ path: ['orgID'], code: 'MISSING', message: 'is required; every key has an owner' }],
    });
  }
  const kept = {
    ...(await keepSecrets(ports, keyHash, secrets, request.input.basicAuthData?.hashType)),
    ...(request.passwordHash !== undefined && { passwordHash: request.passwordHash }),
  };
  const at = ports.now();
  const next = newKey({
    keyHash,
    orgID,
    definition,
    kept,
    at,
    input: request.input,
    sealedKeyID: ports.seal(keyID, placeOf(keyHash, 'keyID')),
  });
  const audit = {
    at,
    keyHash,
    orgID,
    operation: 'import' as const,
    actor: request.actor,
    requestID: '',
    versionBefore: 0,
    versionAfter: next.version,
    quotaUsedBeforeReset: undefined,
  };
  return { next, audit };
}

interface Parts extends Pick<StoredKey, 'keyHash' | 'sealedKeyID' | 'orgID' | 'definition'> {
  readonly kept: KeptSecrets;
  readonly input: KeyDefinition;
  readonly at: Date;
}

function newKey({ keyHash, sealedKeyID, orgID, definition, kept, input, at }: Parts): StoredKey {
  const seconds = BigInt(Math.floor(at.getTime() / 1000));
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
    dateCreated: input.dateCreated ? inUTC(input.dateCreated) : at.toISOString(),
    lastUpdated: input.lastUpdated ? BigInt(input.lastUpdated) : seconds,
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

/** What remains of a stored key's quota; undefined where it is unlimited. */
export function remainingOf({ definition: { quotaMax }, quota }: StoredKey): bigint | undefined {
  if (quotaMax === undefined || quotaMax <= 0n) return undefined;
  return quota.used < quotaMax ? quotaMax - quota.used : 0n;
}

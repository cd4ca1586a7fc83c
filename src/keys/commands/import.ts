import { diffDefinitions } from '../key-diff.js';
import type { KeyDefinition } from '../definition/schema.js';
import { checkKeyID, ownerOf } from '../key-id.js';
import { protectSecrets, aadFor } from './protect-secrets.js';
import { newKey } from './new-key.js';
import { normalizeDefinition } from '../definition/normalize.js';
import type { Ports, Change } from '../ports.js';
import type { Actor } from '../key.js';

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
  const { definition: named, secrets } = normalizeDefinition(request.input);
  const { orgID: namedID, ...definition } = named;
  // Gateways write an empty identifier where a key has no organisation.
  const orgID = ownerOf(namedID?.trim() ? namedID : request.orgID);
  const kept = {
    ...(await protectSecrets(ports, keyHash, secrets, request.input.basicAuthData?.hashType)),
    ...(request.passwordHash !== undefined && { passwordHash: request.passwordHash }),
  };
  const at = ports.now();
  const next = newKey({
    keyHash,
    orgID,
    definition,
    kept,
    at,
    dates: request.input,
    sealedKeyID: ports.seal(keyID, aadFor(keyHash, 'keyID')),
  });
  const audit = {
    at,
    keyHash,
    orgID,
    operation: 'import' as const,
    actor: request.actor,
    reason: undefined,
    requestID: '',
    versionBefore: 0,
    versionAfter: next.version,
    quotaUsedBeforeReset: undefined,
    changes: diffDefinitions(undefined, next),
  };
  return { next, audit };
}

import type { Policies } from './access/policy.js';
import { normalizeDefinition } from './definition/normalize.js';
import type { KeyDefinition } from './definition/schema.js';
import type { Actor } from './key.js';
import { revisionOf } from './key-diff.js';
import { checkKeyID, ownerOf } from './key-id.js';
import type { KeyTransition, Ports } from './ports.js';
import { newKey } from './create.js';
import { aadFor, protectSecrets } from './protect-secrets.js';

/** A key from another system. */
export interface ImportRequest {
  readonly keyID: string;
  /** Parsed as the definition of an update. Its dates are kept, because the key is older than its import. */
  readonly input: KeyDefinition;
  /** The owner if the definition has none. */
  readonly orgID: string | undefined;
  /** A password hash from another system, instead of a password in the definition. */
  readonly passwordHash: string | undefined;
  readonly actor: Actor;
  /** The known policies. */
  readonly policies: Policies;
}

/** What an import needs to validate a key. */
export type ImportPorts = Pick<Ports, 'now' | 'hashKeyID' | 'hashPassword' | 'newIdentity' | 'seal'>;

/**
 * Returns an imported key with its first revision, ready for `KeyStore.add`.
 *
 * @throws {AppError} INVALID when the key has no valid owner, identifier or quota period; UNAVAILABLE when too many passwords
 * wait to be hashed.
 */
export async function prepareImport(ports: ImportPorts, request: ImportRequest): Promise<KeyTransition> {
  const keyID = checkKeyID(request.keyID);
  const keyHash = ports.hashKeyID(keyID);
  const { definition: normalized, secrets } = normalizeDefinition(request.input);
  const { orgID: owner, ...definition } = normalized;
  const orgID = ownerOf(owner ?? request.orgID);
  const protectedSecrets = {
    ...(await protectSecrets(ports, keyHash, secrets, request.input.basicAuthData?.hashType)),
    ...(request.passwordHash !== undefined && { passwordHash: request.passwordHash }),
  };
  const at = ports.now();
  const next = newKey({
    keyHash,
    identity: ports.newIdentity(),
    orgID,
    definition,
    protectedSecrets,
    at,
    policies: request.policies,
    dates: request.input,
    sealedKeyID: ports.seal(keyID, aadFor(keyHash, 'keyID')),
  });
  const revision = revisionOf(undefined, next, {
    at,
    operation: 'import',
    actor: request.actor,
    reason: undefined,
    requestID: '',
    quotaUsedBeforeReset: undefined,
  });
  return { next, revision };
}

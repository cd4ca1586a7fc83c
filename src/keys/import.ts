import type { Policies } from './access/policy.js';
import { normalizeDefinition } from './definition/normalize.js';
import type { KeyDefinition } from './definition/schema.js';
import { AppError } from '../lib/errors.js';
import type { Actor, StoredKey } from './key.js';
import { revisionOf } from './key-diff.js';
import { checkKeyID, keyIDProblem, ownerOf } from './key-id.js';
import type { KeyTransition, Ports } from './ports.js';
import { newKey } from './create.js';
import { aadFor, protectSecrets } from './protect-secrets.js';

/** A key from another system. */
export interface ImportRequest {
  /** The identifier, or its hash if nobody knows the identifier. */
  readonly name: { readonly keyID: string } | { readonly keyHash: string };
  /** The identifier that the key had before, and the time at which it retires. Without effect after that time. */
  readonly retiring?: { readonly keyID: string; readonly retiresAt: Date } | undefined;
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
  const { name } = request;
  const keyID = 'keyID' in name ? checkKeyID(name.keyID) : '';
  const keyHash = 'keyID' in name ? ports.hashKeyID(keyID) : name.keyHash;
  const { definition: normalized, secrets } = normalizeDefinition(request.input);
  const { orgID: owner, ...definition } = normalized;
  const orgID = ownerOf(owner ?? request.orgID);
  const protectedSecrets = {
    ...(await protectSecrets(ports, keyHash, secrets, request.input.basicAuthData?.hashType)),
    ...(request.passwordHash !== undefined && { passwordHash: request.passwordHash }),
  };
  const at = ports.now();
  const created = newKey({
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
  const { retiring } = request;
  const next = retiring && retiring.retiresAt > at ? withRetiring(ports, created, retiring) : created;
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

/** Adds the identifier that a key had before. @throws {AppError} INVALID when it is not valid, or the one that the key has. */
function withRetiring(
  { hashKeyID, seal }: Pick<ImportPorts, 'hashKeyID' | 'seal'>,
  key: StoredKey,
  { keyID, retiresAt }: NonNullable<ImportRequest['retiring']>,
): StoredKey {
  const problem = keyIDProblem(keyID);
  if (problem !== undefined) throw badRetiringID('MALFORMED_KEY_ID', problem);
  const hash = hashKeyID(keyID);
  if (hash === key.keyHash) throw badRetiringID('MALFORMED_ARGUMENT', 'must differ from `key_id`');
  const retiring = { keyHash: hash, sealedKeyID: seal(keyID, aadFor(key.keyHash, 'keyID')), retiresAt };
  return { ...key, identifiers: { current: key.keyHash, retiring } };
}

function badRetiringID(code: string, message: string): AppError {
  const issue = { path: ['retiring_key_id'], code, message };
  return new AppError('INVALID', 'The identifier that retires is not valid.', { issues: [issue] });
}

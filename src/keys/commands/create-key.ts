import { AppError } from '../../lib/errors.js';
import { otherOrganisation, visibleKey } from '../authorization.js';
import { normalizeDefinition } from '../definition/normalize.js';
import type { KeyDefinition } from '../definition/schema.js';
import type { StoredKey } from '../key.js';
import { checkKeyID, checkKeyIDPrefix, generatedKeyID, ownerOf } from '../key-id.js';
import type { CallContext, Ports } from '../ports.js';
import type { ChangeExecutor, KeyChange } from './execute-change.js';
import type { ReceiptOf, RunIdempotent } from './idempotency.js';
import { newKey } from './new-key.js';
import { aadFor, protectSecrets } from './protect-secrets.js';

/** A new key. */
export interface CreateRequest {
  /** Generated if absent, after `keyIDPrefix` or else the identifier of the organization (`generatedKeyID`). */
  readonly keyID?: string | undefined;
  readonly keyIDPrefix?: string | undefined;
  readonly input: KeyDefinition;
  readonly reason?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Creates a key. */
export function createCreateCommand(ports: Ports, { executeChange }: ChangeExecutor, runIdempotent: RunIdempotent) {
  const { store, hashKeyID, randomHex, seal } = ports;

  /**
   * Creates a key. `requestedHash` is the hash of the requested identifier, undefined if one is to be generated.
   *
   * @throws {AppError} INVALID when the key has no valid owner, prefix or quota period, or both an identifier and a prefix;
   * FORBIDDEN when the caller is bound to another organisation; CONFLICT when the key exists, even if it is deleted and not
   * yet purged; UNAVAILABLE when too many passwords wait to be hashed; otherwise as `runIdempotent` and `executeChange`.
   */
  return async function createOrgKey(
    caller: CallContext,
    requestedHash: string | undefined,
    { idempotencyKey, ...request }: CreateRequest,
  ): Promise<KeyChange> {
    return runIdempotent<KeyChange>(caller, { operation: 'createOrgKey', idempotencyKey, body: request }, (receiptOf) =>
      createKey(caller, requestedHash, request, receiptOf),
    );
  };

  async function createKey(
    caller: CallContext,
    requestedHash: string | undefined,
    { keyID: requestedID, keyIDPrefix, input, reason }: CreateRequest,
    receiptOf: ReceiptOf<KeyChange>,
  ): Promise<KeyChange> {
    const prefix = keyIDPrefix === undefined ? undefined : checkKeyIDPrefix(keyIDPrefix);
    if (requestedID !== undefined && prefix !== undefined) throw twoIdentifiers();
    const { definition: normalized, secrets } = normalizeDefinition(input);
    const { orgID: owner = caller.orgID, ...definition } = normalized;
    const orgID = ownerOf(owner);
    if (caller.orgID !== undefined && orgID !== caller.orgID) throw otherOrganisation();
    const keyID = requestedID ?? checkKeyID(generatedKeyID(prefix ?? orgID, randomHex()));
    const keyHash = requestedHash ?? hashKeyID(keyID);
    // Hashing is expensive: a request that will fail is rejected before it. The transaction checks again.
    requireAbsent(caller, await store.find(keyHash));
    const protectedSecrets = await protectSecrets(ports, keyHash, secrets, input.basicAuthData?.hashType);
    const sealedKeyID = seal(keyID, aadFor(keyHash, 'keyID'));
    return executeChange(caller, keyHash, {
      operation: 'create',
      input,
      reason,
      receiptOf,
      authorize: (stored) => requireAbsent(caller, stored),
      apply: (_, at) => newKey({ keyHash, sealedKeyID, orgID, definition, protectedSecrets, dates: {}, at }),
    });
  }
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

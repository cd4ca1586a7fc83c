import { AppError } from '../lib/errors.js';
import { otherOrganization, requireScope } from './authorization.js';
import { updateOrgKeys, type BulkItemRequest, type BulkRequest } from './bulk.js';
import { assertReason, withAudit, type KeyChange, type RepeatableChange } from './change.js';
import { createPolicyCommands } from './change-policies.js';
import { consumeOrgQuota, type ConsumeRequest } from './consume.js';
import { createOrgKey, type CreateRequest } from './create.js';
import { deleteOrgKey, restoreOrgKey } from './delete.js';
import { createKeyDelivery, openRotation } from './deliver.js';
import { createGateways } from './gateways.js';
import { forNamedKey, type KeyName } from './find-key.js';
import { hasIdentifier, identifierHashOf } from './identifiers.js';
import { runIdempotent } from './idempotency.js';
import type { ReceiptOf } from './receipt.js';
import { previewOrgKeyRevert, revertOrgKey, type RevertRequest } from './revert.js';
import {
  createSecretComparisons,
  previewOrgKeyUpdate,
  updateOrgKey,
  type PatchRequest,
  type PreviewRequest,
  type UpdateRequest,
} from './update.js';
import type { KeyDefinition } from './definition/schema.js';
import { checkKeyID, keyIDProblem } from './key-id.js';
import type { RunningRotation, Scope, StoredKey } from './key.js';
import { cancelKeyRotation, rotateOrgKey, type RotateRequest } from './rotate.js';
import type { CallContext, Ports } from './ports.js';
import { createChangeSubscriptions, type ChangeSubscriptionRequest } from './queries/change-subscription.js';
import { explainOrgKey, type ExplainRequest } from './queries/explain-key.js';
import { createPolicyQueries } from './queries/policies.js';
import { previewKey, type KeyPreview } from './queries/preview-key.js';
import { createProposals } from './proposals/proposals.js';
import { createKeyQueries, type KeyReference } from './queries/read-keys.js';
import { createUseQueries } from './queries/read-use.js';
import { createRecentChanges } from './queries/recent-changes.js';
import { verifyKey, verifyKeys, type IdentifiedRequest, type VerifyRequest } from './verify.js';

/** See {@link createKeyService}. */
export type KeyService = ReturnType<typeof createKeyService>;

/** The changes to deliver: those of one key, as it is named now, or of all. */
export interface FollowRequest extends Omit<ChangeSubscriptionRequest, 'keyHash'> {
  readonly key?: KeyReference | undefined;
}

/** A command after its request was checked, for the key with this hash. */
type IdentifiedCommand<Request> = (
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: Request,
  receiptOf: ReceiptOf<KeyChange>,
) => Promise<KeyChange>;

/** A request for the key with an identifier or a hash. */
type ForKey<Request> = Request & KeyReference;

/**
 * The use cases. Callers are authenticated, and definitions were read by `parseDefinition`. Here each key identifier is
 * checked and hashed once, each reason is checked once, and each attempt to change a key is audited.
 *
 * Each method throws FORBIDDEN if the caller lacks its scope, INVALID with the path `keyID`, `keyHash` or `reason` for a
 * malformed one, and otherwise what its command or query throws.
 */
export function createKeyService(ports: Ports) {
  const { now, hashKeyID, randomHex, audit } = ports;
  const queries = createKeyQueries(ports);
  const subscriptions = createChangeSubscriptions(ports);
  const gateways = createGateways(ports);
  const comparisons = createSecretComparisons();

  const isKeyHash = keyHashPattern(hashKeyID);

  /** @throws {AppError} INVALID with the path `keyID` or `keyHash`. */
  function hashOf(reference: KeyReference): string {
    if ('keyID' in reference) return hashKeyID(checkKeyID(reference.keyID));
    if (isKeyHash.test(reference.keyHash)) return reference.keyHash;
    throw malformedHash();
  }

  const nameOf = (reference: KeyReference, hash: string): KeyName => ({ hash, isIdentifier: 'keyID' in reference });

  const bulk = {
    ports,
    queries,
    patch: withAudit(audit, {
      operation: 'updateOrgKeys',
      identify: ({ keyHash }: BulkItemRequest) => keyHash,
      run: (caller, keyHash, request) => updateOrgKey(ports, caller, keyHash, request, request.receiptOf),
      acceptedOf: acceptedChange,
    }),
    preview: (caller: CallContext, request: BulkItemRequest) =>
      previewOrgKeyUpdate(ports, comparisons, caller, request.keyHash, request),
  };

  const change = <Request extends RepeatableChange>(
    operation: string,
    scope: Scope,
    command: IdentifiedCommand<Request>,
  ) =>
    withAudit(audit, {
      operation,
      identify: (request: ForKey<Request>) => hashOf(request),
      run: async (caller, keyHash, request) => {
        requireScope(caller, scope);
        assertReason(request.reason);
        const { idempotencyKey } = request;
        // A repeated request may name the key by its identifier or by its hash.
        const sent = { ...request, keyID: undefined, keyHash: undefined, idempotencyKey: undefined };
        const body = { keyHash, sent };
        return runIdempotent<KeyChange>(ports, caller, { operation, idempotencyKey, body }, (receiptOf) =>
          forNamedKey(ports, nameOf(request, keyHash), caller.orgID, (narrowed, own) =>
            command(narrowed, caller, own, request, receiptOf),
          ),
        );
      },
      acceptedOf: acceptedChange,
    });

  const preview = <Request extends RepeatableChange>(
    command: (narrowed: Ports, caller: CallContext, keyHash: string, request: Request) => Promise<KeyChange>,
  ) => {
    return async (caller: CallContext, request: ForKey<Request>): Promise<KeyChange> => {
      requireScope(caller, 'read');
      const keyHash = hashOf(request);
      assertReason(request.reason);
      return forNamedKey(ports, nameOf(request, keyHash), caller.orgID, (narrowed, own) =>
        command(narrowed, caller, own, request),
      );
    };
  };

  /** An identifier that no key can have is no error: clients send anything to gateways. */
  function identified(request: ForKey<VerifyRequest>): IdentifiedRequest {
    const { api, version, method, path, amount, proofs, idempotencyKey } = request;
    const isPossible = !('keyID' in request) || keyIDProblem(request.keyID) === undefined;
    const keyHash = isPossible ? hashOf(request) : undefined;
    return { keyHash, api, version, method, path, amount, proofs, idempotencyKey };
  }

  /** The audit log has no hash of what a client sent: it may be a secret of another service. */
  const verification = <Request, Result>(
    operation: string,
    run: (caller: CallContext, request: Request) => Promise<Result>,
  ) =>
    withAudit(audit, {
      operation,
      identify: (_: Request) => undefined,
      run: async (caller, _, request) => {
        requireScope(caller, 'verify');
        return run(caller, request);
      },
      acceptedOf: () => ({ isTraffic: true }),
    });

  return {
    ...queries,
    ...createRecentChanges(ports),
    /**
     * Delivers the changes of one key or of several: see `orgKeyChanges` of change-subscription.ts.
     *
     * @throws {AppError} NOT_FOUND when no key has the identifier.
     */
    async orgKeyChanges(caller: CallContext, { key, ...request }: FollowRequest, signal: AbortSignal) {
      const keyHash = key && (await queries.hashToFollow(caller, key));
      return subscriptions.orgKeyChanges(caller, { ...request, keyHash }, signal);
    },
    ...createPolicyQueries(ports),
    ...createUseQueries(ports),
    ...createPolicyCommands(ports),
    ...createProposals(ports, (reference) => nameOf(reference, hashOf(reference))),
    ...gateways,
    /** See `deploymentsAsTheyChange` of gateways.ts. @throws {AppError} INVALID without a key. */
    orgKeyDeployed(caller: CallContext, key: KeyReference | undefined, names: readonly string[], signal: AbortSignal) {
      if (!key) throw noKeyNamed();
      const find = () => queries.orgKey(caller, key, { includeDeleted: true });
      return gateways.deploymentsAsTheyChange(caller, find, names, signal);
    },
    ...createKeyDelivery(ports, (reference) => nameOf(reference, hashOf(reference))),
    /** See `explainOrgKey` of explain-key.ts. */
    explainOrgKey: (
      caller: CallContext,
      { reference, ...request }: ExplainRequest & { readonly reference: KeyReference },
    ) => explainOrgKey(ports, caller, nameOf(reference, hashOf(reference)), request),
    updateOrgKey: change<UpdateRequest>('updateOrgKey', 'update', updateOrgKey),
    patchOrgKey: change<PatchRequest>('patchOrgKey', 'update', updateOrgKey),
    deleteOrgKey: change<RepeatableChange>('deleteOrgKey', 'delete', deleteOrgKey),
    restoreOrgKey: change<RepeatableChange>('restoreOrgKey', 'delete', restoreOrgKey),
    revertOrgKey: change<RevertRequest>('revertOrgKey', 'update', revertOrgKey),
    rotateOrgKey: change<RotateRequest>('rotateOrgKey', 'update', rotateOrgKey),
    cancelKeyRotation: change<RepeatableChange>('cancelKeyRotation', 'update', cancelKeyRotation),
    createOrgKey: withAudit(audit, {
      operation: 'createOrgKey',
      identify: ({ keyID }: CreateRequest) => (keyID === undefined ? undefined : hashOf({ keyID })),
      run: async (caller, keyHash, request) => {
        requireScope(caller, 'create');
        assertReason(request.reason);
        return createOrgKey(ports, caller, keyHash, request);
      },
      acceptedOf: acceptedChange,
    }),
    consumeOrgQuota: withAudit(audit, {
      operation: 'consumeOrgQuota',
      identify: (request: ForKey<ConsumeRequest>) => hashOf(request),
      run: async (caller, keyHash, request) => {
        requireScope(caller, 'consume');
        // A gateway hashes what its client sends.
        const name = { hash: keyHash, isIdentifier: true };
        return forNamedKey(ports, name, caller.orgID, (_, own) => consumeOrgQuota(ports, caller, own, name, request));
      },
      acceptedOf: () => ({ isTraffic: true }),
    }),
    /** See `verifyKeys` of verify.ts. */
    verifyKey: verification('verifyKey', (caller, request: ForKey<VerifyRequest>) =>
      verifyKey(ports, caller, identified(request)),
    ),
    verifyKeys: verification('verifyKeys', (caller, requests: readonly ForKey<VerifyRequest>[]) =>
      verifyKeys(ports, caller, requests.map(identified)),
    ),
    /** Returns what `updateOrgKey` or `patchOrgKey` would return now, and writes nothing. */
    previewOrgKeyUpdate: preview<PreviewRequest>((narrowed, caller, keyHash, request) =>
      previewOrgKeyUpdate(narrowed, comparisons, caller, keyHash, request),
    ),
    /** Returns what `revertOrgKey` would return now, and writes nothing. */
    previewOrgKeyRevert: preview<RevertRequest>((narrowed, caller, keyHash, request) =>
      previewOrgKeyRevert(narrowed, caller, keyHash, request),
    ),
    updateOrgKeys: (caller: CallContext, request: BulkRequest) => updateOrgKeys(bulk, caller, request),
    /** @throws {AppError} FORBIDDEN when the definition names another organization than the caller is bound to. */
    async preview(caller: CallContext, input: KeyDefinition): Promise<KeyPreview> {
      if (caller.orgID !== undefined && (input.orgID ?? caller.orgID) !== caller.orgID) throw otherOrganization();
      const policies = await ports.policies.current();
      return previewKey(input, { now: now(), policies, ownerID: caller.orgID, hashKeyID, randomHex });
    },
    /** Whether this is the hash of an identifier of the key now. The first one of a key may have retired. */
    hasIdentifier: (key: StoredKey, hash: string): boolean => hasIdentifier(key, hash, now()),
    /** Returns the hash of the identifier of a key. */
    identifierHashOf,
    /** Returns the rotation of a key that runs now, with the identifier that is going to retire. */
    rotationOf: (key: StoredKey): RunningRotation | undefined => openRotation(ports, key),
    /** Returns until when a deleted key can be restored; undefined for another key. Soon after, it is purged. */
    restorableUntil: ({ deleted }: StoredKey): Date | undefined =>
      deleted && new Date(deleted.getTime() + ports.restoreWindowMs),
    /** Returns the hash of the key of a request for the log; undefined if the identifier or the hash is not valid. */
    tryHashOf(reference: KeyReference): string | undefined {
      try {
        return hashOf(reference);
      } catch {
        return undefined;
      }
    },
  };
}

/** Matches the hashes of the configured function. Anything else may be a key identifier, and must not be logged. */
function keyHashPattern(hashKeyID: Ports['hashKeyID']): RegExp {
  return new RegExp(`^[0-9a-f]{${hashKeyID('').length}}$`);
}

function noKeyNamed(): AppError {
  return new AppError('INVALID', 'One identifier or hash of a key is required.', {
    issues: [{ path: ['keyID'], code: 'MISSING', message: 'is required, or `keyHash`' }],
  });
}

function malformedHash(): AppError {
  const message = 'must be the hash of a key identifier, as in `OrgKey.keyHash`';
  return new AppError('INVALID', 'The key hash is not valid.', {
    issues: [{ path: ['keyHash'], code: 'MALFORMED_ARGUMENT', message }],
  });
}

function acceptedChange({ key: { keyHash, orgID, version }, isChanged }: KeyChange) {
  return { keyHash, orgID, version, isChanged };
}

import { otherOrganisation, requireScope } from './authorization.js';
import { updateOrgKeys, type BulkRequest } from './bulk.js';
import { assertReason, withAudit, type KeyChange, type KeyChangeOptions } from './change.js';
import { consumeOrgQuota, type ConsumeRequest } from './consume.js';
import { createOrgKey, type CreateRequest } from './create.js';
import { deleteOrgKey, restoreOrgKey, type DeleteRequest } from './delete.js';
import { revertOrgKey, type RevertRequest } from './revert.js';
import {
  createSecretComparisons,
  previewOrgKeyUpdate,
  updateOrgKey,
  updateOrgKeyOnce,
  type PreviewRequest,
  type RepeatableUpdate,
  type UpdateRequest,
} from './update.js';
import type { KeyDefinition } from './definition/schema.js';
import { checkKeyID } from './key-id.js';
import type { Scope } from './key.js';
import type { CallContext, Ports } from './ports.js';
import { createChangeSubscriptions } from './queries/change-subscription.js';
import { previewKey, type KeyPreview } from './queries/preview-key.js';
import { createKeyQueries } from './queries/read-keys.js';

/** See {@link createKeyService}. */
export type KeyService = ReturnType<typeof createKeyService>;

/** A command after its request was checked, for the key with this hash. */
type IdentifiedCommand<Request> = (
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: Request,
) => Promise<KeyChange>;
type WithKeyID<Request> = Request & { readonly keyID: string };

/**
 * The use cases. Callers are authenticated, and definitions were read by `parseDefinition`. Here each key identifier is
 * checked and hashed once, each reason is checked once, and each attempt to change a key is audited.
 *
 * Each method throws FORBIDDEN if the caller lacks its scope, INVALID with the path `keyID` or `reason` for a malformed one,
 * and otherwise what its command or query throws.
 */
export function createKeyService(ports: Ports) {
  const { now, hashKeyID, randomHex, audit } = ports;
  const queries = createKeyQueries(ports);
  const comparisons = createSecretComparisons();

  const hashOf = ({ keyID }: { readonly keyID: string }): string => hashKeyID(checkKeyID(keyID));

  const bulk = {
    ports,
    queries,
    update: withAudit(audit, {
      operation: 'updateOrgKeys',
      identify: ({ keyHash }: UpdateRequest & { readonly keyHash: string }) => keyHash,
      run: (caller, keyHash, request) => updateOrgKey(ports, caller, keyHash, request),
      acceptedOf: acceptedChange,
    }),
    preview: (caller: CallContext, request: UpdateRequest & { readonly keyHash: string }) =>
      previewOrgKeyUpdate(ports, comparisons, caller, request.keyHash, request),
  };

  const change = <Request extends KeyChangeOptions>(
    operation: string,
    scope: Scope,
    command: IdentifiedCommand<Request>,
  ) =>
    withAudit(audit, {
      operation,
      identify: (request: WithKeyID<Request>) => hashOf(request),
      run: async (caller, keyHash, request) => {
        requireScope(caller, scope);
        assertReason(request.reason);
        return command(ports, caller, keyHash, request);
      },
      acceptedOf: acceptedChange,
    });

  return {
    ...queries,
    ...createChangeSubscriptions(ports),
    updateOrgKey: change<RepeatableUpdate>('updateOrgKey', 'update', updateOrgKeyOnce),
    deleteOrgKey: change<DeleteRequest>('deleteOrgKey', 'delete', deleteOrgKey),
    restoreOrgKey: change<KeyChangeOptions>('restoreOrgKey', 'delete', restoreOrgKey),
    revertOrgKey: change<RevertRequest>('revertOrgKey', 'update', revertOrgKey),
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
      identify: (request: ConsumeRequest) => hashOf(request),
      run: async (caller, keyHash, request) => {
        requireScope(caller, 'consume');
        return consumeOrgQuota(ports, caller, keyHash, request);
      },
      acceptedOf: () => ({ isTraffic: true }),
    }),
    /** Returns what `updateOrgKey` would return now, and writes nothing. */
    async previewOrgKeyUpdate(caller: CallContext, request: WithKeyID<PreviewRequest>): Promise<KeyChange> {
      requireScope(caller, 'read');
      const keyHash = hashOf(request);
      assertReason(request.reason);
      return previewOrgKeyUpdate(ports, comparisons, caller, keyHash, request);
    },
    updateOrgKeys: (caller: CallContext, request: BulkRequest) => updateOrgKeys(bulk, caller, request),
    /** @throws {AppError} FORBIDDEN when the definition names another organisation than the caller is bound to. */
    preview(caller: CallContext, input: KeyDefinition): KeyPreview {
      if (caller.orgID !== undefined && (input.orgID ?? caller.orgID) !== caller.orgID) throw otherOrganisation();
      return previewKey(input, { now: now(), ownerID: caller.orgID, hashKeyID, randomHex });
    },
    /** Returns the hash of a key identifier for the log; undefined if the identifier is not valid. */
    tryHashKeyID(keyID: string | undefined): string | undefined {
      if (keyID === undefined) return undefined;
      try {
        return hashOf({ keyID });
      } catch {
        return undefined;
      }
    },
  };
}

function acceptedChange({ key: { keyHash, orgID, version }, isChanged }: KeyChange) {
  return { keyHash, orgID, version, isChanged };
}

import { AppError } from '../errors.js';
import type { KeyDefinition } from './definition.js';
import { keepSecrets, type SecretKeeping } from './keep-secrets.js';
import { checkKeyID } from './key-id.js';
import { normalise } from './normal-form.js';
import { previewKey, type KeyPreview } from './preview.js';
import type { Actor, KeyStore, StoredKey } from './store.js';
import { applyUpdate, requireVersion, type PreparedUpdate } from './update.js';
import { warningsOf, type Warning } from './warnings.js';

/** Who asks: a verified credential, perhaps bound to one organisation. */
export interface Caller extends Actor {
  readonly orgID: string | undefined;
  readonly requestID: string;
}

/** What the domain needs from the world around it. */
export interface Ports extends SecretKeeping {
  readonly store: KeyStore;
  readonly now: () => Date;
  /** Lower-case hex of a key identifier. The same identifier always has the same hash. */
  readonly hashKeyID: (keyID: string) => string;
  /** 32 fresh random hex digits. */
  readonly randomHex: () => string;
}

export interface UpdateRequest {
  readonly keyID: string;
  readonly input: KeyDefinition;
  readonly resetQuota: boolean;
  readonly expectedVersion: number | undefined;
}

export interface OrgKeyUpdate {
  readonly keyID: string;
  readonly key: StoredKey;
  readonly warnings: readonly Warning[];
}

export type KeyService = ReturnType<typeof createKeyService>;

/** The use cases. What they take has been read by `readDefinition`; who asks has been authenticated. */
export function createKeyService({ store, now, hashKeyID, randomHex, ...keeping }: Ports) {
  /** FORBIDDEN for a definition that names another organisation than the one the credential is bound to. */
  function preview(caller: Caller, input: KeyDefinition): KeyPreview {
    if (caller.orgID !== undefined && (input.orgID ?? caller.orgID) !== caller.orgID) {
      throw new AppError('FORBIDDEN', 'The credential is bound to another organisation than the definition names.');
    }
    return previewKey(input, { now: now(), ownerID: caller.orgID, hashKeyID, randomHex });
  }

  /** INVALID, NOT_FOUND (also for another organisation's key), CONFLICT, UNAVAILABLE. Durable when it resolves. */
  async function updateOrgKey(caller: Caller, request: UpdateRequest): Promise<OrgKeyUpdate> {
    const keyHash = hashKeyID(checkKeyID(request.keyID));
    // Looked at once before the work of hashing, and again inside the transaction, where it counts.
    requireVersion(owned(caller, await store.find(keyHash)), request.expectedVersion);
    const { definition, secrets } = normalise(request.input);
    const update: PreparedUpdate = {
      definition,
      secrets: await keepSecrets(keeping, keyHash, secrets, request.input.basicAuthData?.hashType),
      resetQuota: request.resetQuota,
      expectedVersion: request.expectedVersion,
    };
    const at = now();
    const { next } = await store.update(keyHash, (found) => {
      const stored = owned(caller, found);
      const changed = applyUpdate(stored, update, at);
      const audit = {
        at,
        keyHash,
        orgID: stored.orgID,
        operation: 'update' as const,
        actor: { credentialID: caller.credentialID, label: caller.label },
        requestID: caller.requestID,
        versionBefore: stored.version,
        versionAfter: changed.version,
        quotaUsedBeforeReset: request.resetQuota ? stored.quota.used : undefined,
      };
      return { next: changed, audit };
    });
    return { keyID: request.keyID, key: next, warnings: warningsOf(request.input, at) };
  }

  return { preview, updateOrgKey };
}

/** Another organisation's key is as good as none: its existence is not ours to confirm. */
function owned(caller: Caller, stored: StoredKey | undefined): StoredKey {
  if (stored === undefined || (caller.orgID !== undefined && stored.orgID !== caller.orgID)) {
    throw new AppError('NOT_FOUND', 'There is no such key.');
  }
  return stored;
}

import { AppError } from '../lib/errors.js';
import { createAuditing, hashOf } from './audit.js';
import { createBulkUpdate } from './commands/bulk-update.js';
import {
  createKeyCommands,
  type ChangeOptions,
  type CreateRequest,
  type KeyChange,
  type UpdateRequest,
} from './commands/change-key.js';
import { createQuotaConsumption } from './commands/consume-quota.js';
import type { KeyDefinition } from './definition/schema.js';
import { createChangeSubscriptions } from './queries/change-subscription.js';
import type { Caller, Ports } from './ports.js';
import { previewKey, type KeyPreview } from './queries/preview-key.js';
import { createKeyQueries } from './queries/read-keys.js';

export type KeyService = ReturnType<typeof createKeyService>;

/** The use cases. What they take has been read by `readDefinition`; who asks has been authenticated. */
export function createKeyService(ports: Ports) {
  const { now, hashKeyID, randomHex } = ports;
  const reading = createKeyQueries(ports);
  const changing = createAuditedCommands(ports);
  return {
    ...reading,
    ...createChangeSubscriptions(ports),
    ...changing,
    ...createBulkUpdate({
      reading,
      update: changing.updateOneOfMany,
      preview: changing.previewOrgKeyUpdate,
      reportError: ports.reportError,
    }),
    /** FORBIDDEN for a definition that names another organisation than the one the credential is bound to. */
    preview(caller: Caller, input: KeyDefinition): KeyPreview {
      if (caller.orgID !== undefined && (input.orgID ?? caller.orgID) !== caller.orgID) {
        throw new AppError('FORBIDDEN', 'The credential is bound to another organisation than the definition names.');
      }
      return previewKey(input, { now: now(), ownerID: caller.orgID, hashKeyID, randomHex });
    },
    /** The hash of a key identifier, for the log; undefined for a text that is no identifier. */
    hashOf: (keyID: string | undefined) => hashOf(hashKeyID, keyID),
  };
}

/** The use cases that write, each telling the audit port what became of it. */
function createAuditedCommands(ports: Ports) {
  const changing = createKeyCommands(ports);
  const consuming = createQuotaConsumption(ports);
  const tell = createAuditing(ports);
  const change = (operation: string, caller: Caller, keyID: string | undefined, work: () => Promise<KeyChange>) =>
    tell(operation, caller, keyID, work, ({ key: { keyHash, orgID, version } }) => ({ keyHash, orgID, version }));
  return {
    ...changing,
    updateOrgKey: (caller: Caller, request: UpdateRequest) =>
      change('updateOrgKey', caller, request.keyID, () => changing.updateOrgKey(caller, request)),
    /** The same, as a part of a change of many. */
    updateOneOfMany: (caller: Caller, request: UpdateRequest) =>
      change('updateOrgKeys', caller, request.keyID, () => changing.updateOrgKey(caller, request)),
    createOrgKey: (caller: Caller, request: CreateRequest) =>
      change('createOrgKey', caller, request.keyID, () => changing.createOrgKey(caller, request)),
    deleteOrgKey: (caller: Caller, keyID: string, options: ChangeOptions) =>
      change('deleteOrgKey', caller, keyID, () => changing.deleteOrgKey(caller, keyID, options)),
    restoreOrgKey: (caller: Caller, keyID: string, options: ChangeOptions) =>
      change('restoreOrgKey', caller, keyID, () => changing.restoreOrgKey(caller, keyID, options)),
    revertOrgKey: (caller: Caller, keyID: string, toVersion: number, options: ChangeOptions) =>
      change('revertOrgKey', caller, keyID, () => changing.revertOrgKey(caller, keyID, toVersion, options)),
    consumeOrgQuota: (caller: Caller, keyID: string, amount: bigint) =>
      tell(
        'consumeOrgQuota',
        caller,
        keyID,
        () => consuming.consumeOrgQuota(caller, keyID, amount),
        () => ({ isTraffic: true }),
      ),
  };
}

import type { KeyChange } from '../../keys/commands/execute-change.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import { defaultOrder, entriesOf, positionOfEntry } from '../../keys/key-query.js';
import { createKeyService, type KeyService } from '../../keys/key-service.js';
import type { KeyRevision, StoredKey } from '../../keys/key.js';
import type { CallContext } from '../../keys/ports.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { withQuotas, type KeyWithQuota } from '../../rest/key-response.js';
import { InstallationNotFoundError } from '../../storage/storage.js';
import { cursorsOf } from '../../wire/list-cursor.js';
import type { OptionValues } from '../command.js';
import { actorLabel } from '../input.js';
import type { IO } from '../io.js';
import { withServices } from './open.js';
import type { KeyChangeResult, KeyClient, KeyHistoryEntry, ListedKey, LiveQuota } from './port.js';

const readCommands: ReadonlySet<string> = new Set([
  'keys get',
  'keys diff',
  'keys history',
  'keys list',
  'keys follow',
]);

/**
 * Runs work on the keys of the data folder that the environment names. A service may run on it meanwhile.
 *
 * @param call the command and its options, of which the history records the name and the actor
 * @throws {InstallationNotFoundError}
 */
export async function withLocalKeys<T>(
  io: IO,
  { command, options }: { readonly command: string; readonly options: OptionValues },
  work: (keys: KeyClient) => Promise<T>,
): Promise<T> {
  const label = actorLabel(io, command, options);
  const access = readCommands.has(command) || options['plan'] === true ? 'read' : 'write';
  const result = withServices(io, { access, liveQuotas: true }, async ({ ports }) => {
    const keys = createKeyService(ports);
    const caller: CallContext = {
      credentialID: 'cli',
      label,
      orgID: undefined,
      requestID: '',
    };
    return work({
      hashOf: (keyID) => keys.tryHashKeyID(keyID),
      find: async (reference) => {
        const key = await keys.orgKey(caller, reference, { includeDeleted: true });
        if (!key) return undefined;
        const { keyHash, orgID, version, definition } = key;
        return { keyID: keys.keyIDOf(key), keyHash, orgID, version, state: keys.stateOf(key), alias: definition.alias };
      },
      read: async (keyID) => {
        const found = await keys.requireOrgKey(caller, keyID);
        const { keyHash, version, orgID, definition } = found;
        return { keyHash, version, definition: { ...definition, orgID }, readQuota: () => liveQuotaOf(keys, found) };
      },
      previewUpdate: async (keyID, definition, options) =>
        toResult(
          await keys.previewOrgKeyUpdate(caller, { keyID, input: parseDefinition('update', definition), ...options }),
        ),
      update: async (keyID, definition, options) =>
        toResult(await keys.updateOrgKey(caller, { keyID, input: parseDefinition('update', definition), ...options })),
      create: async (keyID, definition, options) => {
        const input = parseDefinition('update', definition);
        const created = await keys.createOrgKey(caller, { keyID, input, ...options });
        return { ...toResult(created), keyID: keys.keyIDOf(created.key) };
      },
      revert: async (keyID, toVersion, options) =>
        toResult(await keys.revertOrgKey(caller, { keyID, toVersion, ...options })),
      delete: async (keyID, options) => toResult(await keys.deleteOrgKey(caller, { keyID, ...options })),
      undelete: async (keyID, options) => toResult(await keys.restoreOrgKey(caller, { keyID, ...options })),
      list: async (filter, limit, after) => {
        const orderBy = defaultOrder(filter);
        const cursors = cursorsOf({ filter, orderBy });
        const page = await keys.orgKeys(caller, {
          filter,
          orderBy,
          descending: false,
          limit: limit + 1,
          ...(after !== undefined && { after: cursors.decode(after, 'after') }),
        });
        const found = entriesOf(page);
        const shown = found.slice(0, limit);
        const last = shown.at(-1);
        const readable = shown.flatMap((entry) => ('key' in entry ? entry.key : []));
        return {
          keys: (await withQuotas(keys, readable)).map((key) => listed(keys, key)),
          unreadable: shown.flatMap((entry) => ('key' in entry ? [] : entry.position.keyHash)),
          next: last && found.length > limit ? cursors.encode(positionOfEntry(last, orderBy)) : undefined,
        };
      },
      history: async (keyID, limit) => {
        const entries = await keys.history(await keys.requireOrgKey(caller, keyID), { last: true, limit });
        return entries.toReversed().map(toHistoryEntry);
      },
      follow: async function* (request, signal) {
        for await (const { cursor, entry, isUnreadable = false } of await keys.orgKeyChanges(caller, request, signal)) {
          const change = entry && { keyHash: entry.keyHash, orgID: entry.orgID, entry: toHistoryEntry(entry) };
          yield { cursor, change, isUnreadable };
        }
      },
    });
  });
  return result.catch((error: unknown) => {
    if (error instanceof InstallationNotFoundError) {
      throw new InstallationNotFoundError(`${error.message} To use a running service instead, pass --url.`);
    }
    throw error;
  });
}

/** The error for a key that does not exist. */
export function keyNotFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such key.');
}

function toHistoryEntry({ at, actor, versionAfter, operation, requestID, ...rest }: KeyRevision): KeyHistoryEntry {
  return {
    version: versionAfter,
    at: at.toISOString(),
    operation,
    credentialID: actor.credentialID,
    credentialLabel: actor.label,
    reason: rest.reason,
    requestID: requestID || undefined,
    quotaUsedBeforeReset: rest.quotaUsedBeforeReset,
    changes: rest.changes,
  };
}

function listed(keys: KeyService, { key, figures: quota }: KeyWithQuota): ListedKey {
  const { keyHash, orgID, version, lastUpdated, definition } = key;
  const { alias, tags = [], expires } = definition;
  return { keyHash, orgID, state: keys.stateOf(key), version, alias, tags, expires, lastUpdated, quota };
}

function toResult({ key: { keyHash, version }, ...effect }: KeyChange): KeyChangeResult {
  return { keyHash, version, ...effect };
}

/** The live quota; undefined if its counter cannot be reached. */
async function liveQuotaOf(keys: KeyService, key: StoredKey): Promise<LiveQuota | undefined> {
  try {
    const [quota] = await keys.quotasOf([key]);
    return quota;
  } catch (error) {
    if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
    return undefined;
  }
}

import { AppError, codeOf, pathText } from '../../lib/errors.js';
import { requireRestorableKey, requireKey, visibleKey } from '../authorization.js';
import type { FieldChange, StoredKey, KeyRevision, Operation } from '../key.js';
import { diffDefinitions, definitionChanges, isOfSecret } from '../key-diff.js';
import type { KeyDefinition } from '../definition/schema.js';
import { checkKeyID, ownerOf } from '../key-id.js';
import { protectSecrets, aadFor } from './protect-secrets.js';
import { newKey } from './new-key.js';
import { normalizeDefinition } from '../definition/normalize.js';
import type { Caller, Ports, Change } from '../ports.js';
import type { CounterSnapshot, ResetStatus } from '../quota/quota-manager.js';
import { quotaFigures, type QuotaFigures } from '../quota/quota.js';
import { quotaChangeOf } from '../quota/quota-change.js';
import { assertReason } from '../reason.js';
import {
  applyUpdate,
  assertExpectedVersion,
  nextKeyVersion,
  versionsOf,
  type ExpectedVersion,
  type IsSameSecret,
  type PreparedUpdate,
} from './apply-update.js';
import { warningsOf, type Warning } from '../definition/warnings.js';

/** What every change of a key may say beside what it changes. */
export interface ChangeOptions {
  /** Reject the change when the key has another version. */
  readonly expectedVersion?: ExpectedVersion | undefined;
  /** Why, for the history. */
  readonly reason?: string | undefined;
}

export interface UpdateRequest extends ChangeOptions {
  readonly keyID: string;
  readonly input: KeyDefinition;
  readonly resetQuota: boolean;
}

export interface CreateRequest {
  readonly keyID?: string | undefined;
  readonly input: KeyDefinition;
  readonly reason?: string | undefined;
}

/** One kind of change: whom it admits, and what it makes of the key. Both are pure and may run again. */
interface Step extends ChangeOptions {
  readonly operation: Operation;
  /** What the caller sent, for its warnings. */
  readonly input?: KeyDefinition;
  readonly isReset?: boolean;
  readonly admit: (found: StoredKey | undefined) => StoredKey | undefined;
  readonly change: (stored: StoredKey | undefined, at: Date) => StoredKey;
}

/** What a change did, or would do. */
export interface KeyChange {
  readonly key: StoredKey;
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly Warning[];
  /** The live quota before and after; undefined where it could not be read. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined where no reset was asked for, or nothing was written. */
  readonly quotaReset: ResetStatus | undefined;
}

/** The use cases that change a key. All of them: NOT_FOUND, CONFLICT, UNAVAILABLE; durable when they resolve. */
export function createKeyCommands(ports: Ports) {
  const { store, quotas, now, hashKeyID, randomHex, open, seal, hashPassword, reportError } = ports;

  const isSameSecretOf =
    (keyHash: string): IsSameSecret =>
    (secret, a, b) =>
      open(a, aadFor(keyHash, secret)) === open(b, aadFor(keyHash, secret));

  /** Carries a step out in the store, with its history entry in the same transaction. */
  async function carryOut(caller: Caller, keyHash: string, step: Step): Promise<KeyChange> {
    const reason = assertReason(step.reason);
    const { apart } = quotas;
    const sight = apart && (await sightOf(keyHash));
    const isKnown = !apart || sight !== undefined;
    const at = now();
    let before: StoredKey | undefined;
    try {
      const apply = (stored: StoredKey | undefined): Change => {
        const found = stored && sight ? { ...stored, quota: sight(stored) } : stored;
        before = step.admit(found);
        if (before) assertExpectedVersion(before, step.expectedVersion);
        const after = step.change(before, at);
        caller.deadline?.markCommitting();
        return {
          next: after,
          audit: entryOf(caller, step, reason, at, before, after, isKnown),
          ...(apart && before && { quotaChange: quotaChangeOf(before, after, at, step.isReset === true) }),
        };
      };
      // A new key must not take the identifier of another organisation's.
      const scope = step.operation === 'create' ? undefined : caller.orgID;
      const { next, audit, quotaChange } = await store.update(keyHash, apply, scope);
      const status = quotaChange && apart ? await apart.settle(keyHash) : 'APPLIED';
      const quotaReset = step.isReset === true ? status : undefined;
      return { ...result(at, before, next, audit.changes, step.input, isKnown), quotaReset };
    } catch (error) {
      throw await withChangesSince(caller, error, keyHash, step.expectedVersion);
    }
  }

  /** The counter as it is before a change; undefined where it cannot be reached, which keeps no definition from changing. */
  async function sightOf(keyHash: string): Promise<CounterSnapshot | undefined> {
    try {
      const [sight] = (await quotas.apart?.look([keyHash])) ?? [];
      return sight;
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAVAILABLE') return undefined;
      throw error;
    }
  }

  /** Adds to a CONFLICT which fields have changed since the newest version that the caller knows. */
  async function withChangesSince(
    caller: Caller,
    error: unknown,
    keyHash: string,
    expected: ExpectedVersion | undefined,
  ): Promise<unknown> {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT' || expected === undefined) return error;
    try {
      return await explained(error, keyHash, expected);
    } catch (failure) {
      // The change was rejected in any case; the paths are only an explanation.
      if (codeOf(failure) === 'INTERNAL') reportError?.(failure, caller.requestID);
      return error;
    }
  }

  async function explained(error: AppError, keyHash: string, expected: ExpectedVersion): Promise<AppError> {
    const current = await store.find(keyHash);
    if (!current) return error;
    const version = Math.max(...versionsOf(expected).filter((past) => past < current.version));
    const known = await store.definitionAt(keyHash, version);
    if (!known) return error;
    const changes = [...definitionChanges(known, current.definition), ...(await secretsChangedSince(current, version))];
    const issues = changes.map(({ path }) => ({
      path,
      code: 'CHANGED_SINCE',
      message: `has changed since version ${version}`,
    }));
    return new AppError('CONFLICT', error.message, { issues, cause: error });
  }

  /** What the history tells of secrets, whose values it does not keep. It is not read further back than 100 changes. */
  async function secretsChangedSince(key: StoredKey, version: number): Promise<FieldChange[]> {
    const entries = await store.historyOf(key.keyHash, { after: version, last: true, limit: 100, asOf: key });
    const changes = entries.flatMap((entry) => entry.changes).filter(isOfSecret);
    return [...new Map(changes.map((change) => [pathText(change.path), change])).values()];
  }

  async function prepare(request: UpdateRequest, keyHash: string, isDryRun: boolean): Promise<PreparedUpdate> {
    const { definition, secrets } = normalizeDefinition(request.input);
    // A dry run needs no more of a password's hash than that it differs, and what it is made with.
    const hash = isDryRun
      ? async (_: string, type: string) => Promise.resolve(type === 'argon2id' ? '$argon2id$' : '$2b$')
      : hashPassword;
    const kept = await protectSecrets(
      { seal, hashPassword: hash },
      keyHash,
      secrets,
      request.input.basicAuthData?.hashType,
    );
    return { definition, secrets: kept, resetQuota: request.resetQuota };
  }

  /** The hash of the key that an update is meant for, once what is said of the update is in order. */
  function checked(caller: Caller, { keyID, reason }: UpdateRequest): string {
    const keyHash = hashKeyID(checkKeyID(keyID));
    assertReason(reason);
    caller.deadline?.throwIfExpired();
    return keyHash;
  }

  /** The key that an update is meant for, as it is before it. */
  async function updatable(caller: Caller, request: UpdateRequest): Promise<StoredKey> {
    const { expectedVersion } = request;
    const keyHash = checked(caller, request);
    const stored = requireKey(caller, await store.find(keyHash, caller.orgID));
    try {
      assertExpectedVersion(stored, expectedVersion);
    } catch (error) {
      throw await withChangesSince(caller, error, keyHash, expectedVersion);
    }
    return stored;
  }

  async function updateStep(caller: Caller, request: UpdateRequest, keyHash: string, isDryRun: boolean): Promise<Step> {
    const update = await prepare(request, keyHash, isDryRun);
    const { input, resetQuota, expectedVersion, reason } = request;
    return {
      operation: 'update',
      input,
      isReset: resetQuota,
      expectedVersion,
      reason,
      admit: (found) => requireKey(caller, found),
      change: (stored, at) => applyUpdate(requireKey(caller, stored), update, at, isSameSecretOf(keyHash)),
    };
  }

  /** Replaces the definition, and resets the quota where asked to. */
  async function updateOrgKey(caller: Caller, request: UpdateRequest): Promise<KeyChange> {
    const keyHash = checked(caller, request);
    // Looked at once before the work of hashing, and again inside the transaction, where it counts.
    if (typeof request.input.basicAuthData?.password === 'string') await updatable(caller, request);
    return carryOut(caller, keyHash, await updateStep(caller, request, keyHash, false));
  }

  /** Answers what `updateOrgKey` would do now, and writes nothing. */
  async function previewOrgKeyUpdate(caller: Caller, request: UpdateRequest): Promise<KeyChange> {
    const stored = await updatable(caller, request);
    const sight = await sightOf(stored.keyHash);
    const before = sight ? { ...stored, quota: sight(stored) } : stored;
    const at = now();
    const after = (await updateStep(caller, request, before.keyHash, true)).change(before, at);
    return result(
      at,
      before,
      after,
      diffDefinitions(before, after),
      request.input,
      !quotas.apart || sight !== undefined,
    );
  }

  /** Creates a key; its identifier is made where none is given. CONFLICT where it exists, also deleted and not purged. */
  async function createOrgKey(caller: Caller, { keyID: wanted, input, reason }: CreateRequest): Promise<KeyChange> {
    const { definition: named, secrets } = normalizeDefinition(input);
    const { orgID: owner = caller.orgID, ...definition } = named;
    const orgID = ownerOf(owner);
    if (caller.orgID !== undefined && orgID !== caller.orgID) {
      throw new AppError('FORBIDDEN', 'The credential is bound to another organisation than the definition names.');
    }
    const keyID = checkKeyID(wanted ?? `${orgID}${randomHex()}`);
    const keyHash = hashKeyID(keyID);
    refuseExisting(caller, await store.find(keyHash));
    const kept = await protectSecrets(ports, keyHash, secrets, input.basicAuthData?.hashType);
    const sealedKeyID = seal(keyID, aadFor(keyHash, 'keyID'));
    return carryOut(caller, keyHash, {
      operation: 'create',
      input,
      reason,
      admit: (found) => refuseExisting(caller, found),
      change: (_, at) => newKey({ keyHash, sealedKeyID, orgID, definition, kept, dates: {}, at }),
    });
  }

  /** Deletes a key. It can be restored within the window, and is purged after it. */
  async function deleteOrgKey(caller: Caller, keyID: string, options: ChangeOptions): Promise<KeyChange> {
    return carryOut(caller, hashKeyID(checkKeyID(keyID)), {
      ...options,
      operation: 'delete',
      admit: (found) => requireKey(caller, found),
      change: (stored, at) => ({ ...nextKeyVersion(requireKey(caller, stored), at), deleted: at }),
    });
  }

  /** Puts a deleted key back as it was. NOT_FOUND where it is not deleted, or was for longer than the window. */
  async function restoreOrgKey(caller: Caller, keyID: string, options: ChangeOptions): Promise<KeyChange> {
    return carryOut(caller, hashKeyID(checkKeyID(keyID)), {
      ...options,
      operation: 'restore',
      admit: (found) => requireRestorableKey(caller, found, ports),
      change: (stored, at) => ({
        ...nextKeyVersion(requireRestorableKey(caller, stored, ports), at),
        deleted: undefined,
      }),
    });
  }

  /** Puts the definition of an earlier version back, as a new version. Secrets and the live quota stay as they are. */
  async function revertOrgKey(
    caller: Caller,
    keyID: string,
    toVersion: number,
    options: ChangeOptions,
  ): Promise<KeyChange> {
    const keyHash = hashKeyID(checkKeyID(keyID));
    const { dateCreated } = requireKey(caller, await store.find(keyHash, caller.orgID));
    const definition = await store.definitionAt(keyHash, toVersion);
    if (definition === undefined) throw new AppError('NOT_FOUND', `The key has no version ${toVersion}.`);
    // How the password was hashed then says nothing of the one that is stored now.
    const { hashType, ...basicAuthData } = definition.basicAuthData ?? {};
    const update = {
      definition: definition.basicAuthData ? { ...definition, basicAuthData } : definition,
      secrets: {},
      resetQuota: false,
    };
    return carryOut(caller, keyHash, {
      ...options,
      operation: 'revert',
      // The definition is of the key that was read, and not of one that has been created in its place since.
      admit: (found) => requireKey(caller, found?.dateCreated === dateCreated ? found : undefined),
      change: (stored, at) => applyUpdate(requireKey(caller, stored), update, at, isSameSecretOf(keyHash)),
    });
  }

  return { updateOrgKey, previewOrgKeyUpdate, createOrgKey, deleteOrgKey, restoreOrgKey, revertOrgKey };
}

function entryOf(
  caller: Caller,
  { operation, isReset }: Step,
  reason: string | undefined,
  at: Date,
  before: StoredKey | undefined,
  after: StoredKey,
  isQuotaKnown: boolean,
): KeyRevision {
  return {
    at,
    keyHash: after.keyHash,
    orgID: after.orgID,
    operation,
    actor: { credentialID: caller.credentialID, label: caller.label },
    reason,
    requestID: caller.requestID,
    versionBefore: before?.version ?? 0,
    versionAfter: after.version,
    quotaUsedBeforeReset: isReset === true && isQuotaKnown ? before?.quota.used : undefined,
    changes: diffDefinitions(before, after),
  };
}

function result(
  at: Date,
  before: StoredKey | undefined,
  after: StoredKey,
  changes: readonly FieldChange[],
  input: KeyDefinition | undefined,
  isQuotaKnown: boolean,
): KeyChange {
  return {
    key: after,
    changes,
    warnings: input ? warningsOf(input, at) : [],
    quotaEffect:
      // A key that is new has the quota of its definition, whatever can be reached.
      isQuotaKnown || !before
        ? { before: quotaFigures(before ?? after, at), after: quotaFigures(after, at) }
        : undefined,
    quotaReset: undefined,
  };
}

function refuseExisting(caller: Caller, stored: StoredKey | undefined): undefined {
  if (stored === undefined) return undefined;
  const isDeleted = visibleKey(caller, stored)?.deleted !== undefined;
  const what = isDeleted ? 'was deleted and can be restored' : 'exists already';
  throw new AppError('CONFLICT', `The key ${what}; it is not overwritten.`);
}

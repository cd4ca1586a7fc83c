import type { Issue } from '../lib/errors.js';
import { maxInt64, unixSeconds } from '../lib/int64.js';
import { createAttemptWindows } from '../lib/attempt-windows.js';
import { hasScope, requireKey, requireRestorableKey } from './authorization.js';
import { keepStoredIntegers } from './definition/decimal-strings.js';
import { invalidDefinition } from './definition/issues.js';
import { normalizeDefinition, type Definition } from './definition/normalize.js';
import { patchedDefinition, pathWithLabel, type DefinitionPatch } from './definition/patch.js';
import { freeFormFields, type KeyDefinition } from './definition/schema.js';
import { withEffectiveQuota, type QuotaKey } from './access/effective-access.js';
import { keyWarnings } from './access/policy-warnings.js';
import {
  hashTypeOfStored,
  nextKeyVersion,
  renewalOutOfRange,
  withStoredHashType,
  type QuotaState,
  type StoredKey,
  type StoredSecrets,
} from './key.js';
import { withoutComparison } from './key-diff.js';
import type { CallContext, Ports } from './ports.js';
import { carryOverQuota, resetQuota } from './quota/quota.js';
import {
  checkVersion,
  executeChange,
  previewChange,
  type ChangeCommand,
  type ChangeConditions,
  type KeyChangeOptions,
  type KeyChange,
  type RepeatableChange,
} from './change.js';
import type { ReceiptOf } from './receipt.js';
import { aadFor, protectSecrets, type ProtectedSecrets, type SecretProtectionDeps } from './protect-secrets.js';

/** Changes the definition of a key. */
interface DefinitionChange extends RepeatableChange {
  readonly resetQuota: boolean;
  /** Whether the client reads integers beyond 2^53-1 in free-form JSON as decimal strings, and writes them back so. */
  readonly hasDecimalStrings?: boolean;
}

/** Replaces the definition of a key. */
export interface UpdateRequest extends DefinitionChange {
  readonly input: KeyDefinition;
  /** The hash of a password from another system, instead of a password in the definition. Set by imports only. */
  readonly passwordHash?: string | undefined;
}

/** Changes some fields of the definition. */
export interface PatchRequest extends DefinitionChange {
  readonly patch: DefinitionPatch;
  /** The key, if the caller has read it already. */
  readonly stored?: StoredKey;
}

/** A dry run of an update or of a patch. */
export type PreviewRequest = (UpdateRequest | PatchRequest) & {
  /** Whether to preview the update of a deleted key too, as it would be after it is restored. */
  readonly includeDeleted?: boolean | undefined;
};

/** Maximum number of dry runs per minute in which one credential compares secrets with those of one key. */
const maxComparisons = 10;

/** How an update treats secrets: a preview neither hashes a password nor may it always compare the others. */
interface SecretHandling extends Pick<SecretProtectionDeps, 'hashPassword'> {
  readonly isSame: IsSameSecret;
}

/** The recent dry runs that compared secrets, by credential and key. */
export type SecretComparisons = ReturnType<typeof createSecretComparisons>;

/** Remembers the dry runs of a minute. */
export function createSecretComparisons() {
  return createAttemptWindows(60_000);
}

/**
 * Replaces or patches the definition, and resets the live quota if requested.
 *
 * @throws {AppError} INVALID when the definition is not valid or contradicts the stored key; NOT_FOUND when the caller sees
 * no such key; UNAVAILABLE when too many passwords wait to be hashed; otherwise as `executeChange`.
 */
export async function updateOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: UpdateRequest | PatchRequest,
  receiptOf?: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  caller.deadline?.throwIfExpired();
  const handling = { hashPassword: ports.hashPassword, isSame: secretComparison(ports, keyHash) };
  const find = () => findUpdatable(ports, caller, keyHash, request);
  if ('patch' in request) {
    const stored = request.stored ? requireKey(caller, request.stored) : await find();
    const command = await patchCommand(ports, caller, stored, request, handling);
    return executeChange(ports, caller, keyHash, { ...command, receiptOf });
  }
  // Hashing is expensive: a request that will fail is rejected before it. The transaction checks again.
  if (typeof request.input.basicAuthData?.password === 'string') await find();
  const command = await updateCommand(ports, caller, keyHash, request, handling);
  return executeChange(ports, caller, keyHash, { ...command, receiptOf });
}

/**
 * Returns what `updateOrgKey` would return now, and writes nothing. A secret that the caller may not compare with the stored
 * one is reported as NOT_COMPARED.
 *
 * @throws {AppError} as `updateOrgKey`.
 */
export async function previewOrgKeyUpdate(
  ports: Ports,
  comparisons: SecretComparisons,
  caller: CallContext,
  keyHash: string,
  request: PreviewRequest,
): Promise<KeyChange> {
  caller.deadline?.throwIfExpired();
  const includeDeleted = request.includeDeleted ?? false;
  const authorize = (key: StoredKey | undefined): StoredKey =>
    includeDeleted && key?.deleted !== undefined ? requireRestorableKey(caller, key, ports) : requireKey(caller, key);
  const stored = await findUpdatable(ports, caller, keyHash, request, authorize);
  const isSame = secretComparison(ports, keyHash);
  const allowed: { comparison?: boolean } = {};
  const handling: SecretHandling = {
    hashPassword: placeholderHash,
    isSame: (...secrets) =>
      (allowed.comparison ??= mayCompare(ports, comparisons, caller, keyHash)) && isSame(...secrets),
  };
  const command =
    'patch' in request
      ? await patchCommand(ports, caller, stored, request, handling)
      : await updateCommand(ports, caller, keyHash, request, handling);
  const change = await previewChange(ports, stored, { ...command, authorize });
  return allowed.comparison === false ? { ...change, changes: change.changes.map(withoutComparison) } : change;
}

/** Whether a dry run may show that a sent secret is the stored one. Without a limit, it could be found by guessing. */
function mayCompare({ now }: Ports, comparisons: SecretComparisons, caller: CallContext, keyHash: string): boolean {
  if (!hasScope(caller, 'update')) return false;
  const at = now().getTime();
  const recent = comparisons(`${caller.credentialID} ${keyHash}`, at);
  if (recent.length >= maxComparisons) return false;
  recent.push(at);
  return true;
}

async function findUpdatable(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { expectedVersion }: KeyChangeOptions,
  authorize = (key: StoredKey | undefined) => requireKey(caller, key),
): Promise<StoredKey> {
  const stored = authorize(await ports.store.find(keyHash, caller.orgID));
  await checkVersion(ports, caller, stored, expectedVersion);
  return stored;
}

async function updateCommand(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: UpdateRequest,
  handling: SecretHandling,
): Promise<ChangeCommand<StoredKey>> {
  const { input, passwordHash } = request;
  const prepared = await prepareUpdate(ports, keyHash, input, request, handling);
  const update =
    passwordHash === undefined ? prepared : { ...prepared, secrets: { ...prepared.secrets, passwordHash } };
  return {
    ...commandOf(caller, request),
    warningsOf: ({ at, policies }, orgID) => keyWarnings(input, { orgID, policies }, at),
    apply: (before, conditions) => applyUpdate(before, update, conditions, handling.isSame),
  };
}

async function patchCommand(
  ports: Ports,
  caller: CallContext,
  stored: StoredKey,
  request: PatchRequest,
  handling: SecretHandling,
): Promise<ChangeCommand<StoredKey>> {
  // Patching a large key takes milliseconds. Waits only without time left: an `await` of nothing lets all parallel patches begin.
  const slice = ports.nextSlice();
  if (slice) await slice;
  let input = patchedDefinition(stored.definition, request.patch);
  const update = await prepareUpdate(ports, stored.keyHash, input, request, handling);
  const isUnchangedSince = (key: StoredKey) => key.identity === stored.identity && key.version === stored.version;
  const { authorize, ...command } = commandOf(caller, request);
  return {
    ...command,
    authorize: (current) => {
      const key = authorize(current);
      // A value that the patch leaves is then the same object before and after, which takes no time to compare.
      return isUnchangedSince(key) ? { ...key, definition: stored.definition } : key;
    },
    warningsOf: ({ at, policies }, orgID) =>
      keyWarnings(input, { orgID, policies }, at).map((found) => ({
        ...found,
        path: pathWithLabel(found.path, input),
      })),
    apply: (before, conditions) => {
      if (isUnchangedSince(before)) return applyUpdate(before, update, conditions, handling.isSame);
      // The key has changed since it was read.
      input = patchedDefinition(before.definition, request.patch);
      const { definition } = normalizeDefinition(input);
      return applyUpdate(before, { ...update, definition }, conditions, handling.isSame);
    },
  };
}

function commandOf(caller: CallContext, { resetQuota, expectedVersion, reason }: DefinitionChange) {
  return {
    operation: 'update' as const,
    isReset: resetQuota,
    expectedVersion,
    reason,
    authorize: (stored: StoredKey | undefined) => requireKey(caller, stored),
  };
}

async function prepareUpdate(
  { seal }: Ports,
  keyHash: string,
  input: KeyDefinition,
  { resetQuota, hasDecimalStrings = false }: DefinitionChange,
  { hashPassword }: SecretHandling,
): Promise<PreparedUpdate> {
  const { definition, secrets } = normalizeDefinition(input);
  const hashType = input.basicAuthData?.hashType;
  return {
    definition,
    secrets: await protectSecrets({ seal, hashPassword }, keyHash, secrets, hashType),
    resetQuota,
    hasDecimalStrings,
  };
}

/** A preview shows only that the password changes and its hash type, so that it need not be hashed. */
export async function placeholderHash(_: string, type: string): Promise<string> {
  return Promise.resolve(type === 'argon2id' ? '$argon2id$' : '$2b$');
}

/** An update with its secrets hashed or sealed. */
interface PreparedUpdate {
  readonly definition: Definition;
  readonly secrets: ProtectedSecrets;
  readonly resetQuota: boolean;
  /** Whether decimal strings in free-form JSON may stand for stored integers. */
  readonly hasDecimalStrings: boolean;
}

/** Whether two sealed values contain the same secret. */
type IsSameSecret = (secret: 'jwtSecret' | 'hmacString', a: Uint8Array, b: Uint8Array) => boolean;

/** Compares sealed secrets of one key by opening them. */
export function secretComparison({ open }: Pick<Ports, 'open'>, keyHash: string): IsSameSecret {
  return (secret, a, b) => open(a, aadFor(keyHash, secret)) === open(b, aadFor(keyHash, secret));
}

/**
 * Returns the key after the update. Pure, so that the store may call it inside its transaction.
 *
 * @throws {AppError} INVALID when the definition contradicts the stored key.
 */
export function applyUpdate(
  stored: StoredKey,
  sent: PreparedUpdate,
  { at, policies }: ChangeConditions,
  isSame: IsSameSecret,
): StoredKey {
  const update = sent.hasDecimalStrings ? withStoredIntegers(stored, sent) : sent;
  const secrets = nextSecrets(stored.secrets, update.secrets, isSame);
  const issues = [...ownerIssues(stored, update), ...passwordIssues(secrets, update)];
  const { orgID } = stored;
  const { definition: effective } = withEffectiveQuota({ orgID, definition: update.definition }, policies);
  const seconds = unixSeconds(at);
  if (update.resetQuota && seconds + (update.definition.quotaRenewalRate ?? 0n) > maxInt64)
    issues.push(renewalOutOfRange);
  const quota = update.resetQuota
    ? resetQuota(stored.quota, effective.quotaRenewalRate ?? 0n, seconds)
    : carryOverQuota(withEffectiveQuota(stored, policies), effective, at);
  if (issues.length > 0) throw invalidDefinition(issues);

  const definition = nextDefinition(update, secrets, quota, effective);
  return { ...nextKeyVersion(stored, at), definition, secrets, quota };
}

function ownerIssues({ orgID }: StoredKey, { definition }: PreparedUpdate): Issue[] {
  if (definition.orgID === undefined || definition.orgID === orgID) return [];
  return [{ path: ['orgID'], code: 'ORGANIZATION_CHANGED', message: 'must be that of the stored key, or left out' }];
}

function passwordIssues({ passwordHash }: StoredSecrets, { definition, secrets }: PreparedUpdate): Issue[] {
  const hashType = definition.basicAuthData?.hashType;
  if (secrets.passwordHash !== undefined || passwordHash === undefined || hashType === undefined) return [];
  if (hashType === hashTypeOfStored(passwordHash)) return [];
  const message = 'differs from how the stored password is hashed; send the `password` with it';
  return [{ path: ['basicAuthData', 'hashType'], code: 'PASSWORD_NEEDED', message }];
}

function nextSecrets(stored: StoredSecrets, changes: ProtectedSecrets, isSame: IsSameSecret): StoredSecrets {
  const next = <T>(change: T | null | undefined, current: T | undefined) =>
    change === undefined ? current : (change ?? undefined);
  // Sealing is randomized. The stored value stays if the secret is the same, so that a repeated update changes nothing.
  const sealed = (name: 'jwtSecret' | 'hmacString') => {
    const [before, after] = [stored[name], changes[name]];
    return before && after && isSame(name, before, after) ? before : next(after, before);
  };
  return {
    passwordHash: next(changes.passwordHash, stored.passwordHash),
    jwtSecret: sealed('jwtSecret'),
    hmacString: sealed('hmacString'),
  };
}

function withStoredIntegers({ definition: stored }: StoredKey, update: PreparedUpdate): PreparedUpdate {
  const definition = { ...update.definition };
  for (const name of freeFormFields) {
    if (!(name in definition)) continue;
    const kept = keepStoredIntegers(Reflect.get(stored, name), Reflect.get(definition, name));
    Object.assign(definition, { [name]: kept });
  }
  return { ...update, definition };
}

/** The limits in a definition are the key's own; what a reset writes into it is the state of the counter. */
function nextDefinition(
  update: PreparedUpdate,
  secrets: StoredSecrets,
  quota: QuotaState,
  { quotaMax, quotaRenewalRate = 0n }: QuotaKey['definition'],
): Definition {
  const { orgID, ...definition } = update.definition;
  const next = withStoredHashType(definition, secrets);
  if (!update.resetQuota) return next;
  if (quotaMax !== undefined) next.quotaRemaining = quotaMax;
  if (quotaRenewalRate > 0n && quota.renews !== undefined) next.quotaRenews = quota.renews;
  return next;
}

import { AppError, errorCodeOf, pathText } from '../lib/errors.js';
import { isStorableText } from '../lib/text.js';
import type { Warning } from './definition/warnings.js';
import type { FieldChange, Operation, StoredKey } from './key.js';
import { definitionChanges, diffDefinitions, isSecretChange, revisionOf } from './key-diff.js';
import { actorOf } from './actor.js';
import { withEffectiveQuota } from './access/effective-access.js';
import type { Policies } from './access/policy.js';
import { requireKey } from './authorization.js';
import type { AcceptedAttempt, AuditEvent, AuditLog, CallContext, KeyStore, KeyTransition, Ports } from './ports.js';
import type { CounterSnapshot, ResetStatus } from './quota/external-counters.js';
import { quotaFigures, type QuotaFigures } from './quota/quota.js';
import type { ReceiptOf } from './receipt.js';

/** The version that a change is meant for. If there are several, one of them must be current. */
export type ExpectedVersion = number | readonly number[];

/** Options of every change. */
export interface KeyChangeOptions {
  /** Reject the change if the key has another version. */
  readonly expectedVersion?: ExpectedVersion | undefined;
  /** The reason for the change, kept in the history. */
  readonly reason?: string | undefined;
}

/** A change of an existing key by a command of the key service, which repeats it at most once with an idempotency key. */
export interface RepeatableChange extends KeyChangeOptions {
  readonly idempotencyKey?: string | undefined;
}

/** What a change is computed with: its time and the known policies. */
export interface ChangeConditions {
  readonly at: Date;
  readonly policies: Policies;
}

type WarningsOf = (conditions: ChangeConditions, orgID: string) => readonly Warning[];

/** One kind of change. `authorize` and `apply` are pure, because the store may call them again. */
export interface ChangeCommand<Before extends StoredKey | undefined> extends KeyChangeOptions {
  readonly operation: Operation;
  /** As in `KeyRevision`. */
  readonly revertedTo?: number;
  /** The warnings about the definition that the caller sent. */
  readonly warningsOf?: WarningsOf;
  readonly isReset?: boolean;
  /** Makes the receipt that is written with the change. */
  readonly receiptOf?: ReceiptOf<KeyChange> | undefined;
  /** Returns the key to change, or throws if the caller may not change it. */
  readonly authorize: (stored: StoredKey | undefined) => Before;
  /** Returns the key after the change. */
  readonly apply: (before: Before, conditions: ChangeConditions) => StoredKey;
}

/** The result of a change or of its preview. */
export interface KeyChange {
  readonly key: StoredKey;
  /** False if the key has this definition already: it keeps its version and history. */
  readonly isChanged: boolean;
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly Warning[];
  /** The live effective quota before and after; undefined if the external counter was unreachable. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined if no reset was requested, or for a preview. */
  readonly quotaReset: ResetStatus | undefined;
}

/**
 * Executes a command: authorization, version check, key and history in one transaction. The change is durable when the promise resolves. A command that would change nothing and resets
 * nothing leaves the key as it is, with its version and without a history entry.
 *
 * @throws {AppError} CONFLICT when the key has another version than expected; INTERNAL when its row fails the integrity
 * check; UNAVAILABLE when storage is busy or the time of the caller is up; and what `authorize` and `apply` throw.
 */
export async function executeChange<Before extends StoredKey | undefined>(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  command: ChangeCommand<Before>,
): Promise<KeyChange> {
  const { store, externalCounters } = ports;
  const { operation, revertedTo, expectedVersion, reason, warningsOf, isReset = false } = command;
  const counter = await readCounter(ports, keyHash);
  const isQuotaKnown = counter !== undefined;
  const conditions: ChangeConditions = { at: ports.now(), policies: await ports.policies.current() };
  const { at, policies } = conditions;
  // A property, because the store may apply the change several times.
  const applied: { before?: StoredKey | undefined; result?: KeyChange } = {};
  const apply = (stored: StoredKey | undefined): KeyTransition | undefined => {
    const authorized = command.authorize(withCounter(stored, counter));
    const before: StoredKey | undefined = authorized;
    applied.before = before;
    if (before) assertExpectedVersion(before, expectedVersion);
    const next = command.apply(authorized, conditions);
    caller.deadline?.markCommitting();
    const revision = revisionOf(before, next, {
      at,
      operation,
      revertedTo,
      actor: actorOf(caller),
      reason,
      requestID: caller.requestID,
      quotaUsedBeforeReset: isReset && isQuotaKnown ? before?.quota.used : undefined,
    });
    if (before && isUnchanged(before, next, revision.changes, isReset)) return undefined;
    const effective = {
      before: before && withEffectiveQuota(before, policies),
      after: withEffectiveQuota(next, policies),
    };
    const quotaChange =
      effective.before && externalCounters?.pendingChange(effective.before, effective.after, at, isReset);
    applied.result = resultOf(conditions, before, next, revision.changes, warningsOf, isQuotaKnown);
    const receipt = command.receiptOf?.({
      ...applied.result,
      quotaReset: isReset ? (quotaChange ? 'PENDING' : 'APPLIED') : undefined,
    });
    return { next, revision, quotaChange, receipt };
  };
  try {
    // A new key must not take the identifier of another organization's key, so creation is not limited to one.
    const scope = operation === 'create' ? undefined : caller.orgID;
    const written = await store.update(keyHash, apply, scope);
    const { before, result } = applied;
    if (!written || !result) return unchangedResult(conditions, requireKey(caller, before), warningsOf, isQuotaKnown);
    const status = (written.quotaChange && (await externalCounters?.applyPending(keyHash))) ?? 'APPLIED';
    return { ...result, quotaReset: isReset ? status : undefined };
  } catch (error) {
    throw await explainConflict(ports, caller, error, keyHash, expectedVersion);
  }
}

/**
 * Returns the result that `executeChange` would have for this key, and writes nothing.
 *
 * @throws {AppError} what `authorize` and `apply` throw.
 */
export async function previewChange(
  ports: Ports,
  stored: StoredKey,
  command: ChangeCommand<StoredKey>,
): Promise<KeyChange> {
  const counter = await readCounter(ports, stored.keyHash);
  const before = command.authorize(withCounter(stored, counter));
  const conditions: ChangeConditions = { at: ports.now(), policies: await ports.policies.current() };
  // A large definition takes milliseconds, and one operation may preview several. To wait while time is left would begin all.
  const toApply = ports.nextSlice();
  if (toApply) await toApply;
  const after = command.apply(before, conditions);
  const isQuotaKnown = counter !== undefined;
  const toCompare = ports.nextSlice();
  if (toCompare) await toCompare;
  const changes = diffDefinitions(before, after);
  return isUnchanged(before, after, changes, command.isReset ?? false)
    ? unchangedResult(conditions, before, command.warningsOf, isQuotaKnown)
    : resultOf(conditions, before, after, changes, command.warningsOf, isQuotaKnown);
}

/**
 * Checks the version of a key that was read, before expensive work.
 *
 * @throws {AppError} CONFLICT with the fields that have changed since.
 */
export async function checkVersion(
  ports: Ports,
  caller: CallContext,
  stored: StoredKey,
  expected: ExpectedVersion | undefined,
): Promise<void> {
  try {
    assertExpectedVersion(stored, expected);
  } catch (error) {
    throw await explainConflict(ports, caller, error, stored.keyHash, expected);
  }
}

/** The live counter; undefined if it is unreachable, which does not prevent a change. */
async function readCounter({ externalCounters }: Ports, keyHash: string): Promise<CounterSnapshot | undefined> {
  if (!externalCounters) return ({ quota }) => quota;
  try {
    const [counter] = await externalCounters.readCounters([keyHash]);
    return counter;
  } catch (error) {
    if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
    return undefined;
  }
}

function withCounter(stored: StoredKey | undefined, counter: CounterSnapshot | undefined): StoredKey | undefined {
  if (!stored || !counter) return stored;
  return { ...stored, quota: counter(stored) };
}

/** Whether a change leaves a key as it is. The order of access rights and of members of free-form JSON does not count. */
function isUnchanged(before: StoredKey, after: StoredKey, changes: readonly FieldChange[], isReset: boolean): boolean {
  return changes.length === 0 && !isReset && before.deleted === after.deleted;
}

function unchangedResult(
  conditions: ChangeConditions,
  key: StoredKey,
  warningsOf: WarningsOf | undefined,
  isQuotaKnown: boolean,
): KeyChange {
  return { ...resultOf(conditions, key, key, [], warningsOf, isQuotaKnown), isChanged: false };
}

function resultOf(
  conditions: ChangeConditions,
  before: StoredKey | undefined,
  after: StoredKey,
  changes: readonly FieldChange[],
  warningsOf: WarningsOf | undefined,
  isQuotaKnown: boolean,
): KeyChange {
  const { at, policies } = conditions;
  const figuresOf = (key: StoredKey) => quotaFigures(withEffectiveQuota(key, policies), at);
  return {
    key: after,
    isChanged: true,
    changes,
    warnings: warningsOf?.(conditions, after.orgID) ?? [],
    quotaEffect:
      // The quota of a new key comes from its definition, so that no counter is needed.
      isQuotaKnown || !before ? { before: figuresOf(before ?? after), after: figuresOf(after) } : undefined,
    quotaReset: undefined,
  };
}

const maxReasonCharacters = 500;

/**
 * Checks the reason for a change.
 *
 * @throws {AppError} INVALID with the path `reason`.
 */
export function assertReason(reason: string | undefined): void {
  if (reason === undefined || (isStorableText(reason) && reason.length <= maxReasonCharacters)) return;
  const [code, message] = isStorableText(reason)
    ? ['TOO_LONG', `must have at most ${maxReasonCharacters} characters`]
    : ['MALFORMED_TEXT', 'must be well-formed Unicode without NUL'];
  throw new AppError('INVALID', 'The reason is not valid.', { issues: [{ path: ['reason'], code, message }] });
}

/**
 * Optimistic locking.
 *
 * @throws {AppError} CONFLICT when the key has another version than expected. Undefined accepts any version.
 */
function assertExpectedVersion(stored: StoredKey, expected: ExpectedVersion | undefined): void {
  if (expected === undefined) return;
  const versions = versionsOf(expected);
  if (versions.includes(stored.version)) return;
  throw new AppError(
    'CONFLICT',
    `The key has version ${stored.version}; the expected version is ${versions.join(' or ')}.`,
  );
}

function versionsOf(expected: ExpectedVersion): readonly number[] {
  return typeof expected === 'number' ? [expected] : expected;
}

/** At most this many changes are read to find the secrets that have changed. */
const maxRevisionsRead = 100;

/** Returns the error to throw: a CONFLICT with the fields that have changed since the newest expected version, or unchanged. */
async function explainConflict(
  { store, reportError }: Ports,
  caller: CallContext,
  error: unknown,
  keyHash: string,
  expected: ExpectedVersion | undefined,
): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== 'CONFLICT' || expected === undefined) return error;
  try {
    return await withChangedFields(store, error, keyHash, expected);
  } catch (failure) {
    // The change was rejected in any case; the paths are only an explanation.
    if (errorCodeOf(failure) === 'INTERNAL') reportError?.(failure, caller.requestID);
    return error;
  }
}

async function withChangedFields(
  store: KeyStore,
  error: AppError,
  keyHash: string,
  expected: ExpectedVersion,
): Promise<AppError> {
  const current = await store.find(keyHash);
  if (!current) return error;
  const version = Math.max(...versionsOf(expected).filter((past) => past < current.version));
  const expectedDefinition = await store.definitionAt(keyHash, version);
  if (!expectedDefinition) return error;
  const changes = [
    ...definitionChanges(expectedDefinition, current.definition),
    ...(await secretsChangedSince(store, current, version)),
  ];
  const issues = changes.map(({ path }) => ({
    path,
    code: 'CHANGED_SINCE',
    message: `has changed since version ${version}`,
  }));
  return new AppError('CONFLICT', error.message, { issues, cause: error });
}

/** The secrets that the history reports as changed; it does not keep their values. */
async function secretsChangedSince(store: KeyStore, key: StoredKey, version: number): Promise<FieldChange[]> {
  const range = { after: version, last: true, limit: maxRevisionsRead, asOf: key };
  const revisions = await store.historyOf(key.keyHash, range);
  const changes = revisions.flatMap((revision) => revision.changes).filter(isSecretChange);
  return [...new Map(changes.map((change) => [pathText(change.path), change])).values()];
}

const auditedErrors = new WeakSet<Error>();

/** Whether the error, or one of its causes, is already in the audit log. Other errors were thrown before the domain. */
export function isAudited(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return auditedErrors.has(error) || isAudited(error.cause);
}

interface AuditedOperation<Request, KeyHash extends string | undefined, Result> {
  readonly event?: AuditEvent['event'];
  /** Name in the audit log. */
  readonly operation: string;
  /** Checks and hashes the key identifier of a request; undefined if the key has none yet. */
  readonly identify: (request: Request) => KeyHash;
  /** Returns the credential or the webhook that a request is for. */
  readonly targetOf?: (request: Request) => Pick<AuditEvent, 'credentialID' | 'webhookID'>;
  readonly run: (caller: CallContext, keyHash: KeyHash, request: Request) => Promise<Result>;
  readonly acceptedOf: (result: Result) => AcceptedAttempt & { readonly keyHash?: string };
}

/** Returns the operation with an audit event for each attempt, accepted or rejected. */
export function withAudit<Request, KeyHash extends string | undefined, Result>(
  audit: AuditLog | undefined,
  { event, operation, identify, targetOf, run, acceptedOf }: AuditedOperation<Request, KeyHash, Result>,
): (caller: CallContext, request: Request) => Promise<Result> {
  return async (caller, request) => {
    const attempt = { event, operation, requestID: caller.requestID, principal: caller, ...targetOf?.(request) };
    let identified: KeyHash | undefined;
    try {
      identified = identify(request);
      const result = await run(caller, identified, request);
      const { keyHash = identified, ...outcome } = acceptedOf(result);
      audit?.({ ...attempt, keyHash, outcome });
      return result;
    } catch (error) {
      audit?.({ ...attempt, keyHash: identified, outcome: { error } });
      if (error instanceof Error) auditedErrors.add(error);
      throw error;
    }
  };
}

import { AppError, errorCodeOf } from '../lib/errors.js';
import { isStorableText } from '../lib/text.js';
import type { KeyDefinition } from './definition/schema.js';
import { warningsOf, type Warning } from './definition/warnings.js';
import type { FieldChange, Operation, StoredKey } from './key.js';
import { diffDefinitions, revisionOf } from './key-diff.js';
import { requireKey } from './authorization.js';
import type { CallContext, KeyTransition, Ports } from './ports.js';
import type { CounterSnapshot, ResetStatus } from './quota/external-counters.js';
import { quotaFigures, type QuotaFigures } from './quota/quota.js';
import type { ReceiptOf } from './idempotency.js';
import { assertExpectedVersion, createConflictExplainer, type ExpectedVersion } from './conflict.js';

/** Options of every change. */
export interface KeyChangeOptions {
  /** Reject the change if the key has another version. */
  readonly expectedVersion?: ExpectedVersion | undefined;
  /** The reason for the change, kept in the history. */
  readonly reason?: string | undefined;
}

/** One kind of change. `authorize` and `apply` are pure, because the store may call them again. */
export interface ChangeCommand<Before extends StoredKey | undefined> extends KeyChangeOptions {
  readonly operation: Operation;
  /** The definition that the caller sent, for its warnings. */
  readonly input?: KeyDefinition;
  readonly isReset?: boolean;
  /** Makes the receipt that is written with the change. */
  readonly receiptOf?: ReceiptOf<KeyChange> | undefined;
  /** Returns the key to change, or throws if the caller may not change it. */
  readonly authorize: (stored: StoredKey | undefined) => Before;
  /** Returns the key after the change. */
  readonly apply: (before: Before, at: Date) => StoredKey;
}

/** The result of a change or of its preview. */
export interface KeyChange {
  readonly key: StoredKey;
  /** False if the key has this definition already: it keeps its version and history. */
  readonly isChanged: boolean;
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly Warning[];
  /** The live quota before and after; undefined if the external counter was unreachable. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined if no reset was requested, or for a preview. */
  readonly quotaReset: ResetStatus | undefined;
}

/** See {@link createChangeExecutor}. */
export type ChangeExecutor = ReturnType<typeof createChangeExecutor>;

/** Runs change commands in the store: authorization, version check, key and history in one transaction. */
export function createChangeExecutor(ports: Ports) {
  const { store, externalCounters, now } = ports;
  const explainConflict = createConflictExplainer(ports);

  /**
   * Executes the command. The change is durable when the promise resolves. A command that would change nothing and resets
   * nothing leaves the key as it is, with its version and without a history entry.
   *
   * @throws {AppError} CONFLICT when the key has another version than expected; INTERNAL when its row fails the integrity
   * check; UNAVAILABLE when storage is busy or the time of the caller is up; and what `authorize` and `apply` throw.
   */
  async function executeChange<Before extends StoredKey | undefined>(
    caller: CallContext,
    keyHash: string,
    command: ChangeCommand<Before>,
  ): Promise<KeyChange> {
    const { operation, expectedVersion, reason, input, isReset = false } = command;
    const counter = await readCounter(keyHash);
    const isQuotaKnown = counter !== undefined;
    const at = now();
    // A property, because the store may apply the change several times.
    const applied: { before?: StoredKey | undefined } = {};
    const apply = (stored: StoredKey | undefined): KeyTransition | undefined => {
      const authorized = command.authorize(withCounter(stored, counter));
      const before: StoredKey | undefined = authorized;
      applied.before = before;
      if (before) assertExpectedVersion(before, expectedVersion);
      const next = command.apply(authorized, at);
      caller.deadline?.markCommitting();
      const revision = revisionOf(before, next, {
        at,
        operation,
        actor: { credentialID: caller.credentialID, label: caller.label },
        reason,
        requestID: caller.requestID,
        quotaUsedBeforeReset: isReset && isQuotaKnown ? before?.quota.used : undefined,
      });
      if (before && isUnchanged(before, next, revision.changes, isReset)) return undefined;
      const quotaChange = before && externalCounters?.pendingChange(before, next, at, isReset);
      const receipt = command.receiptOf?.({
        ...resultOf(at, before, next, revision.changes, input, isQuotaKnown),
        quotaReset: isReset ? (quotaChange ? 'PENDING' : 'APPLIED') : undefined,
      });
      return { next, revision, quotaChange, receipt };
    };
    try {
      // A new key must not take the identifier of another organisation's key, so creation is not limited to one.
      const scope = operation === 'create' ? undefined : caller.orgID;
      const written = await store.update(keyHash, apply, scope);
      const { before } = applied;
      if (!written) return unchangedResult(at, requireKey(caller, before), input, isQuotaKnown);
      const { next, revision, quotaChange } = written;
      const status = (quotaChange && (await externalCounters?.applyPending(keyHash))) ?? 'APPLIED';
      return {
        ...resultOf(at, before, next, revision.changes, input, isQuotaKnown),
        quotaReset: isReset ? status : undefined,
      };
    } catch (error) {
      throw await explainConflict(caller, error, keyHash, expectedVersion);
    }
  }

  /**
   * Returns the result that `executeChange` would have for this key, and writes nothing.
   *
   * @throws {AppError} what `authorize` and `apply` throw.
   */
  async function previewChange(stored: StoredKey, command: ChangeCommand<StoredKey>): Promise<KeyChange> {
    const counter = await readCounter(stored.keyHash);
    const before = command.authorize(withCounter(stored, counter));
    const at = now();
    const after = command.apply(before, at);
    const isQuotaKnown = counter !== undefined;
    const changes = diffDefinitions(before, after);
    return isUnchanged(before, after, changes, command.isReset ?? false)
      ? unchangedResult(at, before, command.input, isQuotaKnown)
      : resultOf(at, before, after, changes, command.input, isQuotaKnown);
  }

  /**
   * Checks the version of a key that was read, before expensive work.
   *
   * @throws {AppError} CONFLICT with the fields that have changed since.
   */
  async function checkVersion(
    caller: CallContext,
    stored: StoredKey,
    expected: ExpectedVersion | undefined,
  ): Promise<void> {
    try {
      assertExpectedVersion(stored, expected);
    } catch (error) {
      throw await explainConflict(caller, error, stored.keyHash, expected);
    }
  }

  /** The live counter; undefined if it is unreachable, which does not prevent a change. */
  async function readCounter(keyHash: string): Promise<CounterSnapshot | undefined> {
    if (!externalCounters) return ({ quota }) => quota;
    try {
      const [counter] = await externalCounters.readCounters([keyHash]);
      return counter;
    } catch (error) {
      if (errorCodeOf(error) !== 'UNAVAILABLE') throw error;
      return undefined;
    }
  }

  return { executeChange, previewChange, checkVersion };
}

function withCounter(stored: StoredKey | undefined, counter: CounterSnapshot | undefined): StoredKey | undefined {
  if (!stored || !counter) return stored;
  return { ...stored, quota: counter(stored) };
}

/** Whether a change leaves a key as it is. The order of access rights and of members of free-form JSON does not count. */
function isUnchanged(before: StoredKey, after: StoredKey, changes: readonly FieldChange[], isReset: boolean): boolean {
  return changes.length === 0 && !isReset && before.deleted === after.deleted;
}

function unchangedResult(at: Date, key: StoredKey, input: KeyDefinition | undefined, isQuotaKnown: boolean): KeyChange {
  return { ...resultOf(at, key, key, [], input, isQuotaKnown), isChanged: false };
}

function resultOf(
  at: Date,
  before: StoredKey | undefined,
  after: StoredKey,
  changes: readonly FieldChange[],
  input: KeyDefinition | undefined,
  isQuotaKnown: boolean,
): KeyChange {
  return {
    key: after,
    isChanged: true,
    changes,
    warnings: input ? warningsOf(input, at) : [],
    quotaEffect:
      // The quota of a new key comes from its definition, so that no counter is needed.
      isQuotaKnown || !before
        ? { before: quotaFigures(before ?? after, at), after: quotaFigures(after, at) }
        : undefined,
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

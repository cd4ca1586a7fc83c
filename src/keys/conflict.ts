import { AppError, errorCodeOf, pathText } from '../lib/errors.js';
import type { FieldChange, StoredKey } from './key.js';
import { definitionChanges, isSecretChange } from './key-diff.js';
import type { CallContext, Ports } from './ports.js';

/** The version that a change is meant for. If there are several, one of them must be current. */
export type ExpectedVersion = number | readonly number[];

/**
 * Optimistic locking.
 *
 * @throws {AppError} CONFLICT when the key has another version than expected. Undefined accepts any version.
 */
export function assertExpectedVersion(stored: StoredKey, expected: ExpectedVersion | undefined): void {
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

/** Returns a function that adds to a CONFLICT the fields that have changed since the newest expected version. */
export function createConflictExplainer({ store, reportError }: Pick<Ports, 'store' | 'reportError'>) {
  /** Returns the error to throw: with the changed fields as its issues, or unchanged if they cannot be found. */
  return async function explainConflict(
    caller: CallContext,
    error: unknown,
    keyHash: string,
    expected: ExpectedVersion | undefined,
  ): Promise<unknown> {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT' || expected === undefined) return error;
    try {
      return await withChangedFields(error, keyHash, expected);
    } catch (failure) {
      // The change was rejected in any case; the paths are only an explanation.
      if (errorCodeOf(failure) === 'INTERNAL') reportError?.(failure, caller.requestID);
      return error;
    }
  };

  async function withChangedFields(error: AppError, keyHash: string, expected: ExpectedVersion): Promise<AppError> {
    const current = await store.find(keyHash);
    if (!current) return error;
    const version = Math.max(...versionsOf(expected).filter((past) => past < current.version));
    const expectedDefinition = await store.definitionAt(keyHash, version);
    if (!expectedDefinition) return error;
    const changes = [
      ...definitionChanges(expectedDefinition, current.definition),
      ...(await secretsChangedSince(current, version)),
    ];
    const issues = changes.map(({ path }) => ({
      path,
      code: 'CHANGED_SINCE',
      message: `has changed since version ${version}`,
    }));
    return new AppError('CONFLICT', error.message, { issues, cause: error });
  }

  /** The secrets that the history reports as changed; it does not keep their values. */
  async function secretsChangedSince(key: StoredKey, version: number): Promise<FieldChange[]> {
    const range = { after: version, last: true, limit: maxRevisionsRead, asOf: key };
    const revisions = await store.historyOf(key.keyHash, range);
    const changes = revisions.flatMap((revision) => revision.changes).filter(isSecretChange);
    return [...new Map(changes.map((change) => [pathText(change.path), change])).values()];
  }
}

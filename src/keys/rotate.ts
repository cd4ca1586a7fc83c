import { AppError } from '../lib/errors.js';
import { serviceActor } from './actor.js';
import { requireKey } from './authorization.js';
import { checkVersion, executeChange, type KeyChange, type RepeatableChange } from './change.js';
import { identifierHashOf, rotationOf } from './identifiers.js';
import { revisionOf } from './key-diff.js';
import { checkKeyID, checkKeyIDPrefix, generatedKeyID } from './key-id.js';
import { nextKeyVersion, type StoredKey } from './key.js';
import type { CallContext, KeyTransition, Ports } from './ports.js';
import { aadFor } from './protect-secrets.js';
import type { ReceiptOf } from './receipt.js';

/** Gives a key another identifier. */
export interface RotateRequest extends RepeatableChange {
  /** How long the identifier before is accepted, in seconds. Default: {@link defaultOverlapSeconds}. */
  readonly overlapSeconds?: number | undefined;
  /** Retire the identifier before earlier: when the new one was used, and it was not for so many seconds. Default: not. */
  readonly silenceSeconds?: number | undefined;
  /** As for a creation. */
  readonly keyIDPrefix?: string | undefined;
}

/** The default overlap of a rotation: a day. */
export const defaultOverlapSeconds = 86_400;

/** The longest overlap of a rotation: 90 days. */
export const maxOverlapSeconds = 90 * 86_400;

/** The shortest silence: uses of all processes are known after some seconds. */
export const minSilenceSeconds = 60;

/**
 * Gives a key a generated identifier. The one before is accepted until the overlap ends; without an overlap, it is rejected
 * at once.
 *
 * @throws {AppError} INVALID when the overlap, the silence or the prefix is not valid; NOT_FOUND when the caller sees no such key; CONFLICT
 * with the code ROTATION_RUNNING while an earlier rotation runs; otherwise as `executeChange`.
 */
export async function rotateOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { overlapSeconds = defaultOverlapSeconds, silenceSeconds, keyIDPrefix, expectedVersion, reason }: RotateRequest,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  const { store, hashKeyID, randomHex, seal } = ports;
  assertSeconds('overlap', overlapSeconds, 0);
  if (silenceSeconds !== undefined) assertSeconds('silence', silenceSeconds, minSilenceSeconds);
  const prefix = keyIDPrefix === undefined ? undefined : checkKeyIDPrefix(keyIDPrefix);
  const stored = requireKey(caller, await store.find(keyHash, caller.orgID));
  await checkVersion(ports, caller, stored, expectedVersion);
  const keyID = checkKeyID(generatedKeyID(prefix ?? stored.orgID, randomHex()));
  const current = hashKeyID(keyID);
  // With a hash of 32 bits, another key may have it.
  if ((await store.findMany([current])).length > 0 || (await store.namesOf([current])).size > 0) throw hashTaken();
  const sealedKeyID = seal(keyID, aadFor(keyHash, 'keyID'));
  return executeChange(ports, caller, keyHash, {
    operation: 'rotate',
    expectedVersion,
    reason,
    receiptOf,
    // If the key was purged and created again meanwhile, the request was for the earlier key.
    authorize: (found) => requireKey(caller, found?.identity === stored.identity ? found : undefined),
    apply: (before, { at }) => {
      if (rotationOf(before, at)) throw rotationRuns();
      const { sealedKeyID: retiringID } = before;
      const retiresAt = new Date(at.getTime() + overlapSeconds * 1000);
      const silence = silenceSeconds === undefined ? undefined : { seconds: silenceSeconds, since: at };
      const retiring = { keyHash: identifierHashOf(before), sealedKeyID: retiringID, retiresAt, silence };
      const identifiers = { current, ...(overlapSeconds > 0 && { retiring }) };
      return { ...nextKeyVersion(before, at), sealedKeyID, identifiers };
    },
  });
}

/**
 * Ends a rotation: the new identifier is rejected at once, also if it was used, and the one before stays.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such key; CONFLICT with the code NO_ROTATION when none runs; otherwise
 * as `executeChange`.
 */
export async function cancelKeyRotation(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { expectedVersion, reason }: RepeatableChange,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  return executeChange(ports, caller, keyHash, {
    operation: 'cancel_rotation',
    expectedVersion,
    reason,
    receiptOf,
    authorize: (stored) => requireKey(caller, stored),
    apply: (before, { at }) => {
      const retiring = rotationOf(before, at);
      if (!retiring) throw noRotation();
      const { keyHash: current, sealedKeyID } = retiring;
      return { ...withIdentifier(nextKeyVersion(before, at), current), sealedKeyID };
    },
  });
}

/** The key with one identifier, that with this hash. */
function withIdentifier(key: StoredKey, current: string): StoredKey {
  return { ...key, identifiers: current === key.keyHash ? undefined : { current } };
}

/** Is called with a key whose identifier could not be retired. */
type ReportFailure = (keyHash: string, error: unknown) => void;

/**
 * Records the retirement of the identifiers whose overlap has ended. They are rejected from that time on, also before this. A
 * key that cannot be read is reported and does not delay the others.
 *
 * @returns how many retired
 */
export async function retireIdentifiers(ports: Pick<Ports, 'store' | 'now'>, report: ReportFailure): Promise<number> {
  let count = 0;
  for await (const keyHashes of ports.store.retiring(ports.now())) {
    for (const keyHash of keyHashes) if (await retire(ports, keyHash, report)) count += 1;
  }
  return count;
}

/**
 * Retires the identifiers that were silent for as long as their rotations say, although the overlap has not ended. The use of
 * identifiers is not signed, but whether one may retire so is. Errors as for `retireIdentifiers`.
 *
 * @returns how many retired
 */
export async function retireSilentIdentifiers(
  ports: Pick<Ports, 'store' | 'now'>,
  report: ReportFailure,
): Promise<number> {
  let count = 0;
  for await (const found of ports.store.silent(ports.now())) {
    for (const { keyHash, hash } of found) if (await retire(ports, keyHash, report, hash)) count += 1;
  }
  return count;
}

/** Whether the identifier of a key retired. A failure is reported. */
async function retire(
  { store, now }: Pick<Ports, 'store' | 'now'>,
  keyHash: string,
  report: ReportFailure,
  silent?: string,
): Promise<boolean> {
  try {
    return (await store.update(keyHash, (stored) => retirement(stored, now(), silent))) !== undefined;
  } catch (error) {
    report(keyHash, error);
    return false;
  }
}

/** @param silent - the hash of an identifier that is silent, and may retire before its time */
function retirement(stored: StoredKey | undefined, at: Date, silent?: string): KeyTransition | undefined {
  const { current, retiring } = stored?.identifiers ?? {};
  if (!stored || stored.deleted || current === undefined || !retiring) return undefined;
  const isSilent = retiring.silence !== undefined && retiring.keyHash === silent;
  if (rotationOf(stored, at) && !isSilent) return undefined;
  const next = withIdentifier(nextKeyVersion(stored, at), current);
  const revision = revisionOf(stored, next, {
    at,
    operation: 'retire_identifier',
    actor: serviceActor,
    reason: isSilent ? `no request with the old identifier for ${retiring.silence?.seconds} seconds` : undefined,
    requestID: '',
    quotaUsedBeforeReset: undefined,
  });
  return { next, revision };
}

function assertSeconds(name: 'overlap' | 'silence', seconds: number, min: number): void {
  if (Number.isInteger(seconds) && seconds >= min && seconds <= maxOverlapSeconds) return;
  const message = `must be from ${min} to ${maxOverlapSeconds} seconds, which are 90 days`;
  throw new AppError('INVALID', `The ${name} is not valid.`, {
    issues: [{ path: [name], code: 'OUT_OF_RANGE', message }],
  });
}

function rotationRuns(): AppError {
  const message = 'runs already: wait until the previous identifier retires, or cancel it';
  return new AppError('CONFLICT', 'A rotation of the key runs already.', {
    issues: [{ path: ['rotation'], code: 'ROTATION_RUNNING', message }],
  });
}

function hashTaken(): AppError {
  return new AppError('CONFLICT', 'Another key has the hash of the new identifier; repeat the request.');
}

function noRotation(): AppError {
  return new AppError('CONFLICT', 'No rotation of the key runs.', {
    issues: [{ path: ['rotation'], code: 'NO_ROTATION', message: 'does not run' }],
  });
}

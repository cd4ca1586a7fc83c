import { AppError } from '../lib/errors.js';
import type { CallContext, Ports } from './ports.js';
import type { ReceiptOf, ReceiptSource } from './receipt.js';

/** A request that may have an idempotency key. */
interface IdempotentRequest<Result> {
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
  /** Everything that a repeated request must have in common with the first. */
  readonly body: unknown;
  /** Where the receipt is kept, if not in the store. */
  readonly receipts?: ReceiptSource | undefined;
  /** Whether a result is that of a change. Default: always. */
  readonly hasEffect?: (result: Result) => boolean;
}

/** What a receipt contains, sealed. */
interface ReceiptContent {
  readonly fingerprint: string;
  readonly result: unknown;
}

/** How long receipts are kept. */
export const receiptLifetimeMs = 86_400_000;

/**
 * Runs a request with an idempotency key at most once (draft-ietf-httpapi-idempotency-key-header). The receipt with the
 * result is written in the transaction of the change. A repeated request returns the result of the receipt. Requests that
 * changed nothing have no receipt, and run again.
 *
 * @throws {AppError} INVALID with the path `idempotencyKey` when it is malformed or was used for another request; CONFLICT
 * when the earlier result cannot be read any more; INTERNAL when its receipt fails its integrity check; and what `run` throws.
 */
export async function runIdempotent<Result>(
  { store, receipts: { digest, seal, open, isKeyRemoved }, now }: Ports,
  caller: CallContext,
  { operation, idempotencyKey, body, receipts = store, hasEffect }: IdempotentRequest<Result>,
  run: (receiptOf: ReceiptOf<Result>) => Promise<Result>,
): Promise<Result> {
  if (idempotencyKey === undefined) return run(() => undefined);
  assertIdempotencyKey(idempotencyKey);
  // Each credential has keys of its own, so that none reveals a result to another.
  const id = digest([caller.credentialID, operation, idempotencyKey]);
  // Sent for another person, it is another request.
  const fingerprint = digest(caller.assertedName === undefined ? body : [body, caller.assertedName]);

  async function findResult(): Promise<{ readonly result: Result } | undefined> {
    const receipt = await receipts.findReceipt(id);
    if (!receipt) return undefined;
    // Read also if it has expired, because that verifies its time.
    const content = isKeyRemoved(receipt) ? undefined : (open(receipt) as ReceiptContent);
    const oldest = new Date(now().getTime() - receiptLifetimeMs);
    if (receipt.at <= oldest) {
      await receipts.removeReceipt(id, oldest);
      return undefined;
    }
    if (!content) throw unreadableResult();
    if (content.fingerprint !== fingerprint) throw reusedKey();
    return { result: content.result as Result };
  }

  const earlier = await findResult();
  if (earlier) return earlier.result;
  try {
    const result = await run((changed) => {
      const content: ReceiptContent = { fingerprint, result: changed };
      const of = { id, at: now() };
      return { ...of, sealed: seal(content, of) };
    });
    if (hasEffect?.(result) !== false) return result;
    // The same request may have run meanwhile, and taken what this one would take.
    return (await findResult())?.result ?? result;
  } catch (error) {
    // The same request may have run meanwhile: its receipt rejects a second one.
    const concurrent = await findResult();
    if (concurrent) return concurrent.result;
    throw error;
  }
}

/** Returns why a text is not valid as an idempotency key; undefined if it is. */
export function idempotencyKeyProblem(key: string): string | undefined {
  return /^[\x21-\x7e]{1,255}$/.test(key) ? undefined : 'must have 1 to 255 visible ASCII characters';
}

/** @throws {AppError} INVALID with the path `idempotencyKey`. */
export function assertIdempotencyKey(key: string): void {
  const found = idempotencyKeyProblem(key);
  if (found !== undefined) throw invalidKey(found);
}

/** `keyfront secrets prune` has removed the key since. Running the request again could have its effect twice. */
function unreadableResult(): AppError {
  return new AppError(
    'CONFLICT',
    'This request was carried out in the last 24 hours. Its result cannot be read any more: read the key instead.',
  );
}

function reusedKey(): AppError {
  return invalidKey('was used for another request in the last 24 hours');
}

function invalidKey(message: string): AppError {
  return new AppError('INVALID', `The idempotency key ${message}.`, {
    issues: [{ path: ['idempotencyKey'], code: 'MALFORMED_ARGUMENT', message }],
  });
}

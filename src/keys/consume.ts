import { AppError } from '../lib/errors.js';
import { maxInt64 } from '../lib/int64.js';
import { withEffectiveQuota } from './access/effective-access.js';
import { requireKey } from './authorization.js';
import type { KeyName } from './find-key.js';
import { hasIdentifier } from './identifiers.js';
import type { StoredKey } from './key.js';
import type { CallContext, Ports } from './ports.js';
import { runIdempotent } from './idempotency.js';
import { consume, type Consumption } from './quota/quota.js';

/** Consumption of the live quota of one key. */
export interface ConsumeRequest {
  /** Requests to take from the quota, at least 1. */
  readonly amount: bigint;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Consumes live quota on behalf of a gateway: takes `amount` requests from the quota if that many remain, otherwise none. The
 * hash that the gateway named must be that of an identifier of the key at the time of the write.
 *
 * @throws {AppError} INVALID when the amount is out of range; NOT_FOUND when the caller sees no such key; UNAVAILABLE when
 * the counter is unreachable; otherwise as `runIdempotent`.
 */
export async function consumeOrgQuota(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { hash }: KeyName,
  { amount, idempotencyKey }: ConsumeRequest,
): Promise<Consumption> {
  const { store, externalCounters, policies, quotaNotices, noteUse, now } = ports;
  if (amount < 1n || amount > maxInt64 / 2n) {
    const message = `must be from 1 to ${maxInt64 / 2n}`;
    throw new AppError('INVALID', 'The amount is not valid.', {
      issues: [{ path: ['amount'], code: 'OUT_OF_RANGE', message }],
    });
  }
  const known = await policies.current();
  const body = { keyHash: hash, amount };
  const named = (key: StoredKey | undefined) => (key && hasIdentifier(key, hash, now()) ? key : undefined);
  const hasEffect = ({ allowed }: Consumption) => allowed;
  const request = {
    operation: 'consumeOrgQuota',
    idempotencyKey,
    body,
    receipts: externalCounters?.receiptsOf(keyHash),
    hasEffect,
  };
  // A property, because the store may decide several times.
  const counted: { key?: StoredKey } = {};
  const consumption = await runIdempotent<Consumption>(ports, caller, request, (receiptOf) =>
    (externalCounters ?? store).consume(
      keyHash,
      (stored) => {
        const key = withEffectiveQuota(requireKey(caller, named(stored)), known);
        counted.key = key;
        const decision = consume(key, amount, now());
        caller.deadline?.markCommitting();
        return { ...decision, receipt: decision.next && receiptOf(decision.result) };
      },
      caller.orgID,
    ),
  );
  if (counted.key) quotaNotices?.note(counted.key, consumption.figures, now());
  // A repeated request was noted the first time.
  if (counted.key) noteUse?.(counted.key, { hash, amount, isAllowed: consumption.allowed });
  return consumption;
}

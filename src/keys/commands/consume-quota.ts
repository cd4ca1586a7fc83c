import { AppError } from '../../lib/errors.js';
import { requireKey } from '../authorization.js';
import { maxInt64 } from '../../lib/int64.js';
import { checkKeyID } from '../key-id.js';
import type { Caller, Ports } from '../ports.js';
import { consume, type Consumption } from '../quota/quota.js';

/** The use case of gateways that ask before they let requests pass. */
export function createQuotaConsumption({ quotas, now, hashKeyID }: Ports) {
  return {
    /** Takes `amount` requests from the quota if all of them are there, else none. INVALID, NOT_FOUND, UNAVAILABLE. */
    async consumeOrgQuota(caller: Caller, keyID: string, amount: bigint): Promise<Consumption> {
      const keyHash = hashKeyID(checkKeyID(keyID));
      if (amount < 1n || amount > maxInt64 / 2n) {
        throw new AppError('INVALID', 'The amount is not valid.', {
          issues: [
            {
              path: ['amount'],
              code: 'OUT_OF_RANGE',
              message: 'must be at least 1, and of a size that can be counted',
            },
          ],
        });
      }
      return quotas.consume(
        keyHash,
        (stored) => {
          const decision = consume(requireKey(caller, stored), amount, now());
          caller.deadline?.markCommitting();
          return decision;
        },
        caller.orgID,
      );
    },
  };
}

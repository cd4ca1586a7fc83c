import type { Path } from '../../lib/errors.js';
import { policiesOf } from './normalize.js';
import { fieldsWith, type KeyDefinition } from './schema.js';
import type { WarningCode } from './issue-codes.js';

/** A warning about a valid definition. Field names in the message are in backticks. */
export interface Warning {
  readonly path: Path;
  readonly code: WarningCode;
  readonly message: string;
}

type Limits = Pick<KeyDefinition, 'rate' | 'per' | 'quotaMax' | 'quotaRemaining' | 'quotaRenewalRate'>;

// In seconds, this is the year 5138; in milliseconds, the year 1973.
const minMilliseconds = 100_000_000_000n;

const serverOwnedFields = fieldsWith(({ serverOwned }) => serverOwned === true);

/** Returns the warnings about a valid definition at the time `now`. */
export function warningsOf(definition: KeyDefinition, now: Date): Warning[] {
  const warnings: Warning[] = [];
  const warn = (path: Path, code: WarningCode, message: string) => warnings.push({ path, code, message });
  const { accessRights, expires, monitor } = definition;

  if (isPresent(definition.applyPolicyID)) {
    warn(['applyPolicyID'], 'DEPRECATED_FIELD', policyNotice(definition.applyPolicyID, definition.applyPolicies));
  }
  if (isPresent(definition.enableDetailRecording)) {
    warn(['enableDetailRecording'], 'DEPRECATED_FIELD', 'was moved into `enableDetailedRecording`');
  }
  for (const field of serverOwnedFields) {
    if (isPresent(definition[field]))
      warn([field], 'SERVER_OWNED', 'is set by the service; the value sent was ignored');
  }

  if (isPresent(expires) && expires >= minMilliseconds) {
    warn(['expires'], 'EXPIRES_IN_MILLISECONDS', 'looks like milliseconds, and is read as seconds');
  } else if (isPresent(expires) && expires >= 1n && expires <= BigInt(Math.floor(now.getTime() / 1000))) {
    warn(['expires'], 'EXPIRES_IN_PAST', 'has passed already');
  }

  const hasPolicies = policiesOf(definition).length > 0;
  if (definition.isInactive === true && hasPolicies) {
    warn(['isInactive'], 'INACTIVE_WITH_POLICIES', 'is ignored by gateways, because the key has policies');
  }

  limitWarnings(definition, [], warn);
  if (!hasPolicies && (!accessRights || accessRights.length === 0)) {
    const message = 'is absent or empty, as is `applyPolicies`: a gateway rejects the key, or allows it everything';
    warn(['accessRights'], 'NO_ACCESS_RIGHTS', message);
  }
  accessRights?.forEach(({ label, apiID, limit }, index) => {
    if (isPresent(apiID) && apiID !== label) {
      warn(
        ['accessRights', index, 'apiID'],
        'LABEL_MISMATCH',
        'differs from the label, and a gateway looks entries up by `apiID`',
      );
    }
    if (limit) limitWarnings(limit, ['accessRights', index, 'limit'], warn);
  });

  const triggers = monitor?.triggerLimits ?? [];
  if (triggers.some((trigger, index) => index > 0 && trigger >= (triggers[index - 1] ?? Infinity))) {
    warn(['monitor', 'triggerLimits'], 'TRIGGERS_NOT_DESCENDING', 'should run from the highest to the lowest');
  }
  return warnings;
}

function policyNotice(deprecated: string, policies: KeyDefinition['applyPolicies']): string {
  if (deprecated.trim() === '') return 'is empty, and was ignored; use `applyPolicies`';
  if (policies && policies.length > 0) return 'was ignored, because `applyPolicies` has a value';
  return 'was moved into `applyPolicies`';
}

function limitWarnings(limits: Limits, at: Path, warn: (path: Path, code: WarningCode, message: string) => void): void {
  const { rate, per, quotaMax, quotaRemaining, quotaRenewalRate } = limits;
  if (isPresent(rate) && rate > 0) {
    if (!isPresent(per)) warn([...at, 'per'], 'RATE_WITHOUT_PER', 'is absent, which switches the `rate` off');
    else if (per <= 0) warn([...at, 'per'], 'LIMIT_OFF', 'is 0 or less, which switches the `rate` off');
  } else if (!isPresent(rate) && isPresent(per) && per > 0) {
    warn([...at, 'rate'], 'PER_WITHOUT_RATE', 'is absent, so that `per` limits nothing');
  }
  if (!isPresent(quotaMax) || quotaMax <= 0n) return;
  if (!isPresent(quotaRenewalRate) || quotaRenewalRate <= 0n) {
    warn([...at, 'quotaRenewalRate'], 'QUOTA_NEVER_RENEWS', 'is not above 0, so that the quota never renews');
  }
  if (isPresent(quotaRemaining) && quotaRemaining > quotaMax) {
    warn([...at, 'quotaRemaining'], 'REMAINING_ABOVE_MAXIMUM', 'is more than `quotaMax`');
  }
}

function isPresent<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

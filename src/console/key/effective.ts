import type { EffectiveLimitsFragment } from '../../client/client.js';
import type { KeyDetails } from './read-key.js';

/** The limits that the key page shows, and which policy each comes from; none if it comes from the key itself. */
export interface ShownLimits {
  readonly values: Partial<EffectiveLimitsFragment['values']>;
  readonly policyOf: (field: string) => string | undefined;
}

/** The limits as they result from the key and its policies; those of its definition while the policies cannot be read. */
export function limitsOf({ effectiveAccess, definition }: KeyDetails): ShownLimits {
  return effectiveAccess
    ? withOrigins(effectiveAccess.limits)
    : { values: definition ?? {}, policyOf: () => undefined };
}

/** Limits with their origins by field. */
export function withOrigins({ values, origins }: EffectiveLimitsFragment): ShownLimits {
  return {
    values,
    policyOf: (field) => origins.find((origin) => origin.field === field)?.policyID ?? undefined,
  };
}

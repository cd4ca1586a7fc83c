import { AppError } from '../../lib/errors.js';
import { definitionChanges } from '../key-diff.js';
import type { FieldChange } from '../key.js';
import {
  effectiveApis,
  effectiveLimits,
  effectiveRight,
  inactiveOrigin,
  workOfRights,
  type AccessSources,
  type EffectiveRight,
} from './effective-access.js';

/** Maximum work of one computation of the access to all APIs: about 10 ms. */
const maxWork = 10_000;

/**
 * The access of a key to each API that its sources list.
 *
 * @throws {AppError} TOO_LARGE when they list too many to be computed in a short time.
 */
export function effectiveRights(sources: AccessSources): EffectiveRight[] {
  if (workOfRights(sources) > maxWork) {
    const message = 'The policies of the key list too many APIs to show all of them. `explainOrgKey` shows one.';
    throw new AppError('TOO_LARGE', message);
  }
  return effectiveApis(sources).flatMap((api) => effectiveRight(sources, api) ?? []);
}

/** The differences of the effective access of a key between two sets of policies. Paths are as in a definition. */
export function effectiveChanges(before: AccessSources, after: AccessSources): FieldChange[] {
  return definitionChanges(valuesOf(before), valuesOf(after));
}

/** The effective access in the form of a definition, without origins. */
function valuesOf(sources: AccessSources) {
  const rights = effectiveRights(sources);
  return {
    ...(inactiveOrigin(sources) && { isInactive: true }),
    ...(sources.unknownPolicies.length > 0 && { unknownPolicies: sources.unknownPolicies }),
    ...effectiveLimits(sources).values,
    accessRights: rights.map(({ api, versions, allowedUrls, limits }) => ({
      label: api,
      versions,
      ...(allowedUrls && { allowedUrls: allowedUrls.map(({ url, methods }) => ({ url, methods })) }),
      limit: limits.values,
    })),
  };
}

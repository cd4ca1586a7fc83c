import { definitionChanges } from '../key-diff.js';
import type { FieldChange } from '../key.js';
import {
  effectiveApis,
  effectiveLimits,
  effectiveRight,
  inactiveOrigin,
  type AccessSources,
  type EffectiveRight,
} from './effective-access.js';

/** The access of a key to each API that its sources list. */
export function effectiveRights(sources: AccessSources): EffectiveRight[] {
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

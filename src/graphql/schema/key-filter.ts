import { keyOrders, type KeyFilter, type KeyOrder } from '../../keys/key-query.js';
import { builder } from './builder.js';
import { enumValuesOf } from './types-from-zod.js';
import { KeyStateType } from './key.js';

export const OrgKeyFilter = builder.inputType('OrgKeyFilter', {
  description:
    'Filters keys. All conditions must match; null is the same as omitted. Deleted keys are excluded unless `state` is DELETED.',
  fields: (t) => ({
    orgID: t.string({ description: 'Keys of this organisation. Example: acme.' }),
    aliasPrefix: t.string({
      description: 'Keys whose alias starts with this value, case-sensitive. Example: Billing.',
    }),
    tag: t.string({ description: 'Keys with exactly this tag, case-sensitive. Example: production.' }),
    policy: t.string({ description: 'Keys with this policy identifier in `applyPolicies`. Example: gold.' }),
    apiID: t.string({ description: 'Keys with an access right that has this `apiID`. Example: invoices.' }),
    state: t.field({
      type: KeyStateType,
      description: 'Keys in this state. Default: all states except DELETED.',
    }),
    expiresBefore: t.field({
      type: 'Int64',
      description:
        'Keys that expire before this time, in Unix seconds. Keys that never expire do not match. Example: 1893456000.',
    }),
    updatedSince: t.field({
      type: 'Int64',
      description: 'Keys last changed at or after this time, in Unix seconds. Example: 1769860800.',
    }),
  }),
});

export const KeyOrderType = builder.enumType('OrgKeyOrder', {
  description: 'The order of a list of keys. Keys with equal values are ordered by hash.',
  values: enumValuesOf<KeyOrder>(keyOrders),
});

/** The conditions of a filter; null is the same as omitted. */
export function toKeyFilter(filter: (typeof OrgKeyFilter)['$inferInput'] | null | undefined): KeyFilter {
  const conditions = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(conditions);
}

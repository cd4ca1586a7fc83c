/** The texts of the list of organizations. */
export const organizationsText = {
  table: 'Organizations',
  columns: { organization: 'Organization', keys: 'Keys', quota: 'Quotas used', exhausted: 'Used up' },
  limited: (limited: string) => `${limited} with a quota`,
  noQuota: 'no key has a quota',
  left: (remaining: string) => `${remaining} left`,
  none: 'none',
  empty: 'No organization has a key',
  emptyHint: 'An organization appears here with its first key.',
  hint: 'The sum of the quotas of all keys of each organization, in their present periods.',
} as const;

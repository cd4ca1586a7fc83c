const day = 86_400;

/** Policies of these keys, and one that no key names. */
export const consolePolicies: readonly object[] = [
  { policy_id: 'gold', name: 'Gold', governs: ['query_depth'], max_query_depth: 12 },
  {
    policy_id: 'standard',
    name: 'Standard',
    org_id: 'acme',
    governs: ['rate_limit', 'access_rights'],
    rate: 25,
    per: 1,
    access_rights: {
      catalog: {
        api_name: 'Catalog',
        versions: ['Default'],
        allowed_urls: [{ url: '/products/.*', methods: ['GET'] }],
      },
      search: { versions: ['Default'] },
    },
  },
  { policy_id: 'trial-2024', is_inactive: true, quota_max: 100, quota_renewal_rate: day },
];

/** Keys in all states, for the pages of the console. The times are relative to `now`, in milliseconds. */
export function consoleKeys(now: number): object[] {
  const seconds = Math.floor(now / 1000);
  const api = (id: string, more: object = {}) => ({ [id]: { api_id: id, versions: ['Default'], ...more } });
  return [
    {
      key_id: 'acme-billing',
      org_id: 'acme',
      alias: 'Billing, production',
      date_created: '2026-01-08T09:00:00Z',
      rate: 100,
      per: 60,
      quota_max: 10_000,
      quota_renewal_rate: 30 * day,
      quota_renews: seconds + 12 * day,
      tags: ['billing', 'production'],
      apply_policies: ['gold'],
      hmac_enabled: true,
      hmac_string: 'a secret of HMAC',
      access_rights: {
        ...api('invoices', { allowed_urls: [{ methods: ['GET', 'POST'], url: '/invoices/.*' }] }),
        ...api('payments'),
      },
    },
    {
      key_id: 'acme-mobile',
      org_id: 'acme',
      alias: 'Mobile application',
      rate: 40,
      per: 1,
      quota_max: 100_000,
      quota_renewal_rate: 7 * day,
      quota_renews: seconds + 3 * day,
      expires: seconds + 6 * day,
      tags: ['mobile'],
      apply_policies: ['standard'],
    },
    {
      key_id: 'acme-partner',
      org_id: 'acme',
      alias: 'Partner feed',
      quota_max: 1000,
      quota_renewal_rate: day,
      quota_renews: seconds + 4 * 3600,
      tags: ['partner'],
      apply_policies: ['gold'],
      access_rights: api('feed'),
    },
    {
      key_id: 'acme-report',
      org_id: 'acme',
      alias: 'Old reporting job',
      rate: 10,
      per: 60,
      access_rights: api('reports'),
    },
    {
      key_id: 'globex-trial',
      org_id: 'globex',
      alias: 'Trial',
      rate: 5,
      per: 60,
      expires: seconds - 2 * day,
      tags: ['trial'],
      access_rights: api('catalog'),
    },
    { key_id: 'globex-empty', org_id: 'globex' },
  ];
}

/** Sample keys of `serve --sample`, as lines of JSON for the import. */
export const sampleKeyLines = [
  {
    key_id: 'acme-billing',
    org_id: 'acme',
    alias: 'Billing, production',
    rate: 100,
    per: 60,
    quota_max: 10_000,
    quota_remaining: 1_880,
    quota_renewal_rate: 2_592_000,
    tags: ['billing', 'production'],
    apply_policies: ['gold'],
    access_rights: {
      invoices: {
        api_id: 'invoices',
        api_name: 'Invoices',
        versions: ['Default'],
        allowed_urls: [{ methods: ['GET', 'POST'], url: '/invoices/.*' }],
      },
    },
  },
  {
    key_id: 'acme-mobile',
    org_id: 'acme',
    alias: 'Mobile application',
    rate: 20,
    per: 1,
    quota_max: -1,
    tags: ['mobile'],
    access_rights: { catalogue: { api_id: 'catalogue', api_name: 'Catalogue', versions: ['Default'] } },
  },
  {
    key_id: 'globex-reports',
    org_id: 'globex',
    alias: 'Nightly reports',
    rate: 5,
    per: 1,
    quota_max: 500,
    quota_renewal_rate: 86_400,
    expires: 1_893_456_000,
    access_rights: { reports: { api_id: 'reports', api_name: 'Reports', versions: ['v2'] } },
  },
].map((key) => JSON.stringify(key));

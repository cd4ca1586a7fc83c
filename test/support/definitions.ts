/** Every field of section 2 that both operations have, in the names and the order of the key API's document. */
const shared = {
  access_rights: {
    billing: {
      api_id: 'billing',
      api_name: 'Billing API',
      versions: ['Default', 'v2'],
      allowed_urls: [{ methods: ['GET', 'POST'], url: '/invoices/.*' }],
      limit: {
        per: 60,
        quota_max: 1000,
        quota_remaining: 900,
        quota_renewal_rate: 3600,
        rate: 10.5,
        throttle_interval: 1.5,
        throttle_retry_limit: 3,
      },
    },
  },
  alias: 'Billing, production',
  allowance: 0.5,
  apply_policies: ['gold', 'silver'],
  basic_auth_data: { hash_type: 'bcrypt', user: 'billing' },
  certificate: 'cert-1',
  data_expires: 86400,
  enable_detailed_recording: true,
  expires: 1893456000,
  hmac_enabled: true,
  hmac_string: 'hmac-5ecret',
  id_extractor_deadline: 1893456001,
  is_inactive: false,
  jwt_data: { secret: 'jwt-5ecret' },
  last_check: 1700000000,
  max_query_depth: 12,
  meta_data: { team: 'payments', nested: { list: [1, null, 'x'] } },
  monitor: { trigger_limits: [90, 75.5, 50] },
  oauth_client_id: 'client-1',
  oauth_keys: { 'client-1': 'token-hash' },
  org_id: 'acme',
  per: 60,
  quota_max: 10000,
  quota_remaining: 9000,
  quota_renewal_rate: 2592000,
  quota_renews: 1893456002,
  rate: 100.25,
  session_lifetime: 7200,
  smoothing: { delay: 30, enabled: true, step: 10, threshold: 50, trigger: 0.8 },
  tags: ['billing', 'production'],
  throttle_interval: 2.5,
  throttle_retry_limit: 4,
};

/** A definition in its normal form with every field a preview has, none of which calls for a warning. */
export const fullPreview = {
  ...shared,
  mtls_static_certificate_bindings: ['cert-2'],
  key_id: 'my-key',
};

/** A definition in its normal form with every field an update has, none of which calls for a warning. */
export const fullUpdate = {
  ...shared,
  enable_http_signature_validation: true,
  rsa_certificate_id: 'rsa-1',
};

import { createHash } from 'node:crypto';
import type { StoredCredential } from '../../src/credentials/credential.js';
import type { KeyRevision, StoredKey } from '../../src/keys/key.js';
import type { KeyTransition } from '../../src/keys/ports.js';
import type { Delivery, Webhook } from '../../src/webhooks/webhook.js';

/*
 * The entities of tests. Each factory returns a valid entity with fixed values, some of which its last parameter
 * replaces. Credentials of requests come from `issue` of `startApp`.
 */

/** The time at which the clock of `startApp` stands. */
const at = new Date('2026-01-31T12:00:00Z');

/** The hash of the key with this name. */
export const hashOf = (name: string | number) => createHash('sha256').update(String(name)).digest('hex');

/** The number of the row of the key with this hash: its first 60 bits, and three bits that are 0. */
export const rowIDOf = (keyHash: string) => BigInt(`0x${keyHash.slice(0, 15).padEnd(15, '0')}`) * 8n;

/** A key without a definition, at version 1. */
export function aKey(name: string | number, changes: Partial<StoredKey> = {}): StoredKey {
  return {
    keyHash: hashOf(name),
    identity: hashOf(`identity of ${name}`).slice(0, 32),
    sealedKeyID: Uint8Array.of(1, 2, 3),
    orgID: 'acme',
    version: 1,
    dateCreated: at.toISOString(),
    lastUpdated: BigInt(at.getTime() / 1000),
    deleted: undefined,
    definition: {},
    secrets: { passwordHash: undefined, jwtSecret: undefined, hmacString: undefined },
    quota: { used: 0n, renews: undefined },
    ...changes,
  };
}

/** The history entry of the change that led to this key. */
export function aRevision(key: StoredKey, changes: Partial<KeyRevision> = {}): KeyRevision {
  return {
    at: new Date('2026-01-31T12:00:00.123Z'),
    keyHash: key.keyHash,
    orgID: key.orgID,
    operation: 'import',
    actor: { credentialID: 'cred_1', label: 'a test' },
    reason: undefined,
    requestID: 'request-1',
    versionBefore: key.version - 1,
    versionAfter: key.version,
    quotaUsedBeforeReset: undefined,
    changes: [],
    ...changes,
  };
}

/** The change that leads to this key, such as its import. */
export function aChange(key: StoredKey): KeyTransition {
  return { next: key, revision: aRevision(key) };
}

/** The change of a stored key to its next version. */
export function anUpdate(stored: StoredKey | undefined, changes: Partial<StoredKey> = {}): KeyTransition {
  if (!stored) throw new Error('There is no such key.');
  const next = { ...stored, version: stored.version + 1, ...changes };
  return { next, revision: aRevision(next, { operation: 'update' }) };
}

/** An active service credential, whose secret is its ID. */
export function aCredential(id: string, changes: Partial<StoredCredential> = {}): StoredCredential {
  return {
    id,
    kind: 'service',
    label: 'a label',
    orgID: undefined,
    scopes: undefined,
    secretHash: createHash('sha256').update(id).digest(),
    lastFour: undefined,
    created: at,
    expires: undefined,
    revoked: undefined,
    lastUsed: undefined,
    successorID: undefined,
    ...changes,
  };
}

/** An active webhook for all organizations. */
export function aWebhook(id: string, changes: Partial<Webhook> = {}): Webhook {
  return {
    id,
    label: 'a label',
    orgID: undefined,
    eventTypes: undefined,
    sealedURL: Buffer.of(1, 2),
    sealedSecret: Buffer.of(3, 4),
    previous: undefined,
    created: at,
    paused: undefined,
    ...changes,
  };
}

/** A dead letter. */
export function aDeadLetter(eventID: string, changes: Partial<Delivery> = {}): Delivery {
  return {
    state: 'dead',
    keyHash: 'h',
    eventID,
    version: 3,
    lastVersion: 3,
    attempts: 30,
    dueMs: undefined,
    failedAt: at,
    lastError: 'returned 500',
    ...changes,
  };
}

/** The events 2 to 4 of a key, before the first attempt. */
export function aPendingDelivery(keyHash: string, changes: Partial<Delivery> = {}): Delivery {
  return {
    state: 'pending',
    keyHash,
    eventID: '',
    version: 2,
    lastVersion: 4,
    attempts: 0,
    dueMs: 1_000,
    failedAt: undefined,
    lastError: '',
    ...changes,
  };
}

/** The fields that previews and updates have in common, in the names and the order of the REST API. */
const sharedFields = {
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

/** A definition in its normal form with every field of a preview, without a warning. */
export const fullPreview = {
  ...sharedFields,
  mtls_static_certificate_bindings: ['cert-2'],
  key_id: 'my-key',
};

/** A definition in its normal form with every field of an update, without a warning. */
export const fullUpdate = {
  ...sharedFields,
  enable_http_signature_validation: true,
  rsa_certificate_id: 'rsa-1',
};

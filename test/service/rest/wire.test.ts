import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { KeyDefinition } from '../../../src/keys/definition/schema.js';
import { memberOf, shapeOf } from '../../../src/keys/definition/introspection.js';
import { definitionFromWire, definitionToWire, issuesToWire, wireName } from '../../../src/wire/field-names.js';
import { startSharedApp } from '../../support/app.js';
import { fullPreview, fullUpdate } from '../../support/factories.js';

/** Every field of the domain and its name in the key API's document, written by hand: the code derives the second. */
const names: Record<string, Record<string, string>> = {
  '': {
    accessRights: 'access_rights',
    alias: 'alias',
    allowance: 'allowance',
    applyPolicies: 'apply_policies',
    applyPolicyID: 'apply_policy_id',
    basicAuthData: 'basic_auth_data',
    certificate: 'certificate',
    mtlsStaticCertificateBindings: 'mtls_static_certificate_bindings',
    dataExpires: 'data_expires',
    dateCreated: 'date_created',
    enableDetailedRecording: 'enable_detailed_recording',
    enableDetailRecording: 'enable_detail_recording',
    enableHttpSignatureValidation: 'enable_http_signature_validation',
    expires: 'expires',
    hmacEnabled: 'hmac_enabled',
    hmacString: 'hmac_string',
    idExtractorDeadline: 'id_extractor_deadline',
    isInactive: 'is_inactive',
    jwtData: 'jwt_data',
    keyID: 'key_id',
    lastCheck: 'last_check',
    lastUpdated: 'last_updated',
    maxQueryDepth: 'max_query_depth',
    metaData: 'meta_data',
    monitor: 'monitor',
    oauthClientID: 'oauth_client_id',
    oauthKeys: 'oauth_keys',
    orgID: 'org_id',
    per: 'per',
    quotaMax: 'quota_max',
    quotaRemaining: 'quota_remaining',
    quotaRenewalRate: 'quota_renewal_rate',
    quotaRenews: 'quota_renews',
    rate: 'rate',
    rsaCertificateID: 'rsa_certificate_id',
    sessionLifetime: 'session_lifetime',
    smoothing: 'smoothing',
    tags: 'tags',
    throttleInterval: 'throttle_interval',
    throttleRetryLimit: 'throttle_retry_limit',
  },
  accessRights: {
    apiID: 'api_id',
    apiName: 'api_name',
    versions: 'versions',
    allowedUrls: 'allowed_urls',
    limit: 'limit',
  },
  'accessRights.allowedUrls': { methods: 'methods', url: 'url' },
  'accessRights.limit': {
    per: 'per',
    quotaMax: 'quota_max',
    quotaRemaining: 'quota_remaining',
    quotaRenewalRate: 'quota_renewal_rate',
    rate: 'rate',
    throttleInterval: 'throttle_interval',
    throttleRetryLimit: 'throttle_retry_limit',
  },
  basicAuthData: { hashType: 'hash_type', password: 'password', user: 'user' },
  jwtData: { secret: 'secret' },
  monitor: { triggerLimits: 'trigger_limits' },
  smoothing: { delay: 'delay', enabled: 'enabled', step: 'step', threshold: 'threshold', trigger: 'trigger' },
};

/** The fields of each object of the table, in order. A label is a member's name in REST, and no field. */
function namesIn(schema: z.core.$ZodType, at: string[] = []): Record<string, Record<string, string>> {
  const shape = shapeOf(memberOf(schema) ?? schema);
  if (!shape) return {};
  const fields = Object.entries(shape).filter(([field]) => field !== 'label');
  const here = { [at.join('.')]: Object.fromEntries(fields.map(([field]) => [field, wireName(field)])) };
  return Object.assign(here, ...fields.map(([field, inner]) => namesIn(inner, [...at, field])));
}

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme' });

const paths = (body: Record<string, unknown>) => (body['issues'] as { path: string }[]).map(({ path }) => path).sort();

describe('the names of REST', () => {
  it('are those of the document, for every field at every level', () => {
    expect(namesIn(KeyDefinition)).toStrictEqual(names);
  });

  it('are converted to those of GraphQL and back without loss', () => {
    const pairs = Object.values(names).flatMap((level) => Object.entries(level));
    const rename = (name: string) => String(issuesToWire([{ path: [name], code: '', message: '' }], {})[0]?.path[0]);
    for (const [field, wire] of pairs) {
      expect(rename(field)).toBe(wire);
      expect(rename(wire)).toBe(field);
    }
    for (const name of ['label', 'nonsense', 'Alias', 'orgId', 'org_ID', '', '__proto__']) {
      expect(rename(rename(name))).toBe(name);
    }
  });

  it('converts the issues of a body with its labels read once', () => {
    let reads = 0;
    const rights = new Proxy(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`label-${n}`, {}])), {
      ownKeys: (target) => {
        reads += 1;
        return Reflect.ownKeys(target);
      },
    });
    const issues = Array.from({ length: 100 }, (_, n) => ({
      path: ['accessRights', n, 'apiID'],
      code: '',
      message: '',
    }));
    const found = issuesToWire(issues, { access_rights: rights });
    expect(found[99]?.path).toStrictEqual(['access_rights', 'label-99', 'api_id']);
    expect(reads).toBe(1);
  });

  it('convert every field in both directions', () => {
    for (const definition of [fullPreview, fullUpdate]) {
      expect(definitionToWire(definitionFromWire(definition) as object)).toStrictEqual(definition);
    }
  });

  it('are the only accepted ones: a name of GraphQL is an unknown field, reported as sent', async () => {
    const different = Object.entries(names[''] ?? {}).filter(([field, wire]) => field !== wire);
    const body = Object.fromEntries(different.map(([field]) => [field, null]));
    const previewed = await t.preview(body);
    expect(previewed.status).toBe(400);
    expect(paths(previewed.body)).toStrictEqual(different.map(([field]) => field).sort());
    const nested = await t.update('k1', {
      access_rights: { a: { apiID: 'a', limit: { quotaMax: 1 }, allowed_urls: [{ url: '/', Methods: [] }] } },
      basic_auth_data: { hashType: 'bcrypt' },
      monitor: { triggerLimits: [] },
    });
    expect(paths(nested.body)).toStrictEqual([
      'access_rights.a.allowed_urls[0].Methods',
      'access_rights.a.apiID',
      'access_rights.a.limit.quotaMax',
      'basic_auth_data.hashType',
      'monitor.triggerLimits',
    ]);
  });

  it('are suggested for those of GraphQL', async () => {
    const { body } = await t.preview({ orgID: 'acme', access_rights: { a: { apiID: 'a' } } });
    expect(body['issues']).toStrictEqual([
      { path: 'access_rights.a.apiID', code: 'UNKNOWN_FIELD', message: 'is an unknown field; did you mean `api_id`?' },
      { path: 'orgID', code: 'UNKNOWN_FIELD', message: 'is an unknown field; did you mean `org_id`?' },
    ]);
  });

  it('are not suggested for the flags of secrets in responses', async () => {
    const { body } = await t.preview({ hmac_string_set: true });
    expect(body['issues']).toStrictEqual([
      { path: 'hmac_string_set', code: 'UNKNOWN_FIELD', message: 'is in responses only; omit it' },
    ]);
  });

  it.each(['label', '(label)'])('include no %s in an entry: the name of the entry is its label', async (field) => {
    const { status, body } = await t.preview({ access_rights: { a: { [field]: 'b' } } });
    expect(status).toBe(400);
    expect(body['issues']).toMatchObject([{ code: 'UNKNOWN_FIELD' }]);
  });

  it('are not converted inside free-form JSON', async () => {
    const meta = { orgID: 1, org_id: 2, quotaMax: 3, label: 'x', key_id: { apiID: [{ api_id: 4 }] } };
    const oauth = { clientID: { secretSet: 1 }, org_id: 'x' };
    const { body } = await t.preview({ meta_data: meta, oauth_keys: oauth });
    expect(body['data']).toStrictEqual({ meta_data: meta, oauth_keys: oauth });
  });

  it('are not converted in the path of a problem inside free-form JSON', async () => {
    const { body } = await t.update('k1', { meta_data: { org_id: '\0', apiID: ['\0'], label: '\0' } });
    expect(paths(body)).toStrictEqual(['meta_data.apiID[0]', 'meta_data.label', 'meta_data.org_id']);
  });
});

describe('access rights in REST', () => {
  it.each(['a.b', 'a"b', "a'b", 'a b', 'a[0]', '0', '-1', 'ü', '🔑', 'api_id', 'label', 'toString', 'a\nb'])(
    'keep the label %j, and name it in the path of a problem',
    async (label) => {
      const right = { api_id: label, versions: ['v1'] };
      const { body } = await t.preview({ access_rights: { [label]: right } });
      expect(body['data']).toStrictEqual({ access_rights: { [label]: right } });

      const invalid = await t.preview({ access_rights: { fine: {}, [label]: { api_id: 1, limit: { rate: -2 } } } });
      const shown = /^[\w-]+$/.test(label) ? `access_rights.${label}` : `access_rights[${JSON.stringify(label)}]`;
      expect(paths(invalid.body)).toStrictEqual([`${shown}.api_id`, `${shown}.limit.rate`]);
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', '', ' ', 'a\0b', '\ud800', 'x'.repeat(257)])(
    'reject the label %j',
    async (label) => {
      const { status, body } = await t.preview(`{"access_rights":{${JSON.stringify(label)}:{}}}`);
      expect(status).toBe(400);
      expect(paths(body)).toStrictEqual([
        /^[\w-]{1,64}$/.test(label) ? `access_rights.${label}` : `access_rights[${JSON.stringify(label.slice(0, 64))}]`,
      ]);
    },
  );

  it.each([[[]], [[{ label: 'a' }]], ['x'], [1], [true]])('reject %j instead of the object', async (value) => {
    const { status, body } = await t.preview({ access_rights: value });
    expect(status).toBe(400);
    expect(body['issues']).toStrictEqual([
      { path: 'access_rights', code: 'WRONG_TYPE', message: 'must be an object of labels and their entries' },
    ]);
  });

  it.each([[[]], ['x'], [1], [true]])('reject %j instead of an entry', async (value) => {
    const { status, body } = await t.preview({ access_rights: { a: value } });
    expect(status).toBe(400);
    expect(body['issues']).toStrictEqual([
      { path: 'access_rights.a', code: 'WRONG_TYPE', message: 'must be an object' },
    ]);
  });

  it('skip an entry that is null, and still name the next one correctly', async () => {
    const { body } = await t.preview({ access_rights: { gone: null, kept: {} } });
    expect(body['data']).toStrictEqual({ access_rights: { kept: {} } });
    const invalid = await t.preview({ access_rights: { gone: null, kept: { api_id: 1 } } });
    expect(paths(invalid.body)).toStrictEqual(['access_rights.kept.api_id']);
  });

  it('keep an empty object and an empty entry', async () => {
    expect((await t.preview({ access_rights: {} })).body['data']).toStrictEqual({ access_rights: {} });
    expect((await t.preview({ access_rights: { a: {} } })).body['data']).toStrictEqual({ access_rights: { a: {} } });
  });
});

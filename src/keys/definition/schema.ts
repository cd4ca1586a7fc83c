import * as z from 'zod';
import * as is from './field-rules.js';
import {
  dateTime,
  double,
  doubles,
  fieldTraits,
  flag,
  freeForm,
  freeFormObject,
  isFreeForm,
  int32,
  int64,
  label,
  list,
  name,
  nested,
  objectTraits,
  optionalText,
  ruledText,
  text,
  texts,
  type FieldTraits,
} from './field-types.js';

/** The value for unlimited or off. Fields with this value accept nothing below it. */
export const unlimited = -1n;
const off = -1;

/** The entries of a list with this field are identified by it. REST has an object with the labels as names. */
export const labelField = 'label';

const limits = {
  per: double(
    'Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60.',
    off,
    { unit: 'seconds' },
  ),
  quotaMax: int64(
    'Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000.',
    unlimited,
    { unit: 'requests' },
  ),
  quotaRemaining: int64(
    'Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500.',
    unlimited,
    { unit: 'requests' },
  ),
  quotaRenewalRate: int64(
    'Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days).',
    unlimited,
    { unit: 'seconds' },
  ),
  rate: double(
    'Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100.',
    off,
    { unit: 'requests' },
  ),
  throttleInterval: double(
    'Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5.',
    off,
    { unit: 'seconds' },
  ),
  throttleRetryLimit: int32(
    'Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3.',
    off,
  ),
};

const AllowedUrl = z
  .strictObject({
    methods: texts('Allowed HTTP methods. Stored in upper case. Example: GET.', {
      rule: is.httpMethod,
      max: 50,
    }),
    url: name(
      'Path, as a regular expression that the gateway evaluates. Keyfront only stores it. Example: /invoices/.*',
      2048,
    ),
  })
  .register(objectTraits, {
    name: 'KeyAllowedUrl',
    description: 'A path that the key may call, with the allowed methods.',
  });

const Limit = z.strictObject(limits).register(objectTraits, {
  name: 'KeyLimit',
  description:
    'Limits for one API. The gateway enforces them. Each field has the same meaning as the field of that name of the key.',
});

const AccessRight = z
  .strictObject({
    label: label(
      'Name of the entry, unique in its list. Gateways find an entry by its `apiID`: use the same value for both. Example: invoices.',
    ),
    apiID: text('Identifier of the API in the gateway. Example: invoices.'),
    apiName: text('Display name of the API. Example: Invoices.'),
    versions: texts('Names of the API versions that the key may call. Example: Default.'),
    allowedUrls: list('Allowed paths and methods. If absent or empty, all are allowed.', AllowedUrl, 1000),
    limit: nested('Limits for this API only.', Limit),
  })
  .register(objectTraits, { name: 'KeyAccessRight', description: 'Access of a key to one API.' });

const BasicAuthData = z
  .strictObject({
    hashType: optionalText(
      'Hash type of the password: bcrypt (default) or argon2id. Changing it requires sending the `password` again.',
      is.hashType,
    ),
    password: optionalText(
      'Password in plain text, at most 72 bytes with bcrypt. Stored as a hash and never returned. If an update omits it, the stored password stays; null clears it.',
      is.secret,
      { secret: 'hashed' },
      1024,
    ),
    user: text('User name that the gateway expects. Example: billing.'),
  })
  .register(objectTraits, {
    name: 'KeyBasicAuthData',
    description: 'Credentials for HTTP Basic authentication. The gateway verifies them.',
  });

const JwtData = z
  .strictObject({
    secret: optionalText(
      'Shared secret or public key to verify signatures with. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it.',
      is.secret,
      { secret: 'sealed' },
      16_384,
    ),
  })
  .register(objectTraits, {
    name: 'KeyJwtData',
    description: 'Verification of JSON Web Tokens (JWT) by the gateway.',
  });

const Monitor = z
  .strictObject({
    triggerLimits: doubles(
      'Quota usage at which the gateway raises an event, in percent: above 0, at most 100, in descending order. Example: 90.',
      is.percent,
      { unit: 'percent' },
    ),
  })
  .register(objectTraits, {
    name: 'QuotaMonitor',
    description: 'Events that the gateway raises when quota usage reaches a limit.',
  });

const Smoothing = z
  .strictObject({
    delay: int32('Minimum time between two changes of the rate limit, in seconds. Example: 30.', undefined, {
      unit: 'seconds',
    }),
    enabled: flag('Whether smoothing is enabled. If true, the other four fields are required and must be above 0.'),
    step: int32('Number of requests by which one change raises or lowers the rate limit. Example: 10.', undefined, {
      unit: 'requests',
    }),
    threshold: int32('Initial rate limit, in requests. Example: 50.', undefined, { unit: 'requests' }),
    trigger: double('Fraction of `step` that triggers a change, above 0 and at most 1. Example: 0.5.'),
  })
  .register(objectTraits, {
    name: 'KeySmoothing',
    description: 'Gradual changes of the rate limit by the gateway.',
  });

/**
 * The key definition: every field once, in the order of section 2.1 of the key API's document. GraphQL types, REST names,
 * OpenAPI and documentation are derived from it.
 */
export const KeyDefinition = z.strictObject({
  accessRights: list('Access rights of the key, one entry for each API.', AccessRight, 1000),
  alias: text('Display name of the key; need not be unique. Example: Billing, production.'),
  allowance: double('The value is stored unchanged.', undefined, { obsolete: 'Has no effect.' }),
  applyPolicies: texts(
    'Identifiers of the policies that the gateway applies to the key, in this order. Example: gold.',
  ),
  applyPolicyID: text(
    'Identifier of a policy. The value is moved into `applyPolicies` if that is absent or empty, and otherwise ignored, with a warning.',
    512,
    {
      deprecated: 'Use `applyPolicies`.',
    },
  ),
  basicAuthData: nested('Credentials for HTTP Basic authentication. The gateway verifies them.', BasicAuthData),
  certificate: text('Client certificate, or its identifier in the gateway.', 65_536),
  mtlsStaticCertificateBindings: texts(
    'Identifiers, in the gateway, of the certificates that the key is bound to. Available in previews only.',
    { only: 'preview' },
  ),
  dataExpires: int64('Retention of the analytics data of the key, in seconds. Example: 2592000 (30 days).', undefined, {
    unit: 'seconds',
  }),
  dateCreated: dateTime(
    'Time at which the key was created. Set by the service; a value in input is ignored with a warning.',
    {
      serverOwned: true,
    },
  ),
  enableDetailedRecording: flag('Whether the gateway records complete requests and responses.'),
  enableDetailRecording: flag('Former name of `enableDetailedRecording`. The value is moved there with a warning.', {
    only: 'update',
    deprecated: 'Use `enableDetailedRecording`.',
  }),
  enableHttpSignatureValidation: flag(
    'Whether the gateway requires requests to have an HTTP signature. Available for stored keys only.',
    { only: 'update' },
  ),
  expires: int64(
    'Time at which the key expires, in Unix seconds. A key with a value below 1 or null never expires. Example: 1893456000.',
    undefined,
    { unit: 'Unix seconds' },
  ),
  hmacEnabled: flag('Whether the gateway requires requests to be signed with `hmacString`.'),
  hmacString: optionalText(
    'Shared secret of HMAC signatures. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it.',
    is.secret,
    { secret: 'sealed' },
    4096,
  ),
  idExtractorDeadline: int64(
    'Time until which the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000.',
    undefined,
    { unit: 'Unix seconds' },
  ),
  isInactive: flag('Whether the key is disabled. The gateway rejects all requests with a disabled key.'),
  jwtData: nested('Verification of JSON Web Tokens (JWT) by the gateway.', JwtData),
  keyID: ruledText(
    'Key identifier of the preview, at most 255 bytes. If absent, a new one is generated. Available in previews only. Example: acme-billing.',
    is.keyID,
    { only: 'preview', scalar: 'ID' },
  ),
  lastCheck: int64('The value is stored unchanged.', undefined, { obsolete: 'Has no effect.' }),
  lastUpdated: optionalText(
    'Time at which the key was last updated, in Unix seconds, as text. Set by the service; a value in input is ignored with a warning. Example: 1769860800.',
    is.digits,
    { serverOwned: true, unit: 'Unix seconds' },
  ),
  maxQueryDepth: int32(
    'Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10.',
    off,
    { unit: 'levels' },
  ),
  metaData: freeForm('Your own data about the key, as any JSON. It is returned by reads: do not store secrets in it.'),
  monitor: nested('Events that the gateway raises when quota usage reaches a limit.', Monitor),
  oauthClientID: text('Identifier, in the gateway, of the OAuth client that the key belongs to.'),
  oauthKeys: freeFormObject('Key identifiers by OAuth client. Stored unchanged.'),
  orgID: optionalText(
    'Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. Example: acme.',
    is.orgID,
    { fixed: true },
    256,
    // Gateways export a blank text for a key without an organization.
    /^\s*$/,
  ),
  per: limits.per,
  quotaMax: limits.quotaMax,
  quotaRemaining: limits.quotaRemaining,
  quotaRenewalRate: limits.quotaRenewalRate,
  quotaRenews: int64(
    'End of the quota period when the definition was written, in Unix seconds. Sets the initial live quota of a new key; the live quota has the current value. Example: 1893456000.',
    undefined,
    { unit: 'Unix seconds' },
  ),
  rate: limits.rate,
  rsaCertificateID: text(
    'Identifier, in the gateway, of the certificate to verify RSA signatures with. Available for stored keys only.',
    256,
    { only: 'update' },
  ),
  sessionLifetime: int64('Lifetime of the session of the key in the gateway, in seconds. Example: 3600.', undefined, {
    unit: 'seconds',
  }),
  smoothing: nested('Gradual changes of the rate limit by the gateway.', Smoothing),
  tags: texts('Labels to find the key and its traffic. Trimmed, and without duplicates. Example: production.'),
  throttleInterval: limits.throttleInterval,
  throttleRetryLimit: limits.throttleRetryLimit,
});

/** A definition as clients send it; see the schema of this name. */
export type KeyDefinition = z.output<typeof KeyDefinition>;
/** The two forms of a definition, which differ in a few fields. */
export type Variant = 'preview' | 'update';

/** Returns the fields of a key, without those of nested objects, whose traits satisfy the condition. */
export function fieldsWith(condition: (traits: FieldTraits) => boolean): readonly (keyof KeyDefinition)[] {
  const fields = Object.keys(KeyDefinition.shape) as (keyof KeyDefinition)[];
  return fields.filter((field) => condition(fieldTraits.get(KeyDefinition.shape[field]) ?? {}));
}

/** The fields that only this variant has. */
export function fieldsOnlyIn(variant: Variant): ReadonlySet<string> {
  return new Set(fieldsWith(({ only }) => only === variant));
}

/** The fields of free-form JSON. */
export const freeFormFields = fieldsWith(isFreeForm);

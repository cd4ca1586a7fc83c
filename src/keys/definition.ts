import { z } from 'zod';
import * as is from './field-rules.js';
import {
  dateTime,
  double,
  doubles,
  fieldTraits,
  flag,
  freeForm,
  freeFormObject,
  int32,
  int64,
  label,
  list,
  name,
  nested,
  objectTraits,
  ruledText,
  text,
  texts,
} from './fields.js';

/** The value that says unlimited, or off. Nothing below it is valid where it has that meaning. */
export const unlimited = -1n;
const off = -1;

const limits = {
  per: double(
    'The period that `rate` is counted over, in seconds. 0 or less switches the rate limit off. Example: 60.',
    off,
  ),
  quotaMax: int64('Requests allowed in a quota period; -1 is unlimited. Example: 10000.', unlimited),
  quotaRemaining: int64('Requests left in the current quota period; -1 is unlimited.', unlimited),
  quotaRenewalRate: int64(
    'Length of the quota period, in seconds. 0 or less never renews. Example: 2592000, 30 days.',
    unlimited,
  ),
  rate: double('Requests allowed in the period `per`; -1 is unlimited. Example: 100.', off),
  throttleInterval: double(
    'How long a request over the limit is held before it is tried again, in seconds; -1 is off.',
    off,
  ),
  throttleRetryLimit: int32('How often a held request is tried again; -1 is off.', off),
};

const AllowedUrl = z
  .strictObject({
    methods: texts('HTTP methods, in upper case in the normal form. Example: GET.', { rule: is.httpMethod, most: 50 }),
    url: name(
      'A path, as a regular expression of the gateway. It is stored as text and never run here. Example: /invoices/.*',
      2048,
    ),
  })
  .register(objectTraits, { name: 'AllowedUrl', description: 'Paths and methods that a key may call.' });

const Limit = z.strictObject(limits).register(objectTraits, {
  name: 'Limit',
  description: 'Limits of one API; each has the meaning of the key’s own field of that name.',
});

const AccessRight = z
  .strictObject({
    label: label('The name the entry goes by. A gateway finds an entry by its API identifier, so make the two equal.'),
    apiID: text('Identifier of the API.'),
    apiName: text('Name of the API, for people.'),
    versions: texts('Versions of the API that may be called. Example: Default.'),
    allowedUrls: list('What may be called; everything where the list is absent or empty.', AllowedUrl, 1000),
    limit: nested('Limits for this API alone.', Limit),
  })
  .register(objectTraits, { name: 'AccessRight', description: 'What a key may do with one API.' });

const BasicAuthData = z
  .strictObject({
    hashType: ruledText('How the password is kept: bcrypt (default) or argon2id.', is.hashType),
    password: ruledText(
      'The password, in clear; it is hashed when the key is stored and never shown.',
      is.secret,
      { secret: 'hashed' },
      1024,
    ),
    user: text('User name.'),
  })
  .register(objectTraits, { name: 'BasicAuthData', description: 'Credentials for HTTP basic authentication.' });

const JwtData = z
  .strictObject({
    secret: ruledText(
      'The secret or public key that signatures are checked with. Kept encrypted, never shown.',
      is.secret,
      { secret: 'sealed' },
      16_384,
    ),
  })
  .register(objectTraits, { name: 'JwtData', description: 'What JSON web tokens of this key are checked with.' });

const Monitor = z
  .strictObject({
    triggerLimits: doubles(
      'Shares of the quota at which the gateway raises an event, in percent, highest first. Example: 90.',
      is.percent,
    ),
  })
  .register(objectTraits, { name: 'Monitor', description: 'When to raise events about the use of the quota.' });

const Smoothing = z
  .strictObject({
    delay: int32('Time between two changes of the limit, in seconds.'),
    enabled: flag('Whether the limit follows the load. The other four are then required, above 0.'),
    step: int32('By how many requests the limit changes.'),
    threshold: int32('The limit to begin with, in requests.'),
    trigger: double('The share of `step` that brings a change about, above 0 and at most 1. Example: 0.5.'),
  })
  .register(objectTraits, { name: 'Smoothing', description: 'Raises and lowers the rate limit step by step.' });

/**
 * The key definition: every field once, in the order of the key API's document (section 2.1). Inputs, outputs, wire
 * names, OpenAPI and documentation are derived from it.
 */
export const KeyDefinition = z.strictObject({
  accessRights: list('What the key may do, API by API.', AccessRight, 1000),
  alias: text('Human-readable name of the key. Example: Billing, production.'),
  allowance: double('Obsolete; carried as it is.'),
  applyPolicies: texts('Identifiers of the policies applied to the key.'),
  applyPolicyID: text('Identifier of the policy applied to the key.', 512, { deprecated: 'Use `applyPolicies`.' }),
  basicAuthData: nested('Credentials for HTTP basic authentication.', BasicAuthData),
  certificate: text('Certificate of the client, or its identifier.', 65_536),
  mtlsStaticCertificateBindings: texts('Identifiers of certificates bound to the key.', { only: 'preview' }),
  dataExpires: int64('How long analytics data of the key is kept, in seconds.'),
  dateCreated: dateTime('When the key was created. Set by the service; ignored in input.', { serverOwned: true }),
  enableDetailedRecording: flag('Whether the gateway records requests and responses in full.'),
  enableDetailRecording: flag('Whether the gateway records requests and responses in full.', {
    only: 'update',
    deprecated: 'Use `enableDetailedRecording`.',
  }),
  enableHttpSignatureValidation: flag('Whether requests must carry an HTTP signature.', { only: 'update' }),
  expires: int64('When the key expires, in Unix seconds. Below 1 it never does. Example: 1893456000.'),
  hmacEnabled: flag('Whether requests are signed with `hmacString`.'),
  hmacString: ruledText(
    'The secret of HMAC signatures. Kept encrypted, never shown.',
    is.secret,
    { secret: 'sealed' },
    4096,
  ),
  idExtractorDeadline: int64('Until when a custom authentication result is cached, in Unix seconds.'),
  isInactive: flag('Whether the key is switched off.'),
  jwtData: nested('What JSON web tokens of this key are checked with.', JwtData),
  keyID: ruledText('The key identifier to preview with; a new one is made where it is absent.', is.keyID, {
    only: 'preview',
    scalar: 'ID',
  }),
  lastCheck: int64('Obsolete; carried as it is.'),
  lastUpdated: ruledText(
    'When the key was last updated, in Unix seconds, as text. Set by the service; ignored in input.',
    is.digits,
    { serverOwned: true },
  ),
  maxQueryDepth: int32('How deep a GraphQL query may be; -1 is unlimited.', off),
  metaData: freeForm('Anything you want to keep with the key.'),
  monitor: nested('When to raise events about the use of the quota.', Monitor),
  oauthClientID: text('Identifier of the OAuth client the key belongs to.'),
  oauthKeys: freeFormObject('Keys by OAuth client.'),
  orgID: text('Identifier of the owning organisation. That of a stored key does not change.'),
  per: limits.per,
  quotaMax: limits.quotaMax,
  quotaRemaining: limits.quotaRemaining,
  quotaRenewalRate: limits.quotaRenewalRate,
  quotaRenews: int64('When the quota renews next, in Unix seconds.'),
  rate: limits.rate,
  rsaCertificateID: text('Identifier of the certificate that RSA signatures are checked with.', 256, {
    only: 'update',
  }),
  sessionLifetime: int64('How long the gateway keeps the session, in seconds.'),
  smoothing: nested('Raises and lowers the rate limit step by step.', Smoothing),
  tags: texts('Labels to find the key and its traffic by.'),
  throttleInterval: limits.throttleInterval,
  throttleRetryLimit: limits.throttleRetryLimit,
});

export type KeyDefinition = z.output<typeof KeyDefinition>;
export type Variant = 'preview' | 'update';

/** The fields that one variant has and the other has not. */
export function fieldsOnlyIn(variant: Variant): ReadonlySet<string> {
  return new Set(
    Object.entries(KeyDefinition.shape).flatMap(([field, schema]) =>
      fieldTraits.get(schema)?.only === variant ? [field] : [],
    ),
  );
}

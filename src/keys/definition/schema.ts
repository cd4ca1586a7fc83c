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
} from './field-types.js';

/** The value that says unlimited, or off. Nothing below it is valid where it has that meaning. */
export const unlimited = -1n;
const off = -1;

const limits = {
  per: double(
    'The period that `rate` is counted over, in seconds; 0 or less switches the rate limit off. The gateway enforces it. Example: 60.',
    off,
  ),
  quotaMax: int64(
    'Requests allowed in a quota period of `quotaRenewalRate` seconds; -1, 0 or no value is unlimited. Example: 10000.',
    unlimited,
  ),
  quotaRemaining: int64(
    'Requests left in the quota period when the definition was written; -1 is unlimited. The live quota of a new key starts from it, and tells what is left now. Example: 9500.',
    unlimited,
  ),
  quotaRenewalRate: int64(
    'Length of the quota period, in seconds; -1, 0 or no value never renews. Example: 2592000, which is 30 days.',
    unlimited,
  ),
  rate: double(
    'Requests allowed in a period of `per` seconds; -1 is unlimited. The gateway enforces it. Example: 100.',
    off,
  ),
  throttleInterval: double(
    'How long the gateway holds a request over the rate limit before it tries again, in seconds; -1 is off. Example: 0.5.',
    off,
  ),
  throttleRetryLimit: int32(
    'How many times the gateway tries a request again that it holds; -1 is off. Example: 3.',
    off,
  ),
};

const AllowedUrl = z
  .strictObject({
    methods: texts('HTTP methods that may be used, in upper case in the normal form. Example: GET.', {
      rule: is.httpMethod,
      most: 50,
    }),
    url: name(
      'A path, as a regular expression of the gateway. It is stored as text and never run here. Example: /invoices/.*',
      2048,
    ),
  })
  .register(objectTraits, { name: 'AllowedUrl', description: 'A path that a key may call, and the methods for it.' });

const Limit = z.strictObject(limits).register(objectTraits, {
  name: 'Limit',
  description:
    'Limits of one API, which the gateway enforces; each has the meaning of the key’s own field of that name.',
});

const AccessRight = z
  .strictObject({
    label: label(
      'The name the entry goes by, unique in its list. A gateway finds an entry by its API identifier, so make the two equal. Example: invoices.',
    ),
    apiID: text('Identifier of the API at the gateway. Example: invoices.'),
    apiName: text('Name of the API, for people. Example: Invoices.'),
    versions: texts('Names of the versions of the API that may be called. Example: Default.'),
    allowedUrls: list('What may be called; everything where the list is absent or empty.', AllowedUrl, 1000),
    limit: nested('Limits for this API alone.', Limit),
  })
  .register(objectTraits, { name: 'AccessRight', description: 'What a key may do with one API.' });

const BasicAuthData = z
  .strictObject({
    hashType: ruledText(
      'How the password is kept: bcrypt (default) or argon2id. Another one needs the `password` to be sent again.',
      is.hashType,
    ),
    password: ruledText(
      'The password, in clear, of at most 72 bytes with bcrypt; it is hashed when the key is stored and never shown. An update that leaves it out keeps what is stored, null clears it.',
      is.secret,
      { secret: 'hashed' },
      1024,
    ),
    user: text('User name that the gateway expects. Example: billing.'),
  })
  .register(objectTraits, {
    name: 'BasicAuthData',
    description: 'Credentials for HTTP basic authentication, which the gateway checks.',
  });

const JwtData = z
  .strictObject({
    secret: ruledText(
      'The shared secret, or the public key, that signatures are checked with. Kept encrypted, never shown; an update that leaves it out keeps what is stored, null clears it.',
      is.secret,
      { secret: 'sealed' },
      16_384,
    ),
  })
  .register(objectTraits, {
    name: 'JwtData',
    description: 'What the gateway checks JSON web tokens of this key with.',
  });

const Monitor = z
  .strictObject({
    triggerLimits: doubles(
      'Shares of the quota at which the gateway raises an event, in percent: above 0, at most 100, the highest first. Example: 90.',
      is.percent,
    ),
  })
  .register(objectTraits, {
    name: 'Monitor',
    description: 'When the gateway raises events about the use of the quota.',
  });

const Smoothing = z
  .strictObject({
    delay: int32('Time between two changes of the limit, in seconds. Example: 30.'),
    enabled: flag('Whether the limit follows the load. The other four are then required, above 0.'),
    step: int32('By how many requests the limit changes. Example: 10.'),
    threshold: int32('The limit to begin with, in requests. Example: 50.'),
    trigger: double('The share of `step` that brings a change about, above 0 and at most 1. Example: 0.5.'),
  })
  .register(objectTraits, {
    name: 'Smoothing',
    description: 'How the gateway raises and lowers the rate limit, step by step.',
  });

/**
 * The key definition: every field once, in the order of the key API's document (section 2.1). Inputs, outputs, wire
 * names, OpenAPI and documentation are derived from it.
 */
export const KeyDefinition = z.strictObject({
  accessRights: list('What the key may do, with an entry for each API.', AccessRight, 1000),
  alias: text('Name of the key, for people; several keys may share one. Example: Billing, production.'),
  allowance: double('Obsolete number. It is carried as it is, and has no effect here.'),
  applyPolicies: texts('Identifiers of the policies that the gateway applies to the key, in order. Example: gold.'),
  applyPolicyID: text('Identifier of one more policy, which is moved into `applyPolicies` with a warning.', 512, {
    deprecated: 'Use `applyPolicies`.',
  }),
  basicAuthData: nested('Credentials for HTTP basic authentication, which the gateway checks.', BasicAuthData),
  certificate: text('Certificate of the client, or its identifier at the gateway.', 65_536),
  mtlsStaticCertificateBindings: texts(
    'Identifiers, at the gateway, of certificates that the key is bound to. Only a preview has them.',
    { only: 'preview' },
  ),
  dataExpires: int64('How long analytics data of the key is kept, in seconds. Example: 2592000, which is 30 days.'),
  dateCreated: dateTime('When the key was created. The service sets it, and ignores it in input with a warning.', {
    serverOwned: true,
  }),
  enableDetailedRecording: flag('Whether the gateway records requests and responses in full.'),
  enableDetailRecording: flag('Earlier name of `enableDetailedRecording`, into which it is moved with a warning.', {
    only: 'update',
    deprecated: 'Use `enableDetailedRecording`.',
  }),
  enableHttpSignatureValidation: flag(
    'Whether the gateway wants requests to carry an HTTP signature. Only a stored key has it.',
    { only: 'update' },
  ),
  expires: int64(
    'When the key expires, in Unix seconds; below 1, or with no value, it never does. Example: 1893456000.',
  ),
  hmacEnabled: flag('Whether the gateway wants requests to be signed with `hmacString`.'),
  hmacString: ruledText(
    'The shared secret of HMAC signatures. Kept encrypted, never shown; an update that leaves it out keeps what is stored, null clears it.',
    is.secret,
    { secret: 'sealed' },
    4096,
  ),
  idExtractorDeadline: int64(
    'Until when the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000.',
  ),
  isInactive: flag('Whether the key is switched off: no request of it may pass.'),
  jwtData: nested('What the gateway checks JSON web tokens of this key with.', JwtData),
  keyID: ruledText(
    'The key identifier to preview with, of at most 255 bytes; a new one is made where it is absent. Only a preview has it. Example: acme-billing.',
    is.keyID,
    { only: 'preview', scalar: 'ID' },
  ),
  lastCheck: int64('Obsolete number. It is carried as it is, and has no effect here.'),
  lastUpdated: ruledText(
    'When the key was last updated, in Unix seconds, as text. The service sets it, and ignores it in input with a warning. Example: 1769860800.',
    is.digits,
    { serverOwned: true },
  ),
  maxQueryDepth: int32('How many levels deep the gateway lets a GraphQL query be; -1 is unlimited. Example: 10.', off),
  metaData: freeForm('Anything you want to keep with the key, and nothing secret: reads show it. Any JSON.'),
  monitor: nested('When the gateway raises events about the use of the quota.', Monitor),
  oauthClientID: text('Identifier, at the gateway, of the OAuth client that the key belongs to.'),
  oauthKeys: freeFormObject('Identifiers of keys by OAuth client. They are carried as they are.'),
  orgID: ruledText(
    'Identifier of the organisation that owns the key, of at most 223 bytes and the characters of key identifiers. A stored key keeps its own, and another is an error; a new key without one gets that of the credential. Example: acme.',
    is.orgID,
  ),
  per: limits.per,
  quotaMax: limits.quotaMax,
  quotaRemaining: limits.quotaRemaining,
  quotaRenewalRate: limits.quotaRenewalRate,
  quotaRenews: int64(
    'When the quota period ends, as of when the definition was written, in Unix seconds. The live quota of a new key starts from it, and tells when the period ends now. Example: 1893456000.',
  ),
  rate: limits.rate,
  rsaCertificateID: text(
    'Identifier, at the gateway, of the certificate that RSA signatures are checked with. Only a stored key has it.',
    256,
    { only: 'update' },
  ),
  sessionLifetime: int64('How long the gateway keeps the session of the key, in seconds. Example: 3600.'),
  smoothing: nested('How the gateway raises and lowers the rate limit, step by step.', Smoothing),
  tags: texts('Labels to find the key and its traffic by, trimmed and each once. Example: production.'),
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

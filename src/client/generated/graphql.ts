/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** What a document carries for the compiler alone. */
export interface DocumentTypeDecoration<TResult, TVariables> {
  __apiType?: (variables: TVariables) => TResult;
}
/** What a key may do with one API. */
export type AccessRightInput = {
  /** What may be called; everything where the list is absent or empty. At most 1000 items. */
  allowedUrls?: Array<AllowedUrlInput> | null | undefined;
  /** Identifier of the API at the gateway. At most 256 characters. Example: invoices. */
  apiID?: string | null | undefined;
  /** Name of the API, for people. At most 256 characters. Example: Invoices. */
  apiName?: string | null | undefined;
  /** The name the entry goes by, unique in its list. A gateway finds an entry by its API identifier, so make the two equal. At most 256 characters. Example: invoices. */
  label: string;
  /** Limits for this API alone. */
  limit?: LimitInput | null | undefined;
  /** Names of the versions of the API that may be called. At most 100 items of at most 512 characters each. Example: Default. */
  versions?: Array<string> | null | undefined;
};

/** A path that a key may call, and the methods for it. */
export type AllowedUrlInput = {
  /** HTTP methods that may be used, in upper case in the normal form. At most 50 items of at most 512 characters each. Example: GET. */
  methods?: Array<string> | null | undefined;
  /** A path, as a regular expression of the gateway. It is stored as text and never run here. At most 2048 characters. Example: /invoices/.* */
  url?: string | null | undefined;
};

/** Credentials for HTTP basic authentication, which the gateway checks. */
export type BasicAuthDataInput = {
  /** How the password is kept: bcrypt (default) or argon2id. Another one needs the `password` to be sent again. At most 256 characters. */
  hashType?: string | null | undefined;
  /** The password, in clear, of at most 72 bytes with bcrypt; it is hashed when the key is stored and never shown. An update that leaves it out keeps what is stored, null clears it. At most 1024 characters. */
  password?: string | null | undefined;
  /** User name that the gateway expects. At most 256 characters. Example: billing. */
  user?: string | null | undefined;
};

/** How a field differs between two versions. */
export type ChangeKind =
  /** The field had no value before the change. */
  | 'ADDED'
  /** The field has another value. Values of secrets are not returned. */
  | 'CHANGED'
  /** A secret was removed. */
  | 'CLEARED'
  /** The field has no value after the change. */
  | 'REMOVED'
  /** A secret was set that was not set before. */
  | 'SET';

/** What the gateway checks JSON web tokens of this key with. */
export type JwtDataInput = {
  /** The shared secret, or the public key, that signatures are checked with. Kept encrypted, never shown; an update that leaves it out keeps what is stored, null clears it. At most 16384 characters. */
  secret?: string | null | undefined;
};

/** An operation that changed a key. */
export type KeyOperation =
  /** The key was created. */
  | 'CREATE'
  /** The key was deleted. */
  | 'DELETE'
  /** The key was imported by the command line. */
  | 'IMPORT'
  /** The deleted key was restored. */
  | 'RESTORE'
  /** The definition of an earlier version was restored. */
  | 'REVERT'
  /** The definition was updated or the quota was reset. */
  | 'UPDATE';

/** State of a key: whether it can be used, and if not, why. */
export type KeyState =
  /** The key can be used: it is not inactive, expired or deleted. */
  | 'ACTIVE'
  /** The key is deleted and can still be restored. */
  | 'DELETED'
  /** The time in `expires` of the key has passed. */
  | 'EXPIRED'
  /** The key is switched off by `isInactive`. It may also have expired. */
  | 'INACTIVE';

/** Limits of one API, which the gateway enforces; each has the meaning of the key’s own field of that name. */
export type LimitInput = {
  /** The period that `rate` is counted over, in seconds; 0 or less switches the rate limit off. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period of `quotaRenewalRate` seconds; -1, 0 or no value is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written; -1 is unlimited. The live quota of a new key starts from it, and tells what is left now. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds; -1, 0 or no value never renews. Example: 2592000, which is 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** Requests allowed in a period of `per` seconds; -1 is unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** How long the gateway holds a request over the rate limit before it tries again, in seconds; -1 is off. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** How many times the gateway tries a request again that it holds; -1 is off. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** When the gateway raises events about the use of the quota. */
export type MonitorInput = {
  /** Shares of the quota at which the gateway raises an event, in percent: above 0, at most 100, the highest first. At most 100 items. Example: 90. */
  triggerLimits?: Array<number> | null | undefined;
};

/** Filters keys. All conditions must match; null is the same as omitted. Deleted keys are excluded unless `state` is DELETED. */
export type OrgKeyFilter = {
  /** Keys whose alias starts with this value, case-sensitive. Example: Billing. */
  aliasPrefix?: string | null | undefined;
  /** Keys with an access right that has this `apiID`. Example: invoices. */
  apiID?: string | null | undefined;
  /** Keys that expire before this time, in Unix seconds. Keys that never expire do not match. Example: 1893456000. */
  expiresBefore?: number | string | null | undefined;
  /** Keys of this organisation. Example: acme. */
  orgID?: string | null | undefined;
  /** Keys with this policy identifier in `applyPolicies`. Example: gold. */
  policy?: string | null | undefined;
  /** Keys in this state. Default: all states except DELETED. */
  state?: KeyState | null | undefined;
  /** Keys with exactly this tag, case-sensitive. Example: production. */
  tag?: string | null | undefined;
  /** Keys last changed at or after this time, in Unix seconds. Example: 1769860800. */
  updatedSince?: number | string | null | undefined;
};

/** The order of a list of keys. Keys with equal values are ordered by hash. */
export type OrgKeyOrder =
  /** By alias, in byte order; keys without an alias first. */
  | 'ALIAS'
  /** By hash of the key identifier: the cheapest order for nearly all filters. */
  | 'KEY_HASH'
  /** By the last update, oldest first. */
  | 'LAST_UPDATED';

/** A key definition to preview. All fields are optional; null is the same as omitted. */
export type PreviewKeyInput = {
  /** What the key may do, with an entry for each API. At most 1000 items. */
  accessRights?: Array<AccessRightInput> | null | undefined;
  /** Name of the key, for people; several keys may share one. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /** Obsolete number. It is carried as it is, and has no effect here. */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of one more policy, which is moved into `applyPolicies` with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP basic authentication, which the gateway checks. */
  basicAuthData?: BasicAuthDataInput | null | undefined;
  /** Certificate of the client, or its identifier at the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** How long analytics data of the key is kept, in seconds. Example: 2592000, which is 30 days. */
  dataExpires?: number | string | null | undefined;
  /** When the key was created. The service sets it, and ignores it in input with a warning. */
  dateCreated?: string | null | undefined;
  /** Whether the gateway records requests and responses in full. */
  enableDetailedRecording?: boolean | null | undefined;
  /** When the key expires, in Unix seconds; below 1, or with no value, it never does. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway wants requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** The shared secret of HMAC signatures. Kept encrypted, never shown; an update that leaves it out keeps what is stored, null clears it. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Until when the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is switched off: no request of it may pass. */
  isInactive?: boolean | null | undefined;
  /** What the gateway checks JSON web tokens of this key with. */
  jwtData?: JwtDataInput | null | undefined;
  /** The key identifier to preview with, of at most 255 bytes; a new one is made where it is absent. Only a preview has it. Example: acme-billing. */
  keyID?: string | number | null | undefined;
  /** Obsolete number. It is carried as it is, and has no effect here. */
  lastCheck?: number | string | null | undefined;
  /** When the key was last updated, in Unix seconds, as text. The service sets it, and ignores it in input with a warning. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** How many levels deep the gateway lets a GraphQL query be; -1 is unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Anything you want to keep with the key, and nothing secret: reads show it. Any JSON. At most 32 levels deep, and 10000 members in all. */
  metaData?: unknown;
  /** When the gateway raises events about the use of the quota. */
  monitor?: MonitorInput | null | undefined;
  /** Identifiers, at the gateway, of certificates that the key is bound to. Only a preview has them. At most 100 items of at most 512 characters each. */
  mtlsStaticCertificateBindings?: Array<string> | null | undefined;
  /** Identifier, at the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Identifiers of keys by OAuth client. They are carried as they are. At most 32 levels deep, and 10000 members in all. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organisation that owns the key, of at most 223 bytes and the characters of key identifiers. A stored key keeps its own, and another is an error; a new key without one gets that of the credential. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** The period that `rate` is counted over, in seconds; 0 or less switches the rate limit off. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period of `quotaRenewalRate` seconds; -1, 0 or no value is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written; -1 is unlimited. The live quota of a new key starts from it, and tells what is left now. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds; -1, 0 or no value never renews. Example: 2592000, which is 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** When the quota period ends, as of when the definition was written, in Unix seconds. The live quota of a new key starts from it, and tells when the period ends now. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Requests allowed in a period of `per` seconds; -1 is unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** How long the gateway keeps the session of the key, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** How the gateway raises and lowers the rate limit, step by step. */
  smoothing?: SmoothingInput | null | undefined;
  /** Labels to find the key and its traffic by, trimmed and each once. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** How long the gateway holds a request over the rate limit before it tries again, in seconds; -1 is off. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** How many times the gateway tries a request again that it holds; -1 is off. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** Why requests are not allowed. */
export type QuotaRefusal =
  /** The key has expired. */
  | 'EXPIRED'
  /** The key is switched off. */
  | 'INACTIVE'
  /** Fewer requests remain than were requested. */
  | 'QUOTA_EXCEEDED';

/** Status of a requested reset of the live quota. A pending reset is stored and is not lost. */
export type QuotaResetStatus =
  /** The live quota was reset: requests are counted from 0. */
  | 'APPLIED'
  /** The counter could not be reached. The reset is stored with the definition and is applied as soon as possible. */
  | 'PENDING';

/** How the gateway raises and lowers the rate limit, step by step. */
export type SmoothingInput = {
  /** Time between two changes of the limit, in seconds. Example: 30. */
  delay?: number | null | undefined;
  /** Whether the limit follows the load. The other four are then required, above 0. */
  enabled?: boolean | null | undefined;
  /** By how many requests the limit changes. Example: 10. */
  step?: number | null | undefined;
  /** The limit to begin with, in requests. Example: 50. */
  threshold?: number | null | undefined;
  /** The share of `step` that brings a change about, above 0 and at most 1. Example: 0.5. */
  trigger?: number | null | undefined;
};

/** A key definition. In `updateOrgKey` it replaces the stored one: omitted fields are removed, except secrets, which are kept; null removes a secret. In `updateOrgKeys` it is a patch: omitted fields are kept; null removes a field. */
export type UpdateKeyInput = {
  /** What the key may do, with an entry for each API. At most 1000 items. */
  accessRights?: Array<AccessRightInput> | null | undefined;
  /** Name of the key, for people; several keys may share one. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /** Obsolete number. It is carried as it is, and has no effect here. */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of one more policy, which is moved into `applyPolicies` with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP basic authentication, which the gateway checks. */
  basicAuthData?: BasicAuthDataInput | null | undefined;
  /** Certificate of the client, or its identifier at the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** How long analytics data of the key is kept, in seconds. Example: 2592000, which is 30 days. */
  dataExpires?: number | string | null | undefined;
  /** When the key was created. The service sets it, and ignores it in input with a warning. */
  dateCreated?: string | null | undefined;
  /**
   * Earlier name of `enableDetailedRecording`, into which it is moved with a warning.
   * @deprecated Use `enableDetailedRecording`.
   */
  enableDetailRecording?: boolean | null | undefined;
  /** Whether the gateway records requests and responses in full. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Whether the gateway wants requests to carry an HTTP signature. Only a stored key has it. */
  enableHttpSignatureValidation?: boolean | null | undefined;
  /** When the key expires, in Unix seconds; below 1, or with no value, it never does. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway wants requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** The shared secret of HMAC signatures. Kept encrypted, never shown; an update that leaves it out keeps what is stored, null clears it. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Until when the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is switched off: no request of it may pass. */
  isInactive?: boolean | null | undefined;
  /** What the gateway checks JSON web tokens of this key with. */
  jwtData?: JwtDataInput | null | undefined;
  /** Obsolete number. It is carried as it is, and has no effect here. */
  lastCheck?: number | string | null | undefined;
  /** When the key was last updated, in Unix seconds, as text. The service sets it, and ignores it in input with a warning. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** How many levels deep the gateway lets a GraphQL query be; -1 is unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Anything you want to keep with the key, and nothing secret: reads show it. An object. At most 32 levels deep, and 10000 members in all. */
  metaData?: Record<string, unknown> | null | undefined;
  /** When the gateway raises events about the use of the quota. */
  monitor?: MonitorInput | null | undefined;
  /** Identifier, at the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Identifiers of keys by OAuth client. They are carried as they are. At most 32 levels deep, and 10000 members in all. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organisation that owns the key, of at most 223 bytes and the characters of key identifiers. A stored key keeps its own, and another is an error; a new key without one gets that of the credential. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** The period that `rate` is counted over, in seconds; 0 or less switches the rate limit off. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period of `quotaRenewalRate` seconds; -1, 0 or no value is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written; -1 is unlimited. The live quota of a new key starts from it, and tells what is left now. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds; -1, 0 or no value never renews. Example: 2592000, which is 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** When the quota period ends, as of when the definition was written, in Unix seconds. The live quota of a new key starts from it, and tells when the period ends now. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Requests allowed in a period of `per` seconds; -1 is unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Identifier, at the gateway, of the certificate that RSA signatures are checked with. Only a stored key has it. At most 256 characters. */
  rsaCertificateID?: string | null | undefined;
  /** How long the gateway keeps the session of the key, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** How the gateway raises and lowers the rate limit, step by step. */
  smoothing?: SmoothingInput | null | undefined;
  /** Labels to find the key and its traffic by, trimmed and each once. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** How long the gateway holds a request over the rate limit before it tries again, in seconds; -1 is off. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** How many times the gateway tries a request again that it holds; -1 is off. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** The kind of a warning. */
export type WarningCode =
  /** The field is deprecated; its value was moved to the field that replaces it. */
  | 'DEPRECATED_FIELD'
  /** The value looks like milliseconds; the field holds seconds. */
  | 'EXPIRES_IN_MILLISECONDS'
  /** The key has already expired. */
  | 'EXPIRES_IN_PAST'
  /** A gateway finds an entry by its API identifier, and the label is another. */
  | 'LABEL_MISMATCH'
  /** A rate without a positive period limits nothing. */
  | 'LIMIT_OFF'
  /** The quota has no renewal period, so it runs out once and for all. */
  | 'QUOTA_NEVER_RENEWS'
  /** More of the quota remains than there is. */
  | 'REMAINING_ABOVE_MAXIMUM'
  /** The service sets this field itself; the value sent was ignored. */
  | 'SERVER_OWNED'
  /** Gateways expect trigger limits from the highest to the lowest. */
  | 'TRIGGERS_NOT_DESCENDING';

export type PreviewKeyQueryVariables = Exact<{
  input: PreviewKeyInput;
}>;


export type PreviewKeyQuery = { previewKey: { apiModel: Record<string, unknown>, keyHash: string, keyID: string, data: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, warnings: Array<{ path: string, code: WarningCode, message: string }> } };

export type UpdateOrgKeyMutationVariables = Exact<{
  keyID: string | number;
  input: UpdateKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
}>;


export type UpdateOrgKeyMutation = { updateOrgKey: { action: string, key: string, keyHash: string, status: string, version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, orgKey: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> } };

export type PreviewOrgKeyUpdateQueryVariables = Exact<{
  keyID: string | number;
  input: UpdateKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
}>;


export type PreviewOrgKeyUpdateQuery = { previewOrgKeyUpdate: { version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> } };

export type OrgKeyQueryVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeyQuery = { orgKey: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, history: { edges: Array<{ cursor: string, node: { version: number, at: string, operation: KeyOperation, credentialID: string, credentialLabel: string, reason: string | null, requestID: string | null, quotaUsedBeforeReset: number | string | null, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }> } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null } | null };

export type OrgKeysQueryVariables = Exact<{
  filter?: OrgKeyFilter | null | undefined;
  orderBy?: OrgKeyOrder | null | undefined;
  descending?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeysQuery = { orgKeys: { totalCount: number, edges: Array<{ cursor: string, node: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node: { keyHash: string, id: string } | null };

export type CreateOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  input: UpdateKeyInput;
  reason?: string | null | undefined;
}>;


export type CreateOrgKeyMutation = { createOrgKey: { action: string, key: string, version: number } };

export type DeleteOrgKeyMutationVariables = Exact<{
  keyID: string | number;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type DeleteOrgKeyMutation = { deleteOrgKey: { action: string, version: number } };

export type RestoreOrgKeyMutationVariables = Exact<{
  keyID: string | number;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type RestoreOrgKeyMutation = { restoreOrgKey: { action: string, version: number } };

export type RevertOrgKeyMutationVariables = Exact<{
  keyID: string | number;
  toVersion: number;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type RevertOrgKeyMutation = { revertOrgKey: { action: string, version: number } };

export type ConsumeOrgQuotaMutationVariables = Exact<{
  keyID: string | number;
  amount?: number | string | null | undefined;
}>;


export type ConsumeOrgQuotaMutation = { consumeOrgQuota: { allowed: boolean, refusal: QuotaRefusal | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } };

export type UpdateOrgKeysMutationVariables = Exact<{
  filter: OrgKeyFilter;
  patch: UpdateKeyInput;
  resetQuota?: boolean | null | undefined;
  dryRun?: boolean;
  reason?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UpdateOrgKeysMutation = { updateOrgKeys: { dryRun: boolean, hasNextPage: boolean, endCursor: string | null, items: Array<{ orgKey: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null }, change: { version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> } | null, error: { code: string, message: string, issues: Array<{ path: string, code: string, message: string }> } | null }> } };

export type ResetOrgQuotasMutationVariables = Exact<{
  filter: OrgKeyFilter;
  dryRun?: boolean;
  reason?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ResetOrgQuotasMutation = { resetOrgQuotas: { dryRun: boolean, hasNextPage: boolean, endCursor: string | null, items: Array<{ orgKey: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null }, change: { version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> } | null, error: { code: string, message: string, issues: Array<{ path: string, code: string, message: string }> } | null }> } };

export type OrganizationOfKeyQueryVariables = Exact<{
  keyHash?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type OrganizationOfKeyQuery = { orgKey: { id: string, organization: { id: string, orgKeys: { totalCount: number, edges: Array<{ node: { id: string, keyHash: string } }> } | null, quotaSummary: { keys: number, limitedKeys: number, exhaustedKeys: number, max: number | string, used: number | string, remaining: number | string } | null } | null } | null };

export type OrgKeyFragment = { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null };

export type PreviewFragment = { version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> };

export type BulkFragment = { dryRun: boolean, hasNextPage: boolean, endCursor: string | null, items: Array<{ orgKey: { id: string, keyHash: string, keyID: string, orgID: string, version: number, state: KeyState, dateCreated: string, lastUpdated: number | string, deletedAt: string | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } | null }, change: { version: number, quotaReset: QuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } } | null, warnings: Array<{ path: string, code: WarningCode, message: string }> } | null, error: { code: string, message: string, issues: Array<{ path: string, code: string, message: string }> } | null }> };

export type ChangeFragment = { path: string, kind: ChangeKind, before: unknown, after: unknown };

export type EffectFragment = { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null } };

export type FiguresFragment = { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: number | string | null };

export type PlaceFragment = { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null };

export type DefinitionFragment = { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null };

export type OrgKeyChangedSubscriptionVariables = Exact<{
  orgID?: string | null | undefined;
  keyHash?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgKeyChangedSubscription = { orgKeyChanged: { cursor: string, keyHash: string | null, orgID: string | null, entry: { version: number, at: string, operation: KeyOperation, credentialLabel: string, reason: string | null, changes: Array<{ path: string, kind: ChangeKind, before: unknown, after: unknown }> } | null, key: { id: string, keyID: string, version: number, state: KeyState } | null } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const DefinitionFragmentDoc = new TypedDocumentString(`
    fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}
    `, {"fragmentName":"Definition"}) as unknown as TypedDocumentString<DefinitionFragment, unknown>;
export const FiguresFragmentDoc = new TypedDocumentString(`
    fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
    `, {"fragmentName":"Figures"}) as unknown as TypedDocumentString<FiguresFragment, unknown>;
export const OrgKeyFragmentDoc = new TypedDocumentString(`
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
    fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"fragmentName":"OrgKey"}) as unknown as TypedDocumentString<OrgKeyFragment, unknown>;
export const ChangeFragmentDoc = new TypedDocumentString(`
    fragment Change on FieldChange {
  path
  kind
  before
  after
}
    `, {"fragmentName":"Change"}) as unknown as TypedDocumentString<ChangeFragment, unknown>;
export const EffectFragmentDoc = new TypedDocumentString(`
    fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
    fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}`, {"fragmentName":"Effect"}) as unknown as TypedDocumentString<EffectFragment, unknown>;
export const PreviewFragmentDoc = new TypedDocumentString(`
    fragment Preview on OrgKeyUpdatePreview {
  version
  definition {
    ...Definition
  }
  changes {
    ...Change
  }
  quotaEffect {
    ...Effect
  }
  quotaReset
  warnings {
    path
    code
    message
  }
}
    fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"fragmentName":"Preview"}) as unknown as TypedDocumentString<PreviewFragment, unknown>;
export const BulkFragmentDoc = new TypedDocumentString(`
    fragment Bulk on BulkResult {
  dryRun
  items {
    orgKey {
      ...OrgKey
    }
    change {
      ...Preview
    }
    error {
      code
      message
      issues {
        path
        code
        message
      }
    }
  }
  hasNextPage
  endCursor
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Preview on OrgKeyUpdatePreview {
  version
  definition {
    ...Definition
  }
  changes {
    ...Change
  }
  quotaEffect {
    ...Effect
  }
  quotaReset
  warnings {
    path
    code
    message
  }
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"fragmentName":"Bulk"}) as unknown as TypedDocumentString<BulkFragment, unknown>;
export const PlaceFragmentDoc = new TypedDocumentString(`
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
    `, {"fragmentName":"Place"}) as unknown as TypedDocumentString<PlaceFragment, unknown>;
export const PreviewKeyDocument = new TypedDocumentString(`
    query PreviewKey($input: PreviewKeyInput!) {
  previewKey(input: $input) {
    apiModel
    data {
      ...Definition
    }
    keyHash
    keyID
    warnings {
      path
      code
      message
    }
  }
}
    fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:d7a0aa03c65932f0fb77b9fa1e39d98e07b7e9bebfd2ffa1ece6035c546be0bc"}) as unknown as TypedDocumentString<PreviewKeyQuery, PreviewKeyQueryVariables>;
export const UpdateOrgKeyDocument = new TypedDocumentString(`
    mutation UpdateOrgKey($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
  updateOrgKey(
    keyID: $keyID
    input: $input
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
  ) {
    action
    key
    keyHash
    status
    version
    definition {
      ...Definition
    }
    orgKey {
      ...OrgKey
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    quotaReset
    warnings {
      path
      code
      message
    }
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:20b693b55146fc544aae0965b3448cdb1d32a4632aaaa2e5e78a9707519b6688"}) as unknown as TypedDocumentString<UpdateOrgKeyMutation, UpdateOrgKeyMutationVariables>;
export const PreviewOrgKeyUpdateDocument = new TypedDocumentString(`
    query PreviewOrgKeyUpdate($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
  previewOrgKeyUpdate(
    keyID: $keyID
    input: $input
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
  ) {
    ...Preview
  }
}
    fragment Preview on OrgKeyUpdatePreview {
  version
  definition {
    ...Definition
  }
  changes {
    ...Change
  }
  quotaEffect {
    ...Effect
  }
  quotaReset
  warnings {
    path
    code
    message
  }
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:bdc4ee72d329b6ca9bd823e07ee3609e83f384e7f50f1eff6b64de8de281ac58"}) as unknown as TypedDocumentString<PreviewOrgKeyUpdateQuery, PreviewOrgKeyUpdateQueryVariables>;
export const OrgKeyDocument = new TypedDocumentString(`
    query OrgKey($keyID: ID, $keyHash: String, $first: Int, $after: String, $last: Int, $before: String) {
  orgKey(keyID: $keyID, keyHash: $keyHash) {
    ...OrgKey
    history(first: $first, after: $after, last: $last, before: $before) {
      edges {
        cursor
        node {
          version
          at
          operation
          credentialID
          credentialLabel
          reason
          requestID
          quotaUsedBeforeReset
          changes {
            ...Change
          }
        }
      }
      pageInfo {
        ...Place
      }
    }
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:d21650849d7aaddcab7f3a615b16990e986290d7399527cd0109d96b13752522"}) as unknown as TypedDocumentString<OrgKeyQuery, OrgKeyQueryVariables>;
export const OrgKeysDocument = new TypedDocumentString(`
    query OrgKeys($filter: OrgKeyFilter, $orderBy: OrgKeyOrder, $descending: Boolean, $first: Int, $after: String, $last: Int, $before: String) {
  orgKeys(
    filter: $filter
    orderBy: $orderBy
    descending: $descending
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    edges {
      cursor
      node {
        ...OrgKey
      }
    }
    pageInfo {
      ...Place
    }
    totalCount
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:57d5c7d6243df445659e18fbb1df73489d79ca8d6859b89473450c28449648f0"}) as unknown as TypedDocumentString<OrgKeysQuery, OrgKeysQueryVariables>;
export const NodeDocument = new TypedDocumentString(`
    query Node($id: ID!) {
  node(id: $id) {
    id
    ... on OrgKey {
      keyHash
    }
  }
}
    `, {"hash":"sha256:0f65fbce143bda6d63da070dfb8c0368cc3d96c0d4afffd64407db4066114640"}) as unknown as TypedDocumentString<NodeQuery, NodeQueryVariables>;
export const CreateOrgKeyDocument = new TypedDocumentString(`
    mutation CreateOrgKey($keyID: ID, $input: UpdateKeyInput!, $reason: String) {
  createOrgKey(keyID: $keyID, input: $input, reason: $reason) {
    action
    key
    version
  }
}
    `, {"hash":"sha256:f963b53ae2b017950a503be7ce2064aac8fbb9abfb52fcf4f47a6a362a73f89e"}) as unknown as TypedDocumentString<CreateOrgKeyMutation, CreateOrgKeyMutationVariables>;
export const DeleteOrgKeyDocument = new TypedDocumentString(`
    mutation DeleteOrgKey($keyID: ID!, $expectedVersion: Int, $reason: String) {
  deleteOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) {
    action
    version
  }
}
    `, {"hash":"sha256:2d0e6621e0fab912c870b921f2dc98a1240ee50dcb13de9d0c5c73bf70bb9a8d"}) as unknown as TypedDocumentString<DeleteOrgKeyMutation, DeleteOrgKeyMutationVariables>;
export const RestoreOrgKeyDocument = new TypedDocumentString(`
    mutation RestoreOrgKey($keyID: ID!, $expectedVersion: Int, $reason: String) {
  restoreOrgKey(keyID: $keyID, expectedVersion: $expectedVersion, reason: $reason) {
    action
    version
  }
}
    `, {"hash":"sha256:0bdaf821ae9d819967f35c237f887cc5864fca2aed7f24db524efc900f12254f"}) as unknown as TypedDocumentString<RestoreOrgKeyMutation, RestoreOrgKeyMutationVariables>;
export const RevertOrgKeyDocument = new TypedDocumentString(`
    mutation RevertOrgKey($keyID: ID!, $toVersion: Int!, $expectedVersion: Int, $reason: String) {
  revertOrgKey(
    keyID: $keyID
    toVersion: $toVersion
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    action
    version
  }
}
    `, {"hash":"sha256:2529fbc8b0eb60b83f8b07147c862a5de48f0328220940d58048637413302e5d"}) as unknown as TypedDocumentString<RevertOrgKeyMutation, RevertOrgKeyMutationVariables>;
export const ConsumeOrgQuotaDocument = new TypedDocumentString(`
    mutation ConsumeOrgQuota($keyID: ID!, $amount: Int64) {
  consumeOrgQuota(keyID: $keyID, amount: $amount) {
    allowed
    refusal
    quota {
      ...Figures
    }
  }
}
    fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:b9d5f359358a3df57384c0435edcfd75ffefb42f1559a141a990a327bfd3b741"}) as unknown as TypedDocumentString<ConsumeOrgQuotaMutation, ConsumeOrgQuotaMutationVariables>;
export const UpdateOrgKeysDocument = new TypedDocumentString(`
    mutation UpdateOrgKeys($filter: OrgKeyFilter!, $patch: UpdateKeyInput!, $resetQuota: Boolean, $dryRun: Boolean! = true, $reason: String, $first: Int, $after: String) {
  updateOrgKeys(
    filter: $filter
    patch: $patch
    resetQuota: $resetQuota
    dryRun: $dryRun
    reason: $reason
    first: $first
    after: $after
  ) {
    ...Bulk
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Preview on OrgKeyUpdatePreview {
  version
  definition {
    ...Definition
  }
  changes {
    ...Change
  }
  quotaEffect {
    ...Effect
  }
  quotaReset
  warnings {
    path
    code
    message
  }
}
fragment Bulk on BulkResult {
  dryRun
  items {
    orgKey {
      ...OrgKey
    }
    change {
      ...Preview
    }
    error {
      code
      message
      issues {
        path
        code
        message
      }
    }
  }
  hasNextPage
  endCursor
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:76acec1a43b59469cdc599a00b0e7e1dec5b6aa2ea9988789089000b37ad3cca"}) as unknown as TypedDocumentString<UpdateOrgKeysMutation, UpdateOrgKeysMutationVariables>;
export const ResetOrgQuotasDocument = new TypedDocumentString(`
    mutation ResetOrgQuotas($filter: OrgKeyFilter!, $dryRun: Boolean! = true, $reason: String, $first: Int, $after: String) {
  resetOrgQuotas(
    filter: $filter
    dryRun: $dryRun
    reason: $reason
    first: $first
    after: $after
  ) {
    ...Bulk
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  dateCreated
  lastUpdated
  deletedAt
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Preview on OrgKeyUpdatePreview {
  version
  definition {
    ...Definition
  }
  changes {
    ...Change
  }
  quotaEffect {
    ...Effect
  }
  quotaReset
  warnings {
    path
    code
    message
  }
}
fragment Bulk on BulkResult {
  dryRun
  items {
    orgKey {
      ...OrgKey
    }
    change {
      ...Preview
    }
    error {
      code
      message
      issues {
        path
        code
        message
      }
    }
  }
  hasNextPage
  endCursor
}
fragment Change on FieldChange {
  path
  kind
  before
  after
}
fragment Effect on QuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on Quota {
  max
  used
  remaining
  renewsAt
}
fragment Definition on KeyDefinition {
  accessRights {
    label
    apiID
    apiName
    versions
    allowedUrls {
      methods
      url
    }
    limit {
      per
      quotaMax
      quotaRemaining
      quotaRenewalRate
      rate
      throttleInterval
      throttleRetryLimit
    }
  }
  alias
  allowance
  applyPolicies
  basicAuthData {
    hashType
    passwordSet
    user
  }
  certificate
  mtlsStaticCertificateBindings
  dataExpires
  dateCreated
  enableDetailedRecording
  enableHttpSignatureValidation
  expires
  hmacEnabled
  hmacStringSet
  idExtractorDeadline
  isInactive
  jwtData {
    secretSet
  }
  keyID
  lastCheck
  lastUpdated
  maxQueryDepth
  metaData
  monitor {
    triggerLimits
  }
  oauthClientID
  oauthKeys
  orgID
  per
  quotaMax
  quotaRemaining
  quotaRenewalRate
  quotaRenews
  rate
  rsaCertificateID
  sessionLifetime
  smoothing {
    delay
    enabled
    step
    threshold
    trigger
  }
  tags
  throttleInterval
  throttleRetryLimit
}`, {"hash":"sha256:11409f4ad21fcf0f2ad7894767cd56cac8ece9d33462ef62f3cee56dfd26a170"}) as unknown as TypedDocumentString<ResetOrgQuotasMutation, ResetOrgQuotasMutationVariables>;
export const OrganizationOfKeyDocument = new TypedDocumentString(`
    query OrganizationOfKey($keyHash: String, $first: Int) {
  orgKey(keyHash: $keyHash) {
    id
    organization {
      id
      orgKeys(first: $first) {
        totalCount
        edges {
          node {
            id
            keyHash
          }
        }
      }
      quotaSummary {
        keys
        limitedKeys
        exhaustedKeys
        max
        used
        remaining
      }
    }
  }
}
    `, {"hash":"sha256:1e9777baac2d9f3208022d861ec0ea3949eaf847d40721188c1b0160140213d7"}) as unknown as TypedDocumentString<OrganizationOfKeyQuery, OrganizationOfKeyQueryVariables>;
export const OrgKeyChangedDocument = new TypedDocumentString(`
    subscription OrgKeyChanged($orgID: String, $keyHash: String, $after: String) {
  orgKeyChanged(orgID: $orgID, keyHash: $keyHash, after: $after) {
    cursor
    keyHash
    orgID
    entry {
      version
      at
      operation
      credentialLabel
      reason
      changes {
        path
        kind
        before
        after
      }
    }
    key {
      id
      keyID
      version
      state
    }
  }
}
    `, {"hash":"sha256:3804c0003b80ac78c8b52744f368ac192b72f6e907b02c0f944a1baa63afdf9e"}) as unknown as TypedDocumentString<OrgKeyChangedSubscription, OrgKeyChangedSubscriptionVariables>;
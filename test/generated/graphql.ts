/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What a key may do with one API. */
export type AccessRightInput = {
  /** What may be called; everything where the list is absent or empty. */
  allowedUrls?: Array<AllowedUrlInput> | null | undefined;
  /** Identifier of the API. */
  apiID?: string | null | undefined;
  /** Name of the API, for people. */
  apiName?: string | null | undefined;
  /** The name the entry goes by. A gateway finds an entry by its API identifier, so make the two equal. */
  label: string;
  /** Limits for this API alone. */
  limit?: LimitInput | null | undefined;
  /** Versions of the API that may be called. Example: Default. */
  versions?: Array<string> | null | undefined;
};

/** Paths and methods that a key may call. */
export type AllowedUrlInput = {
  /** HTTP methods, in upper case in the normal form. Example: GET. */
  methods?: Array<string> | null | undefined;
  /** A path, as a regular expression of the gateway. It is stored as text and never run here. Example: /invoices/.* */
  url?: string | null | undefined;
};

/** Credentials for HTTP basic authentication. */
export type BasicAuthDataInput = {
  /** How the password is kept: bcrypt (default) or argon2id. */
  hashType?: string | null | undefined;
  /** The password, in clear; it is hashed when the key is stored and never shown. */
  password?: string | null | undefined;
  /** User name. */
  user?: string | null | undefined;
};

/** What JSON web tokens of this key are checked with. */
export type JwtDataInput = {
  /** The secret or public key that signatures are checked with. Kept encrypted, never shown. */
  secret?: string | null | undefined;
};

/** Limits of one API; each has the meaning of the key’s own field of that name. */
export type LimitInput = {
  /** The period that `rate` is counted over, in seconds. 0 or less switches the rate limit off. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period; -1 is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the current quota period; -1 is unlimited. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. 0 or less never renews. Example: 2592000, 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** Requests allowed in the period `per`; -1 is unlimited. Example: 100. */
  rate?: number | null | undefined;
  /** How long a request over the limit is held before it is tried again, in seconds; -1 is off. */
  throttleInterval?: number | null | undefined;
  /** How often a held request is tried again; -1 is off. */
  throttleRetryLimit?: number | null | undefined;
};

/** When to raise events about the use of the quota. */
export type MonitorInput = {
  /** Shares of the quota at which the gateway raises an event, in percent, highest first. Example: 90. */
  triggerLimits?: Array<number> | null | undefined;
};

/** A key definition to preview. Every field may be left out; null is the same as leaving it out. */
export type PreviewKeyInput = {
  /** What the key may do, API by API. */
  accessRights?: Array<AccessRightInput> | null | undefined;
  /** Human-readable name of the key. Example: Billing, production. */
  alias?: string | null | undefined;
  /** Obsolete; carried as it is. */
  allowance?: number | null | undefined;
  /** Identifiers of the policies applied to the key. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of the policy applied to the key.
   * @deprecated Use `applyPolicies`.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP basic authentication. */
  basicAuthData?: BasicAuthDataInput | null | undefined;
  /** Certificate of the client, or its identifier. */
  certificate?: string | null | undefined;
  /** How long analytics data of the key is kept, in seconds. */
  dataExpires?: number | string | null | undefined;
  /** When the key was created. Set by the service; ignored in input. */
  dateCreated?: string | null | undefined;
  /** Whether the gateway records requests and responses in full. */
  enableDetailedRecording?: boolean | null | undefined;
  /** When the key expires, in Unix seconds. Below 1 it never does. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether requests are signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** The secret of HMAC signatures. Kept encrypted, never shown. */
  hmacString?: string | null | undefined;
  /** Until when a custom authentication result is cached, in Unix seconds. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is switched off. */
  isInactive?: boolean | null | undefined;
  /** What JSON web tokens of this key are checked with. */
  jwtData?: JwtDataInput | null | undefined;
  /** The key identifier to preview with; a new one is made where it is absent. */
  keyID?: string | number | null | undefined;
  /** Obsolete; carried as it is. */
  lastCheck?: number | string | null | undefined;
  /** When the key was last updated, in Unix seconds, as text. Set by the service; ignored in input. */
  lastUpdated?: string | null | undefined;
  /** How deep a GraphQL query may be; -1 is unlimited. */
  maxQueryDepth?: number | null | undefined;
  /** Anything you want to keep with the key. */
  metaData?: unknown;
  /** When to raise events about the use of the quota. */
  monitor?: MonitorInput | null | undefined;
  /** Identifiers of certificates bound to the key. */
  mtlsStaticCertificateBindings?: Array<string> | null | undefined;
  /** Identifier of the OAuth client the key belongs to. */
  oauthClientID?: string | null | undefined;
  /** Keys by OAuth client. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the owning organisation. That of a stored key does not change. */
  orgID?: string | null | undefined;
  /** The period that `rate` is counted over, in seconds. 0 or less switches the rate limit off. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period; -1 is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the current quota period; -1 is unlimited. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. 0 or less never renews. Example: 2592000, 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** When the quota renews next, in Unix seconds. */
  quotaRenews?: number | string | null | undefined;
  /** Requests allowed in the period `per`; -1 is unlimited. Example: 100. */
  rate?: number | null | undefined;
  /** How long the gateway keeps the session, in seconds. */
  sessionLifetime?: number | string | null | undefined;
  /** Raises and lowers the rate limit step by step. */
  smoothing?: SmoothingInput | null | undefined;
  /** Labels to find the key and its traffic by. */
  tags?: Array<string> | null | undefined;
  /** How long a request over the limit is held before it is tried again, in seconds; -1 is off. */
  throttleInterval?: number | null | undefined;
  /** How often a held request is tried again; -1 is off. */
  throttleRetryLimit?: number | null | undefined;
};

/** Raises and lowers the rate limit step by step. */
export type SmoothingInput = {
  /** Time between two changes of the limit, in seconds. */
  delay?: number | null | undefined;
  /** Whether the limit follows the load. The other four are then required, above 0. */
  enabled?: boolean | null | undefined;
  /** By how many requests the limit changes. */
  step?: number | null | undefined;
  /** The limit to begin with, in requests. */
  threshold?: number | null | undefined;
  /** The share of `step` that brings a change about, above 0 and at most 1. Example: 0.5. */
  trigger?: number | null | undefined;
};

/** A key definition that replaces the stored one. What is left out is gone, except for secrets: those stay until they are replaced, or cleared with null. */
export type UpdateKeyInput = {
  /** What the key may do, API by API. */
  accessRights?: Array<AccessRightInput> | null | undefined;
  /** Human-readable name of the key. Example: Billing, production. */
  alias?: string | null | undefined;
  /** Obsolete; carried as it is. */
  allowance?: number | null | undefined;
  /** Identifiers of the policies applied to the key. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of the policy applied to the key.
   * @deprecated Use `applyPolicies`.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP basic authentication. */
  basicAuthData?: BasicAuthDataInput | null | undefined;
  /** Certificate of the client, or its identifier. */
  certificate?: string | null | undefined;
  /** How long analytics data of the key is kept, in seconds. */
  dataExpires?: number | string | null | undefined;
  /** When the key was created. Set by the service; ignored in input. */
  dateCreated?: string | null | undefined;
  /**
   * Whether the gateway records requests and responses in full.
   * @deprecated Use `enableDetailedRecording`.
   */
  enableDetailRecording?: boolean | null | undefined;
  /** Whether the gateway records requests and responses in full. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Whether requests must carry an HTTP signature. */
  enableHttpSignatureValidation?: boolean | null | undefined;
  /** When the key expires, in Unix seconds. Below 1 it never does. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether requests are signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** The secret of HMAC signatures. Kept encrypted, never shown. */
  hmacString?: string | null | undefined;
  /** Until when a custom authentication result is cached, in Unix seconds. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is switched off. */
  isInactive?: boolean | null | undefined;
  /** What JSON web tokens of this key are checked with. */
  jwtData?: JwtDataInput | null | undefined;
  /** Obsolete; carried as it is. */
  lastCheck?: number | string | null | undefined;
  /** When the key was last updated, in Unix seconds, as text. Set by the service; ignored in input. */
  lastUpdated?: string | null | undefined;
  /** How deep a GraphQL query may be; -1 is unlimited. */
  maxQueryDepth?: number | null | undefined;
  /** Anything you want to keep with the key, as an object. */
  metaData?: Record<string, unknown> | null | undefined;
  /** When to raise events about the use of the quota. */
  monitor?: MonitorInput | null | undefined;
  /** Identifier of the OAuth client the key belongs to. */
  oauthClientID?: string | null | undefined;
  /** Keys by OAuth client. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the owning organisation. That of a stored key does not change. */
  orgID?: string | null | undefined;
  /** The period that `rate` is counted over, in seconds. 0 or less switches the rate limit off. Example: 60. */
  per?: number | null | undefined;
  /** Requests allowed in a quota period; -1 is unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the current quota period; -1 is unlimited. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. 0 or less never renews. Example: 2592000, 30 days. */
  quotaRenewalRate?: number | string | null | undefined;
  /** When the quota renews next, in Unix seconds. */
  quotaRenews?: number | string | null | undefined;
  /** Requests allowed in the period `per`; -1 is unlimited. Example: 100. */
  rate?: number | null | undefined;
  /** Identifier of the certificate that RSA signatures are checked with. */
  rsaCertificateID?: string | null | undefined;
  /** How long the gateway keeps the session, in seconds. */
  sessionLifetime?: number | string | null | undefined;
  /** Raises and lowers the rate limit step by step. */
  smoothing?: SmoothingInput | null | undefined;
  /** Labels to find the key and its traffic by. */
  tags?: Array<string> | null | undefined;
  /** How long a request over the limit is held before it is tried again, in seconds; -1 is off. */
  throttleInterval?: number | null | undefined;
  /** How often a held request is tried again; -1 is off. */
  throttleRetryLimit?: number | null | undefined;
};

/** What a definition may deserve a second look for. */
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


export type UpdateOrgKeyMutation = { updateOrgKey: { action: string, key: string, keyHash: string, status: string, version: number, quotaUsed: number | string, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, warnings: Array<{ path: string, code: WarningCode, message: string }> } };

export type DefinitionFragment = { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null };

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
    quotaUsed
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
}`, {"hash":"sha256:080ac8f3fdcdda373926dfbf5912097c35c081e785dacc86b1b2ac6a9f53b552"}) as unknown as TypedDocumentString<UpdateOrgKeyMutation, UpdateOrgKeyMutationVariables>;
/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** What a document carries for the compiler alone. */
export interface DocumentTypeDecoration<TResult, TVariables> {
  __apiType?: (variables: TVariables) => TResult;
}
/** The definition of a new key. All fields are optional; null is the same as omitted. */
export type CreateKeyInput = {
  /** Access rights of the key, one entry for each API. At most 1000 items. */
  accessRights?: Array<KeyAccessRightInput> | null | undefined;
  /** Display name of the key; need not be unique. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in this order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of a policy. The value is moved into `applyPolicies` if that is absent or empty, and otherwise ignored, with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`. Will be removed after 2027-06-30.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP Basic authentication. The gateway verifies them. */
  basicAuthData?: KeyBasicAuthDataInput | null | undefined;
  /** Client certificate, or its identifier in the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** Retention of the analytics data of the key, in seconds. Example: 2592000 (30 days). */
  dataExpires?: number | string | null | undefined;
  /** Time at which the key was created. Set by the service; a value in input is ignored with a warning. */
  dateCreated?: string | null | undefined;
  /**
   * Former name of `enableDetailedRecording`. The value is moved there with a warning.
   * @deprecated Use `enableDetailedRecording`. Will be removed after 2027-06-30.
   */
  enableDetailRecording?: boolean | null | undefined;
  /** Whether the gateway records complete requests and responses. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Whether the gateway requires requests to have an HTTP signature. Available for stored keys only. */
  enableHttpSignatureValidation?: boolean | null | undefined;
  /** Time at which the key expires, in Unix seconds. A key with a value below 1 or null never expires. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway requires requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** Shared secret of HMAC signatures. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it. An empty string means absent. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Time until which the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is disabled. The gateway rejects all requests with a disabled key. */
  isInactive?: boolean | null | undefined;
  /** Verification of JSON Web Tokens (JWT) by the gateway. */
  jwtData?: KeyJwtDataInput | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  lastCheck?: number | string | null | undefined;
  /** Time at which the key was last updated, in Unix seconds, as text. Set by the service; a value in input is ignored with a warning. An empty string means absent. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Your own data about the key, as a JSON object. It is returned by reads: do not store secrets in it. At most 32 levels deep, with at most 10000 members in total. */
  metaData?: unknown;
  /** Events that the gateway raises when quota usage reaches a limit. */
  monitor?: QuotaMonitorInput | null | undefined;
  /** Identifier, in the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Key identifiers by OAuth client. Stored unchanged. At most 32 levels deep, with at most 10000 members in total. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. An empty string means absent. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** End of the quota period when the definition was written, in Unix seconds. Sets the initial live quota of a new key; the live quota has the current value. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Identifier, in the gateway, of the certificate to verify RSA signatures with. Available for stored keys only. At most 256 characters. */
  rsaCertificateID?: string | null | undefined;
  /** Lifetime of the session of the key in the gateway, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** Gradual changes of the rate limit by the gateway. */
  smoothing?: KeySmoothingInput | null | undefined;
  /** Labels to find the key and its traffic. Trimmed, and without duplicates. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** What a decision says: the first code that applies, in the order of docs/policies.md. */
export type KeyAccessCode =
  /** The key is deleted. */
  | 'DELETED'
  /** The key has expired. */
  | 'EXPIRED'
  /** The key, or a policy that it names, is switched off. */
  | 'INACTIVE'
  /** The key has access to the API, but not with this method and path. */
  | 'METHOD_OR_PATH_DENIED'
  /** There is no such key. */
  | 'NOT_FOUND'
  /** The key has no access to the API, or to this version of it. */
  | 'NO_ACCESS'
  /** The key needs a proof beside its identifier, which the request does not have. */
  | 'OTHER_CREDENTIAL_REQUIRED'
  /** Fewer requests remain in the quota of the key than the request takes. */
  | 'QUOTA_EXCEEDED'
  /** The key names a policy that is not known, so that its access cannot be computed. */
  | 'UNKNOWN_POLICY'
  /** The request is allowed. */
  | 'VALID';

/** Access of a key to one API. */
export type KeyAccessRightInput = {
  /** Allowed paths and methods. If absent or empty, all are allowed. At most 1000 items. */
  allowedUrls?: Array<KeyAllowedUrlInput> | null | undefined;
  /** Identifier of the API in the gateway. At most 256 characters. Example: invoices. */
  apiID?: string | null | undefined;
  /** Display name of the API. At most 256 characters. Example: Invoices. */
  apiName?: string | null | undefined;
  /** Name of the entry, unique in its list. Gateways find an entry by its `apiID`: use the same value for both. At most 256 characters. Example: invoices. */
  label: string;
  /** Limits for this API only. */
  limit?: KeyLimitInput | null | undefined;
  /** Names of the API versions that the key may call. At most 100 items of at most 512 characters each. Example: Default. */
  versions?: Array<string> | null | undefined;
};

/** A path that the key may call, with the allowed methods. */
export type KeyAllowedUrlInput = {
  /** Allowed HTTP methods. Stored in upper case. At most 50 items of at most 512 characters each. Example: GET. */
  methods?: Array<string> | null | undefined;
  /** Path, as a regular expression that the gateway evaluates. Keyfront only stores it. At most 2048 characters. Example: /invoices/.* */
  url?: string | null | undefined;
};

/** Credentials for HTTP Basic authentication. The gateway verifies them. */
export type KeyBasicAuthDataInput = {
  /** Hash type of the password: bcrypt (default) or argon2id. Changing it requires sending the `password` again. An empty string means absent. At most 256 characters. */
  hashType?: string | null | undefined;
  /** Password in plain text, at most 72 bytes with bcrypt. Stored as a hash and never returned. If an update omits it, the stored password stays; null clears it. An empty string means absent. At most 1024 characters. */
  password?: string | null | undefined;
  /** User name that the gateway expects. At most 256 characters. Example: billing. */
  user?: string | null | undefined;
};

/** A change to propose. Exactly one field must be given. */
export type KeyChangeInput =
  {   /** Create a key. Without `keyID` and `keyHash` of the field. */
  create: KeyCreateChangeInput; patch?: never; plain?: never; revert?: never; rotate?: never; update?: never; }
  |  { create?: never;   /** Change some fields of the definition. */
  patch: KeyPatchChangeInput; plain?: never; revert?: never; rotate?: never; update?: never; }
  |  { create?: never; patch?: never;   /** Delete or restore the key, or cancel its rotation. */
  plain: KeyPlainChange; revert?: never; rotate?: never; update?: never; }
  |  { create?: never; patch?: never; plain?: never;   /** Restore the definition of an earlier version. */
  revert: KeyRevertChangeInput; rotate?: never; update?: never; }
  |  { create?: never; patch?: never; plain?: never; revert?: never;   /** Give the key another identifier. */
  rotate: KeyRotateChangeInput; update?: never; }
  |  { create?: never; patch?: never; plain?: never; revert?: never; rotate?: never;   /** Replace the definition. */
  update: KeyUpdateChangeInput; };

/** How a field differs between two versions. */
export type KeyChangeKind =
  /** The field had no value before the change. */
  | 'ADDED'
  /** The field has another value. Values of secrets are not returned. */
  | 'CHANGED'
  /** A secret was removed. */
  | 'CLEARED'
  /** In a dry run: a secret was sent, and the stored one may be the same. They are compared only for a credential with the scope `update`, at most ten times a minute for one key. */
  | 'NOT_COMPARED'
  /** The field has no value after the change. */
  | 'REMOVED'
  /** A secret was set that was not set before. */
  | 'SET';

/** A change as by `createOrgKey`. */
export type KeyCreateChangeInput = {
  /** The definition. */
  input: CreateKeyInput;
  /** Identifier of the key. Default: one is generated now. */
  keyID?: string | number | null | undefined;
  /** Readable beginning of a generated identifier. */
  prefix?: string | null | undefined;
};

/** The kind of a credential. */
export type KeyCredentialKind =
  /** Allows previews. */
  | 'MANAGEMENT'
  /** Allows every other operation. */
  | 'SERVICE';

/** The state of a credential. */
export type KeyCredentialState =
  /** It is accepted. */
  | 'ACTIVE'
  /** Its time has passed. */
  | 'EXPIRED'
  /** It was rotated, and is accepted until it expires. */
  | 'REPLACED'
  /** It was revoked. */
  | 'REVOKED';

/** The code of an error, also in `extensions.code`. */
export type KeyErrorCode =
  /** The key has changed since the expected version, or already exists. */
  | 'CONFLICT'
  /** The credential is bound to another organization, or does not have the required scope. */
  | 'FORBIDDEN'
  /** An internal error. The log has its cause. */
  | 'INTERNAL'
  /** The request is not valid; `issues` lists each problem with its path. */
  | 'INVALID'
  /** The key does not exist, or the credential cannot access it. */
  | 'NOT_FOUND'
  /** Too many invalid credentials, or too many subscriptions of one credential. Retry later. */
  | 'RATE_LIMITED'
  /** The request or the response exceeds its maximum size. */
  | 'TOO_LARGE'
  /** The request has no valid credential of the required kind. */
  | 'UNAUTHENTICATED'
  /** The service is busy or cannot reach its storage. Retry later. */
  | 'UNAVAILABLE';

/** The kind of a problem, also in `extensions.issues` of an error. */
export type KeyIssueCode =
  /** The field has changed since the expected version. */
  | 'CHANGED_SINCE'
  /** A deprecated field and its replacement have different values. */
  | 'CONFLICTING_FIELDS'
  /** Two access rights have the same label. */
  | 'DUPLICATE_LABEL'
  /** An object has two members of the same name. */
  | 'DUPLICATE_MEMBER'
  /** The string is empty or only white space, and the field requires a value. */
  | 'EMPTY'
  /** The number cannot be read or stored exactly in this field: use fewer digits, or in GraphQL a decimal string beyond 2^53-1. */
  | 'IMPRECISE'
  /** The connection ended before the body was complete. */
  | 'INCOMPLETE_BODY'
  /** Smoothing is enabled, and step, delay, threshold or trigger is absent or not above 0. */
  | 'INCOMPLETE_SMOOTHING'
  /** An argument or parameter other than the definition has an invalid value. */
  | 'MALFORMED_ARGUMENT'
  /** The string is not an RFC 3339 date and time with an offset. */
  | 'MALFORMED_DATE'
  /** The body is not JSON. */
  | 'MALFORMED_JSON'
  /** The key identifier has a character, a length or a form that is not allowed. */
  | 'MALFORMED_KEY_ID'
  /** The identifier of the organization has a character or a length that is not allowed. */
  | 'MALFORMED_ORG_ID'
  /** The string contains NUL, half of a surrogate pair, or bytes that are not UTF-8. */
  | 'MALFORMED_TEXT'
  /** The string is not a number of Unix seconds in digits. */
  | 'MALFORMED_TIMESTAMP'
  /** The value is a placeholder for a secret, such as `***`. */
  | 'MASKED_SECRET'
  /** The field is required and absent. */
  | 'MISSING'
  /** An integer field has a fraction. */
  | 'NOT_INTEGER'
  /** The proposed change would change nothing. */
  | 'NO_CHANGE'
  /** No rotation of the key runs. */
  | 'NO_ROTATION'
  /** The organization that owns a stored key cannot be changed. */
  | 'ORGANIZATION_CHANGED'
  /** The number is not finite, or not in the range of the field. */
  | 'OUT_OF_RANGE'
  /** Changing the hash type requires sending the password again. */
  | 'PASSWORD_NEEDED'
  /** The proposal has ended, or was approved already. */
  | 'PROPOSAL_ENDED'
  /** The member names __proto__, constructor and prototype are not allowed. */
  | 'RESERVED_NAME'
  /** An earlier rotation of the key runs: its previous identifier has not retired yet. */
  | 'ROTATION_RUNNING'
  /** The value is nested more deeply than allowed. */
  | 'TOO_DEEP'
  /** The string is longer than the field allows. */
  | 'TOO_LONG'
  /** The list or object has more members than allowed. */
  | 'TOO_MANY'
  /** There is no such field. */
  | 'UNKNOWN_FIELD'
  /** There is no such hash type; use bcrypt or argon2id. */
  | 'UNKNOWN_HASH_TYPE'
  /** There is no such HTTP method. */
  | 'UNKNOWN_METHOD'
  /** The body has a content encoding, such as gzip. */
  | 'UNSUPPORTED_ENCODING'
  /** The content type of the body is not application/json in UTF-8. */
  | 'UNSUPPORTED_TYPE'
  /** The hash type is too weak for passwords. */
  | 'WEAK_HASH'
  /** The value does not have the type of the field. */
  | 'WRONG_TYPE'
  /** The field exists only in the other operation. */
  | 'WRONG_VARIANT';

/** Verification of JSON Web Tokens (JWT) by the gateway. */
export type KeyJwtDataInput = {
  /** Shared secret or public key to verify signatures with. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it. An empty string means absent. At most 16384 characters. */
  secret?: string | null | undefined;
};

/** Limits for one API. The gateway enforces them. Each field has the same meaning as the field of that name of the key. */
export type KeyLimitInput = {
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** What happened to a key without a change of it. Kinds may be added: ignore one that you do not know. */
export type KeyNoticeKind =
  /** The key has expired. */
  | 'EXPIRED'
  /** The key expires soon. */
  | 'EXPIRING'
  /** A proposed change was approved. It is made at its time. */
  | 'PROPOSAL_APPROVED'
  /** A proposed change was not approved in time. */
  | 'PROPOSAL_EXPIRED'
  /** A proposed change was rejected. */
  | 'PROPOSAL_REJECTED'
  /** A proposed change cannot be made: the key has changed since. */
  | 'PROPOSAL_STALE'
  /** A proposed change was withdrawn by its proposer. */
  | 'PROPOSAL_WITHDRAWN'
  /** A change of the key was proposed. */
  | 'PROPOSED'
  /** The key was removed with its history, because the time in which it could be restored is over. */
  | 'PURGED'
  /** All of the quota is used. */
  | 'QUOTA_EXHAUSTED'
  /** A part of the quota is used that `monitor.triggerLimits` of the key names. */
  | 'QUOTA_THRESHOLD';

/** An operation that changed a key. */
export type KeyOperation =
  /** The key got its previous identifier back. */
  | 'CANCEL_ROTATION'
  /** The key was created. */
  | 'CREATE'
  /** The key was deleted. */
  | 'DELETE'
  /** The key was imported by the command line. */
  | 'IMPORT'
  /** The deleted key was restored. */
  | 'RESTORE'
  /** The previous identifier of the key retired. */
  | 'RETIRE_IDENTIFIER'
  /** The definition of an earlier version was restored. */
  | 'REVERT'
  /** The key got another identifier. */
  | 'ROTATE'
  /** The definition was updated or the quota was reset. */
  | 'UPDATE';

/** A change as by `patchOrgKey`. */
export type KeyPatchChangeInput = {
  /** The fields to change. Omitted fields keep their values; null clears a field. */
  patch: PatchKeyInput;
  /** Whether to reset the live quota, as in `updateOrgKey`. */
  resetQuota?: boolean | null | undefined;
};

/** A change that needs nothing but the key. */
export type KeyPlainChange =
  /** As by `cancelKeyRotation`. */
  | 'CANCEL_ROTATION'
  /** As by `deleteOrgKey`. */
  | 'DELETE'
  /** As by `restoreOrgKey`. */
  | 'RESTORE';

/** How a policy changed. */
export type KeyPolicyChangeKind =
  /** The policy did not exist, or was removed before. */
  | 'ADDED'
  /** The policy has other values. */
  | 'CHANGED'
  /** The policy was removed: keys that name it are denied. */
  | 'REMOVED';

/** A policy. Null is the same as omitted. */
export type KeyPolicyInput = {
  /** Access rights of the key, one entry for each API. At most 1000 items. */
  accessRights?: Array<KeyAccessRightInput> | null | undefined;
  /** The parts of a key that the policy governs. If absent, all. At most 20 items. */
  governs?: Array<KeyPolicyPart> | null | undefined;
  /** Whether every key that names the policy is switched off. */
  isInactive?: boolean | null | undefined;
  /** Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Display name. At most 256 characters. Example: Gold. */
  name?: string | null | undefined;
  /** Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. An empty string means absent. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Identifier that keys name in `applyPolicies`. At most 256 characters. Example: gold. */
  policyID: string;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Gradual changes of the rate limit by the gateway. */
  smoothing?: KeySmoothingInput | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** A part of a key that a policy can govern. */
export type KeyPolicyPart =
  /** `accessRights`: the APIs, their versions, and the allowed paths and methods. */
  | 'ACCESS_RIGHTS'
  /** `maxQueryDepth`. */
  | 'QUERY_DEPTH'
  /** `quotaMax` and `quotaRenewalRate`. */
  | 'QUOTA'
  /** `rate`, `per`, `smoothing`, `throttleInterval` and `throttleRetryLimit`. */
  | 'RATE_LIMIT';

/** What a client can prove beside the identifier of its key. The gateway verifies it. */
export type KeyProof =
  /** The password of HTTP Basic authentication. */
  | 'BASIC'
  /** The client certificate of the key. */
  | 'CERTIFICATE'
  /** An HMAC signature with `hmacString`. */
  | 'HMAC'
  /** A JSON Web Token that the secret of the key signs. */
  | 'JWT'
  /** An HTTP signature with the certificate of `rsaCertificateID`. */
  | 'SIGNATURE';

/** The kind of change that is proposed. */
export type KeyProposalKind =
  /** The key gets its previous identifier back, as by `cancelKeyRotation`. */
  | 'CANCEL_ROTATION'
  /** A key is created, as by `createOrgKey`. */
  | 'CREATE'
  /** The key is deleted, as by `deleteOrgKey`. */
  | 'DELETE'
  /** Some fields of the definition change, as by `patchOrgKey`. */
  | 'PATCH'
  /** The deleted key is restored, as by `restoreOrgKey`. */
  | 'RESTORE'
  /** The definition of an earlier version is restored, as by `revertOrgKey`. */
  | 'REVERT'
  /** The key gets another identifier, as by `rotateOrgKey`. */
  | 'ROTATE'
  /** The definition is replaced, as by `updateOrgKey`. */
  | 'UPDATE';

/** The state of a proposal. */
export type KeyProposalState =
  /** The change was made. */
  | 'APPLIED'
  /** Nobody has approved it in time. */
  | 'EXPIRED'
  /** It waits for an approval. */
  | 'OPEN'
  /** Somebody who may approve it has rejected it. */
  | 'REJECTED'
  /** It was approved, or needs no approval, and waits for its time. */
  | 'SCHEDULED'
  /** The key had another version, the change was not possible any more, or the credential of its proposer was revoked or expired. Nothing was changed. */
  | 'STALE'
  /** Its proposer has withdrawn it. */
  | 'WITHDRAWN';

/** Why requests are not allowed. */
export type KeyQuotaRefusal =
  /** The key has expired. */
  | 'EXPIRED'
  /** The key is switched off. */
  | 'INACTIVE'
  /** Fewer requests remain than were requested. */
  | 'QUOTA_EXCEEDED';

/** Status of a requested reset of the live quota. A pending reset is stored and is not lost. */
export type KeyQuotaResetStatus =
  /** The live quota was reset: requests are counted from 0. */
  | 'APPLIED'
  /** The counter could not be reached. The reset is stored with the definition and is applied as soon as possible. A repeated request with an idempotency key can return this status for a reset that is already applied. */
  | 'PENDING';

/** A change as by `revertOrgKey`. */
export type KeyRevertChangeInput = {
  /** The version whose definition to restore, at least 1. */
  toVersion: number;
};

/** A change as by `rotateOrgKey`. The identifier is generated now, and not shown before the change is made. */
export type KeyRotateChangeInput = {
  /** How long the old identifier is accepted after the change, in seconds. Default: 86400. */
  overlap?: number | null | undefined;
  /** Readable beginning of the new identifier. */
  prefix?: string | null | undefined;
  /** Retires the old identifier earlier, after so many seconds without a request. */
  silence?: number | null | undefined;
};

/** What a service credential can be restricted to. */
export type KeyScope =
  /** State whom a change is made for, in the header `X-Keyfront-Actor`. Permits nothing by itself. */
  | 'ACTOR'
  /** Administer: list, issue, rotate and revoke credentials, and change policies, of a credential that is not bound to an organization. */
  | 'ADMIN'
  /** Approve or reject the changes that somebody else has proposed. */
  | 'APPROVE'
  /** Consume live quotas. */
  | 'CONSUME'
  /** Create keys. */
  | 'CREATE'
  /** Delete and restore keys. */
  | 'DELETE'
  /** Read keys with their identifiers, password hashes and secrets, for a gateway that decides by a copy of its own. Must be named. */
  | 'DELIVER'
  /** Propose changes, which somebody else applies. */
  | 'PROPOSE'
  /** Read, list and follow keys, and preview updates. */
  | 'READ'
  /** Send GraphQL operations with as many aliases as a router merges from several. Permits nothing by itself. */
  | 'ROUTER'
  /** Update and revert keys, and reset their quotas. */
  | 'UPDATE'
  /** Verify keys for a gateway, which counts against their live quotas. */
  | 'VERIFY';

/** Gradual changes of the rate limit by the gateway. */
export type KeySmoothingInput = {
  /** Minimum time between two changes of the rate limit, in seconds. Example: 30. */
  delay?: number | null | undefined;
  /** Whether smoothing is enabled. If true, the other four fields are required and must be above 0. */
  enabled?: boolean | null | undefined;
  /** Number of requests by which one change raises or lowers the rate limit. Example: 10. */
  step?: number | null | undefined;
  /** Initial rate limit, in requests. Example: 50. */
  threshold?: number | null | undefined;
  /** Fraction of `step` that triggers a change, above 0 and at most 1. Example: 0.5. */
  trigger?: number | null | undefined;
};

/** A change as by `updateOrgKey`. */
export type KeyUpdateChangeInput = {
  /** The new definition. Omitted fields are removed, except secrets. */
  input: UpdateKeyInput;
  /** Whether to reset the live quota, as in `updateOrgKey`. */
  resetQuota?: boolean | null | undefined;
};

/** The kind of a warning. */
export type KeyWarningCode =
  /** The field is deprecated; its value was moved to the field that replaces it, or ignored because that field has a value. */
  | 'DEPRECATED_FIELD'
  /** The value seems to be in milliseconds; the field is in seconds. */
  | 'EXPIRES_IN_MILLISECONDS'
  /** The key has already expired. */
  | 'EXPIRES_IN_PAST'
  /** Gateways ignore that a key is inactive if it has policies. */
  | 'INACTIVE_WITH_POLICIES'
  /** The label differs from the API identifier, by which gateways find the entry. */
  | 'LABEL_MISMATCH'
  /** The rate limit is disabled, because its period is 0 or less. */
  | 'LIMIT_OFF'
  /** The key has neither access rights nor policies: a gateway rejects it, or allows it everything. */
  | 'NO_ACCESS_RIGHTS'
  /** A policy of the key governs the field, so that its value has no effect. */
  | 'OVERRIDDEN_BY_POLICIES'
  /** There is no rate limit, because the period has no rate. */
  | 'PER_WITHOUT_RATE'
  /** The quota has no renewal period: once used up, it stays used up. */
  | 'QUOTA_NEVER_RENEWS'
  /** The rate limit is disabled, because it has no period. */
  | 'RATE_WITHOUT_PER'
  /** More requests remain than the quota has in total. */
  | 'REMAINING_ABOVE_MAXIMUM'
  /** The service sets this field; the value sent was ignored. */
  | 'SERVER_OWNED'
  /** Gateways expect trigger limits in descending order. */
  | 'TRIGGERS_NOT_DESCENDING'
  /** The key names a policy that is not among the imported ones. */
  | 'UNKNOWN_POLICY'
  /** The entry of `allowedUrls` has no method, or a pattern that cannot be evaluated. */
  | 'URL_ALLOWS_NOTHING';

/** Selects a key. Exactly one field must be given. */
export type OrgKeyByInput =
  {   /** Hash of the key, as in `OrgKey.keyHash`, or of an identifier of it. */
  keyHash: string; keyID?: never; }
  |  { keyHash?: never;   /** Identifier of the key. Example: acme-billing. */
  keyID: string | number; };

/** Filters keys. All conditions must match; null is the same as omitted, and a list has 1 to 100 items. Deleted keys are excluded unless `states` has DELETED. */
export type OrgKeyFilter = {
  /** Keys whose alias contains this text of at most 256 characters; upper and lower case of a letter are equal. Reads an index of all aliases, or of those of `orgID`. Example: billing. */
  aliasContains?: string | null | undefined;
  /** Keys whose alias starts with this value, case-sensitive. Example: Billing. */
  aliasPrefix?: string | null | undefined;
  /** Keys with an access right that has this `apiID`. Example: invoices. */
  apiID?: string | null | undefined;
  /** Keys that expire before this time. Keys that never expire do not match. Example: 2030-01-01T00:00:00Z. */
  expiresBefore?: string | null | undefined;
  /** Keys with one of these hashes, as in `OrgKey.keyHash`, or of an identifier that they have now. */
  keyHashes?: Array<string> | null | undefined;
  /** Keys with one of these identifiers, also one that is going to retire. Unknown and retired ones match nothing. Example: acme-billing. */
  keyIDs?: Array<string | number> | null | undefined;
  /** Keys of this organization. Example: acme. */
  orgID?: string | null | undefined;
  /** Keys with this policy identifier in `applyPolicies`. Example: gold. */
  policy?: string | null | undefined;
  /** Keys in one of these states. Default: all states except DELETED. */
  states?: Array<OrgKeyState> | null | undefined;
  /** Keys with all of these tags, case-sensitive. Example: production. */
  tagsAll?: Array<string> | null | undefined;
  /** Keys with at least one of these tags, case-sensitive. Example: production. */
  tagsAny?: Array<string> | null | undefined;
  /** Keys that were not used at or after this time, as `OrgKey.lastUsedAt` has it; those that were never used match. Example: 2026-01-31T12:00:00Z. */
  unusedSince?: string | null | undefined;
  /** Keys last changed at or after this time. Example: 2026-01-31T12:00:00Z. */
  updatedSince?: string | null | undefined;
};

/** The order of a list of keys. Keys with equal values are ordered by hash. */
export type OrgKeyOrder =
  /** By alias, in byte order; keys without an alias first. */
  | 'ALIAS'
  /** By the time of creation in milliseconds, oldest first. */
  | 'CREATED'
  /** By the time of expiry; keys that never expire first. */
  | 'EXPIRES'
  /** By hash of the key identifier: the cheapest order for nearly all filters. */
  | 'KEY_HASH'
  /** By the last update, oldest first. */
  | 'LAST_UPDATED'
  /** By the last use; keys that were never used first. A key that is used while you page may move to another page. */
  | 'LAST_USED';

/** State of a key: whether it can be used, and if not, why. */
export type OrgKeyState =
  /** The key can be used: it is not inactive, expired or deleted. */
  | 'ACTIVE'
  /** The key is deleted and can still be restored. */
  | 'DELETED'
  /** The time in `expires` of the key has passed. */
  | 'EXPIRED'
  /** The key is switched off by `isInactive`. It may also have expired. */
  | 'INACTIVE';

/** The fields of a definition to change. An omitted field keeps its value; null clears it. An object is patched in the same way, `metaData` and `oauthKeys` included; any other value replaces the stored one. `accessRights` lists all entries that the key has afterwards; an entry whose `label` the key has already is patched. */
export type PatchKeyInput = {
  /** Access rights of the key, one entry for each API. At most 1000 items. */
  accessRights?: Array<KeyAccessRightInput> | null | undefined;
  /** Display name of the key; need not be unique. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in this order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of a policy. The value is moved into `applyPolicies` if that is absent or empty, and otherwise ignored, with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`. Will be removed after 2027-06-30.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP Basic authentication. The gateway verifies them. */
  basicAuthData?: KeyBasicAuthDataInput | null | undefined;
  /** Client certificate, or its identifier in the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** Retention of the analytics data of the key, in seconds. Example: 2592000 (30 days). */
  dataExpires?: number | string | null | undefined;
  /** Time at which the key was created. Set by the service; a value in input is ignored with a warning. */
  dateCreated?: string | null | undefined;
  /**
   * Former name of `enableDetailedRecording`. The value is moved there with a warning.
   * @deprecated Use `enableDetailedRecording`. Will be removed after 2027-06-30.
   */
  enableDetailRecording?: boolean | null | undefined;
  /** Whether the gateway records complete requests and responses. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Whether the gateway requires requests to have an HTTP signature. Available for stored keys only. */
  enableHttpSignatureValidation?: boolean | null | undefined;
  /** Time at which the key expires, in Unix seconds. A key with a value below 1 or null never expires. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway requires requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** Shared secret of HMAC signatures. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it. An empty string means absent. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Time until which the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is disabled. The gateway rejects all requests with a disabled key. */
  isInactive?: boolean | null | undefined;
  /** Verification of JSON Web Tokens (JWT) by the gateway. */
  jwtData?: KeyJwtDataInput | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  lastCheck?: number | string | null | undefined;
  /** Time at which the key was last updated, in Unix seconds, as text. Set by the service; a value in input is ignored with a warning. An empty string means absent. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Your own data about the key, as a JSON object. It is returned by reads: do not store secrets in it. At most 32 levels deep, with at most 10000 members in total. */
  metaData?: unknown;
  /** Events that the gateway raises when quota usage reaches a limit. */
  monitor?: QuotaMonitorInput | null | undefined;
  /** Identifier, in the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Key identifiers by OAuth client. Stored unchanged. At most 32 levels deep, with at most 10000 members in total. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. An empty string means absent. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** End of the quota period when the definition was written, in Unix seconds. Sets the initial live quota of a new key; the live quota has the current value. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Identifier, in the gateway, of the certificate to verify RSA signatures with. Available for stored keys only. At most 256 characters. */
  rsaCertificateID?: string | null | undefined;
  /** Lifetime of the session of the key in the gateway, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** Gradual changes of the rate limit by the gateway. */
  smoothing?: KeySmoothingInput | null | undefined;
  /** Labels to find the key and its traffic. Trimmed, and without duplicates. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** A key definition to preview. All fields are optional; null is the same as omitted. */
export type PreviewKeyInput = {
  /** Access rights of the key, one entry for each API. At most 1000 items. */
  accessRights?: Array<KeyAccessRightInput> | null | undefined;
  /** Display name of the key; need not be unique. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in this order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of a policy. The value is moved into `applyPolicies` if that is absent or empty, and otherwise ignored, with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`. Will be removed after 2027-06-30.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP Basic authentication. The gateway verifies them. */
  basicAuthData?: KeyBasicAuthDataInput | null | undefined;
  /** Client certificate, or its identifier in the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** Retention of the analytics data of the key, in seconds. Example: 2592000 (30 days). */
  dataExpires?: number | string | null | undefined;
  /** Time at which the key was created. Set by the service; a value in input is ignored with a warning. */
  dateCreated?: string | null | undefined;
  /** Whether the gateway records complete requests and responses. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Time at which the key expires, in Unix seconds. A key with a value below 1 or null never expires. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway requires requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** Shared secret of HMAC signatures. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it. An empty string means absent. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Time until which the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is disabled. The gateway rejects all requests with a disabled key. */
  isInactive?: boolean | null | undefined;
  /** Verification of JSON Web Tokens (JWT) by the gateway. */
  jwtData?: KeyJwtDataInput | null | undefined;
  /** Key identifier of the preview, at most 255 bytes. If absent, a new one is generated. Available in previews only. Example: acme-billing. */
  keyID?: string | number | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  lastCheck?: number | string | null | undefined;
  /** Time at which the key was last updated, in Unix seconds, as text. Set by the service; a value in input is ignored with a warning. An empty string means absent. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Your own data about the key, as any JSON. It is returned by reads: do not store secrets in it. At most 32 levels deep, with at most 10000 members in total. */
  metaData?: unknown;
  /** Events that the gateway raises when quota usage reaches a limit. */
  monitor?: QuotaMonitorInput | null | undefined;
  /** Identifiers, in the gateway, of the certificates that the key is bound to. Available in previews only. At most 100 items of at most 512 characters each. */
  mtlsStaticCertificateBindings?: Array<string> | null | undefined;
  /** Identifier, in the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Key identifiers by OAuth client. Stored unchanged. At most 32 levels deep, with at most 10000 members in total. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. An empty string means absent. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** End of the quota period when the definition was written, in Unix seconds. Sets the initial live quota of a new key; the live quota has the current value. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Lifetime of the session of the key in the gateway, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** Gradual changes of the rate limit by the gateway. */
  smoothing?: KeySmoothingInput | null | undefined;
  /** Labels to find the key and its traffic. Trimmed, and without duplicates. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

/** Events that the gateway raises when quota usage reaches a limit. */
export type QuotaMonitorInput = {
  /** Quota usage at which the gateway raises an event, in percent: above 0, at most 100, in descending order. At most 100 items. Example: 90. */
  triggerLimits?: Array<number> | null | undefined;
};

/** A definition that replaces the stored one. A field that is omitted or null is removed. Only secrets are kept if they are omitted; null removes a secret. */
export type UpdateKeyInput = {
  /** Access rights of the key, one entry for each API. At most 1000 items. */
  accessRights?: Array<KeyAccessRightInput> | null | undefined;
  /** Display name of the key; need not be unique. At most 256 characters. Example: Billing, production. */
  alias?: string | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  allowance?: number | null | undefined;
  /** Identifiers of the policies that the gateway applies to the key, in this order. At most 100 items of at most 512 characters each. Example: gold. */
  applyPolicies?: Array<string> | null | undefined;
  /**
   * Identifier of a policy. The value is moved into `applyPolicies` if that is absent or empty, and otherwise ignored, with a warning. At most 512 characters.
   * @deprecated Use `applyPolicies`. Will be removed after 2027-06-30.
   */
  applyPolicyID?: string | null | undefined;
  /** Credentials for HTTP Basic authentication. The gateway verifies them. */
  basicAuthData?: KeyBasicAuthDataInput | null | undefined;
  /** Client certificate, or its identifier in the gateway. At most 65536 characters. */
  certificate?: string | null | undefined;
  /** Retention of the analytics data of the key, in seconds. Example: 2592000 (30 days). */
  dataExpires?: number | string | null | undefined;
  /** Time at which the key was created. Set by the service; a value in input is ignored with a warning. */
  dateCreated?: string | null | undefined;
  /**
   * Former name of `enableDetailedRecording`. The value is moved there with a warning.
   * @deprecated Use `enableDetailedRecording`. Will be removed after 2027-06-30.
   */
  enableDetailRecording?: boolean | null | undefined;
  /** Whether the gateway records complete requests and responses. */
  enableDetailedRecording?: boolean | null | undefined;
  /** Whether the gateway requires requests to have an HTTP signature. Available for stored keys only. */
  enableHttpSignatureValidation?: boolean | null | undefined;
  /** Time at which the key expires, in Unix seconds. A key with a value below 1 or null never expires. Example: 1893456000. */
  expires?: number | string | null | undefined;
  /** Whether the gateway requires requests to be signed with `hmacString`. */
  hmacEnabled?: boolean | null | undefined;
  /** Shared secret of HMAC signatures. Stored encrypted and never returned. If an update omits it, the stored secret stays; null clears it. An empty string means absent. At most 4096 characters. */
  hmacString?: string | null | undefined;
  /** Time until which the gateway may cache the result of custom authentication, in Unix seconds. Example: 1893456000. */
  idExtractorDeadline?: number | string | null | undefined;
  /** Whether the key is disabled. The gateway rejects all requests with a disabled key. */
  isInactive?: boolean | null | undefined;
  /** Verification of JSON Web Tokens (JWT) by the gateway. */
  jwtData?: KeyJwtDataInput | null | undefined;
  /**
   * The value is stored unchanged.
   * @deprecated Has no effect. Will be removed after 2027-06-30.
   */
  lastCheck?: number | string | null | undefined;
  /** Time at which the key was last updated, in Unix seconds, as text. Set by the service; a value in input is ignored with a warning. An empty string means absent. Example: 1769860800. */
  lastUpdated?: string | null | undefined;
  /** Maximum depth of GraphQL queries at the gateway, in levels. -1 means unlimited. Example: 10. */
  maxQueryDepth?: number | null | undefined;
  /** Your own data about the key, as a JSON object. It is returned by reads: do not store secrets in it. At most 32 levels deep, with at most 10000 members in total. */
  metaData?: unknown;
  /** Events that the gateway raises when quota usage reaches a limit. */
  monitor?: QuotaMonitorInput | null | undefined;
  /** Identifier, in the gateway, of the OAuth client that the key belongs to. At most 256 characters. */
  oauthClientID?: string | null | undefined;
  /** Key identifiers by OAuth client. Stored unchanged. At most 32 levels deep, with at most 10000 members in total. */
  oauthKeys?: Record<string, unknown> | null | undefined;
  /** Identifier of the organization that owns the key: at most 214 bytes, with the characters of key identifiers. If a new key has none, the organization of the credential is used. It cannot be changed afterwards. An empty string means absent. At most 256 characters. Example: acme. */
  orgID?: string | null | undefined;
  /** Period of the rate limit, in seconds. 0 or less disables the rate limit. The gateway enforces it. Example: 60. */
  per?: number | null | undefined;
  /** Maximum number of requests in a quota period of `quotaRenewalRate` seconds. -1, 0 or null means unlimited. Example: 10000. */
  quotaMax?: number | string | null | undefined;
  /** Requests left in the quota period when the definition was written. -1 means unlimited. Sets the initial live quota of a new key; the live quota has the current value. Example: 9500. */
  quotaRemaining?: number | string | null | undefined;
  /** Length of the quota period, in seconds. With -1, 0 or null the quota never renews. Example: 2592000 (30 days). */
  quotaRenewalRate?: number | string | null | undefined;
  /** End of the quota period when the definition was written, in Unix seconds. Sets the initial live quota of a new key; the live quota has the current value. Example: 1893456000. */
  quotaRenews?: number | string | null | undefined;
  /** Maximum number of requests in a period of `per` seconds. -1 means unlimited. The gateway enforces it. Example: 100. */
  rate?: number | null | undefined;
  /** Identifier, in the gateway, of the certificate to verify RSA signatures with. Available for stored keys only. At most 256 characters. */
  rsaCertificateID?: string | null | undefined;
  /** Lifetime of the session of the key in the gateway, in seconds. Example: 3600. */
  sessionLifetime?: number | string | null | undefined;
  /** Gradual changes of the rate limit by the gateway. */
  smoothing?: KeySmoothingInput | null | undefined;
  /** Labels to find the key and its traffic. Trimmed, and without duplicates. At most 100 items of at most 512 characters each. Example: production. */
  tags?: Array<string> | null | undefined;
  /** Time that the gateway delays a request above the rate limit before it retries it, in seconds. -1 disables throttling. Example: 0.5. */
  throttleInterval?: number | null | undefined;
  /** Maximum number of times that the gateway retries a delayed request. -1 disables retries. Example: 3. */
  throttleRetryLimit?: number | null | undefined;
};

export type PreviewKeyQueryVariables = Exact<{
  input: PreviewKeyInput;
}>;


export type PreviewKeyQuery = { previewKey: { keyHash: string, keyID: string, data: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, effective: { isInactive: boolean, policyIDs: Array<string>, unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, accessRights: Array<{ apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } }> }, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type UpdateOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  input: UpdateKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type UpdateOrgKeyMutation = { updateOrgKey: { changed: boolean, version: number | null, quotaReset: KeyQuotaResetStatus | null, orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type PatchOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  patch: PatchKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type PatchOrgKeyMutation = { patchOrgKey: { changed: boolean, version: number | null, quotaReset: KeyQuotaResetStatus | null, orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type PreviewOrgKeyPatchQueryVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  patch: PatchKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  includeDeleted?: boolean | null | undefined;
}>;


export type PreviewOrgKeyPatchQuery = { previewOrgKeyPatch: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type PreviewOrgKeyRevertQueryVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  toVersion: number;
  expectedVersion?: number | null | undefined;
}>;


export type PreviewOrgKeyRevertQuery = { previewOrgKeyRevert: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type PreviewOrgKeyUpdateQueryVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  input: UpdateKeyInput;
  resetQuota?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  includeDeleted?: boolean | null | undefined;
}>;


export type PreviewOrgKeyUpdateQuery = { previewOrgKeyUpdate: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type OrgKeyQueryVariables = Exact<{
  by: OrgKeyByInput;
  includeDeleted?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeyQuery = { orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, history: { edges: Array<{ cursor: string, node: { version: number, at: string, operation: KeyOperation, revertedTo: number | null, proposalID: string | null, reason: string | null, requestID: string | null, quotaUsedBeforeReset: number | string | null, actor: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null };

export type OrgKeyDetailsQueryVariables = Exact<{
  by: OrgKeyByInput;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeyDetailsQuery = { orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, effectiveAccess: { isInactive: boolean, policyIDs: Array<string>, unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, accessRights: Array<{ apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } }> } | null, notices: Array<{ eventID: string, kind: KeyNoticeKind, at: string, version: number, expiresAt: string | null, daysBefore: number | null, threshold: number | null, quotaUsed: number | string | null, quotaMax: number | string | null, quotaRenewsAt: string | null, proposalID: string | null }> | null, history: { edges: Array<{ cursor: string, node: { version: number, at: string, operation: KeyOperation, revertedTo: number | null, proposalID: string | null, reason: string | null, requestID: string | null, quotaUsedBeforeReset: number | string | null, actor: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null };

export type OrgKeyUsageQueryVariables = Exact<{
  by: OrgKeyByInput;
}>;


export type OrgKeyUsageQuery = { orgKey: { id: string, keyHash: string, lastUsedAt: string | null, usage: { from: string, to: string, allowed: number | string, denied: number | string, days: Array<{ day: string, allowed: number | string, denied: number | string }> } | null } | null };

export type OrgKeysQueryVariables = Exact<{
  filter?: OrgKeyFilter | null | undefined;
  orderBy?: OrgKeyOrder | null | undefined;
  descending?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeysQuery = { orgKeys: { totalCount: number | null, edges: Array<{ cursor: string, node: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type OrgKeyRowsQueryVariables = Exact<{
  filter?: OrgKeyFilter | null | undefined;
  orderBy?: OrgKeyOrder | null | undefined;
  descending?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrgKeyRowsQuery = { orgKeys: { edges: Array<{ node: { id: string, keyHash: string, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, lastUsedAt: string | null, definition: { alias: string | null, rate: number | null, per: number | null, expires: number | string | null, tags: Array<string> | null } | null, effectiveAccess: { unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null } } } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type OrgKeyCountQueryVariables = Exact<{
  filter?: OrgKeyFilter | null | undefined;
}>;


export type OrgKeyCountQuery = { orgKeys: { totalCount: number | null } | null };

export type OrgKeyCountsQueryVariables = Exact<{
  all?: OrgKeyFilter | null | undefined;
  expiring?: OrgKeyFilter | null | undefined;
  expired?: OrgKeyFilter | null | undefined;
  inactive?: OrgKeyFilter | null | undefined;
  deleted?: OrgKeyFilter | null | undefined;
}>;


export type OrgKeyCountsQuery = { all: { totalCount: number | null } | null, expiring: { totalCount: number | null } | null, expired: { totalCount: number | null } | null, inactive: { totalCount: number | null } | null, deleted: { totalCount: number | null } | null };

export type OrgKeySuggestionsQueryVariables = Exact<{
  filter?: OrgKeyFilter | null | undefined;
}>;


export type OrgKeySuggestionsQuery = { orgKeys: { edges: Array<{ node: { id: string, definition: { tags: Array<string> | null, applyPolicies: Array<string> | null, accessRights: Array<{ label: string, apiID: string | null }> | null } | null } | null } | null> | null } | null };

export type OrgKeyChangesQueryVariables = Exact<{
  orgID?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgKeyChangesQuery = { orgKeyChanges: { edges: Array<{ cursor: string, node:
        | { __typename: 'KeyFeedCheckpoint', cursor: string }
        | { __typename: 'OrgKeyChanged', keyHash: string | null, orgID: string | null, cursor: string, entry: { version: number, at: string, operation: KeyOperation, revertedTo: number | null, proposalID: string | null, reason: string | null, requestID: string | null, quotaUsedBeforeReset: number | string | null, actor: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> } | null, key: { id: string, definition: { alias: string | null } | null } | null }
        | { __typename: 'OrgKeyNoticed', keyHash: string | null, orgID: string | null, cursor: string, notice: { eventID: string, kind: KeyNoticeKind, at: string, version: number, expiresAt: string | null, daysBefore: number | null, threshold: number | null, quotaUsed: number | string | null, quotaMax: number | string | null, quotaRenewsAt: string | null, proposalID: string | null }, key: { id: string, definition: { alias: string | null } | null } | null }
       | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node: { keyHash: string, id: string } | null };

export type CreateOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  prefix?: string | null | undefined;
  input: CreateKeyInput;
  reason?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type CreateOrgKeyMutation = { createOrgKey: { changed: boolean, version: number | null, orgKey: { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type DeleteOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type DeleteOrgKeyMutation = { deleteOrgKey: { changed: boolean, version: number, orgKey: { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type RestoreOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type RestoreOrgKeyMutation = { restoreOrgKey: { changed: boolean, version: number, orgKey: { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type RotateOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  overlap?: number | null | undefined;
  prefix?: string | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type RotateOrgKeyMutation = { rotateOrgKey: { keyID: string, changed: boolean, version: number, orgKey: { identifierHash: string, id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type CancelKeyRotationMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type CancelKeyRotationMutation = { cancelKeyRotation: { changed: boolean, version: number, orgKey: { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type RevertOrgKeyMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  toVersion: number;
  expectedVersion?: number | null | undefined;
  reason?: string | null | undefined;
}>;


export type RevertOrgKeyMutation = { revertOrgKey: { changed: boolean, version: number, orgKey: { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null };

export type ConsumeOrgQuotaMutationVariables = Exact<{
  keyID: string | number;
  amount?: number | string | null | undefined;
}>;


export type ConsumeOrgQuotaMutation = { consumeOrgQuota: { allowed: boolean, refusal: KeyQuotaRefusal | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null };

export type VerifyKeyMutationVariables = Exact<{
  keyID: string | number;
  api?: string | null | undefined;
  version?: string | null | undefined;
  method?: string | null | undefined;
  path?: string | null | undefined;
  amount?: number | string | null | undefined;
  proofs?: Array<KeyProof> | KeyProof | null | undefined;
}>;


export type VerifyKeyMutation = { verifyKey: { isAllowed: boolean, code: KeyAccessCode, keyHash: string | null, orgID: string | null, alias: string | null, reasons: Array<{ code: KeyAccessCode, message: string, path: string | null, policyID: string | null }>, limits: { rate: number | null, per: number | null }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null };

export type UpdateOrgKeysMutationVariables = Exact<{
  filter: OrgKeyFilter;
  patch: PatchKeyInput;
  addTags?: Array<string> | string | null | undefined;
  removeTags?: Array<string> | string | null | undefined;
  resetQuota?: boolean | null | undefined;
  dryRun?: boolean;
  reason?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UpdateOrgKeysMutation = { updateOrgKeys: { dryRun: boolean, hasNextPage: boolean, endCursor: string | null, items: Array<{ keyHash: string, orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null, change: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null, error: { code: KeyErrorCode, message: string, issues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null }> } | null };

export type ResetOrgQuotasMutationVariables = Exact<{
  filter: OrgKeyFilter;
  dryRun?: boolean;
  reason?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ResetOrgQuotasMutation = { resetOrgQuotas: { dryRun: boolean, hasNextPage: boolean, endCursor: string | null, items: Array<{ keyHash: string, orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null, change: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null, error: { code: KeyErrorCode, message: string, issues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null }> } | null };

export type ViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ViewerQuery = { viewer: { credentialID: string, label: string, kind: string, client: string | null, scopes: Array<KeyScope>, isRestricted: boolean, orgID: string | null } | null };

export type OrganizationQueryVariables = Exact<{
  id: string | number;
}>;


export type OrganizationQuery = { organization: { id: string } | null };

export type OrganizationQuotaQueryVariables = Exact<{
  id: string | number;
}>;


export type OrganizationQuotaQuery = { organization: { id: string, keyUsage: { from: string, to: string, allowed: number | string, denied: number | string, days: Array<{ day: string, allowed: number | string, denied: number | string }> } | null, quotaSummary: { keyCount: number, limitedKeys: number, exhaustedKeys: number, max: number | string, used: number | string, remaining: number | string } | null } | null };

export type OrganizationOfKeyQueryVariables = Exact<{
  keyHash: string;
  first?: number | null | undefined;
}>;


export type OrganizationOfKeyQuery = { orgKey: { id: string, organization: { id: string, orgKeys: { totalCount: number | null, edges: Array<{ node: { id: string, keyHash: string } | null } | null> | null } | null, quotaSummary: { keyCount: number, limitedKeys: number, exhaustedKeys: number, max: number | string, used: number | string, remaining: number | string } | null } | null } | null };

export type OrgKeyFragment = { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null };

export type RotationFragment = { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null };

export type ChangedFragment = { id: string, keyHash: string, keyID: string | null, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, deletedAt: string | null };

export type RowFragment = { id: string, keyHash: string, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, lastUsedAt: string | null, definition: { alias: string | null, rate: number | null, per: number | null, expires: number | string | null, tags: Array<string> | null } | null, effectiveAccess: { unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null } } } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null };

export type PreviewFragment = { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> };

export type BulkItemFragment = { keyHash: string, orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null, change: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null, error: { code: KeyErrorCode, message: string, issues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type ChangeFragment = { path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown };

export type EffectFragment = { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } };

export type FiguresFragment = { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null };

export type EntryFragment = { version: number, at: string, operation: KeyOperation, revertedTo: number | null, proposalID: string | null, reason: string | null, requestID: string | null, quotaUsedBeforeReset: number | string | null, actor: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> };

export type ActorFragment = { credentialID: string, label: string, client: string | null, assertedName: string | null };

export type NoticeFragment = { eventID: string, kind: KeyNoticeKind, at: string, version: number, expiresAt: string | null, daysBefore: number | null, threshold: number | null, quotaUsed: number | string | null, quotaMax: number | string | null, quotaRenewsAt: string | null, proposalID: string | null };

export type PlaceFragment = { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null };

export type DefinitionFragment = { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null };

export type OrganizationsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type OrganizationsQuery = { organizations: { edges: Array<{ cursor: string, node: { id: string } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type KeyTagsQueryVariables = Exact<{
  keyHash: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyTagsQuery = { orgKey: { id: string, organization: { id: string, keyTags: { edges: Array<{ cursor: string, node: { tag: string } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null } | null } | null };

export type ExplainOrgKeyQueryVariables = Exact<{
  by: OrgKeyByInput;
  api?: string | null | undefined;
  version?: string | null | undefined;
  method?: string | null | undefined;
  path?: string | null | undefined;
  proofs?: Array<KeyProof> | KeyProof | null | undefined;
  at?: string | null | undefined;
}>;


export type ExplainOrgKeyQuery = { explainOrgKey: { at: string, version: number | null, isAllowed: boolean, code: KeyAccessCode, reasons: Array<{ code: KeyAccessCode, message: string, path: string | null, policyID: string | null }>, access: { isInactive: boolean, policyIDs: Array<string>, unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, accessRights: Array<{ apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } }> } | null, right: { apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } } | null, matchedUrl: { url: string, methods: Array<string>, policyID: string | null } | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null };

export type EffectiveAccessOfKeyQueryVariables = Exact<{
  by: OrgKeyByInput;
}>;


export type EffectiveAccessOfKeyQuery = { orgKey: { id: string, effectiveAccess: { isInactive: boolean, policyIDs: Array<string>, unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, accessRights: Array<{ apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } }> } | null } | null };

export type PolicyQueryVariables = Exact<{
  policyID: string;
}>;


export type PolicyQuery = { keyPolicy: { policyID: string, version: number, changedAt: string, name: string | null, orgID: string | null, isInactive: boolean, governs: Array<KeyPolicyPart>, changedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null } } | null };

export type PolicyRowsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PolicyRowsQuery = { keyPolicies: { version: number, edges: Array<{ cursor: string, node: { policyID: string, version: number, changedAt: string, name: string | null, orgID: string | null, isInactive: boolean, governs: Array<KeyPolicyPart>, values: { rate: number | null, per: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null }> | null } } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type PolicyNamesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type PolicyNamesQuery = { keyPolicies: { edges: Array<{ node: { policyID: string, orgID: string | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type KeysOfPolicyImpactQueryVariables = Exact<{
  policy: KeyPolicyInput;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeysOfPolicyImpactQuery = { impactOfPolicy: { edges: Array<{ node: { orgKey: { id: string, keyHash: string, orgID: string, definition: { alias: string | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type ImpactOfPolicyQueryVariables = Exact<{
  policy: KeyPolicyInput;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ImpactOfPolicyQuery = { impactOfPolicy: { edges: Array<{ cursor: string, node: { orgKey: { id: string, keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, createdAt: string, updatedAt: string | null, deletedAt: string | null, restorableUntil: string | null, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type EffectiveAccessFragment = { isInactive: boolean, policyIDs: Array<string>, unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> }, accessRights: Array<{ apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } }> };

export type EffectiveRightFragment = { apiID: string, apiName: string | null, versions: Array<string>, policyIDs: Array<string>, allowedUrls: Array<{ url: string, methods: Array<string>, policyID: string | null }> | null, limits: { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> } };

export type EffectiveLimitsFragment = { values: { rate: number | null, per: number | null, throttleInterval: number | null, throttleRetryLimit: number | null, quotaMax: number | string | null, quotaRenewalRate: number | string | null, maxQueryDepth: number | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, origins: Array<{ field: string, policyID: string | null }> };

export type PolicyHistoryQueryVariables = Exact<{
  policyID: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PolicyHistoryQuery = { keyPolicyHistory: { edges: Array<{ cursor: string, node: { version: number, at: string, kind: KeyPolicyChangeKind, actor: { credentialID: string, label: string, client: string | null, assertedName: string | null }, changes: Array<{ path: string, kind: KeyChangeKind, before: unknown, after: unknown }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type PolicyChangeFragment = { dryRun: boolean, version: number, changes: Array<{ policyID: string, kind: KeyPolicyChangeKind, changes: Array<{ path: string, kind: KeyChangeKind, before: unknown, after: unknown }> }>, warnings: Array<{ path: string, code: KeyWarningCode, message: string }> };

export type PutPoliciesMutationVariables = Exact<{
  policies: Array<KeyPolicyInput> | KeyPolicyInput;
  prune?: boolean | null | undefined;
  dryRun?: boolean;
  expectedVersion?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type PutPoliciesMutation = { putKeyPolicies: { dryRun: boolean, version: number, changes: Array<{ policyID: string, kind: KeyPolicyChangeKind, changes: Array<{ path: string, kind: KeyChangeKind, before: unknown, after: unknown }> }>, warnings: Array<{ path: string, code: KeyWarningCode, message: string }> } | null };

export type RemovePoliciesMutationVariables = Exact<{
  policyIDs: Array<string> | string;
  dryRun?: boolean;
  expectedVersion?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type RemovePoliciesMutation = { removeKeyPolicies: { dryRun: boolean, version: number, changes: Array<{ policyID: string, kind: KeyPolicyChangeKind, changes: Array<{ path: string, kind: KeyChangeKind, before: unknown, after: unknown }> }>, warnings: Array<{ path: string, code: KeyWarningCode, message: string }> } | null };

export type DeliveredFragment = { keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, data: Record<string, unknown>, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null };

export type DeliverKeyQueryVariables = Exact<{
  by: OrgKeyByInput;
}>;


export type DeliverKeyQuery = { deliverKey: { keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, data: Record<string, unknown>, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null } | null };

export type DeliverKeysQueryVariables = Exact<{
  orgID?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type DeliverKeysQuery = { deliverKeys: { endCursor: string | null, hasNextPage: boolean, items: Array<{ keyHash: string, key: { keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, data: Record<string, unknown>, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null } | null }> } | null };

export type AcknowledgeChangesMutationVariables = Exact<{
  gateway: string;
  orgID?: string | null | undefined;
  cursor?: string | null | undefined;
  digest?: string | null | undefined;
}>;


export type AcknowledgeChangesMutation = { acknowledgeChanges: { isNew: boolean } | null };

export type ForgetGatewayMutationVariables = Exact<{
  gateway: string;
  orgID?: string | null | undefined;
}>;


export type ForgetGatewayMutation = { forgetGateway: { gateway: string } | null };

export type GatewaysQueryVariables = Exact<{
  orgID?: string | null | undefined;
  names?: Array<string> | string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type GatewaysQuery = { gateways: { edges: Array<{ cursor: string, node: { name: string, orgID: string | null, lag: number, lastSeen: string, cursor: string | null, digest: string | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type KeyDeploymentsQueryVariables = Exact<{
  by: OrgKeyByInput;
  gateways?: Array<string> | string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyDeploymentsQuery = { orgKey: { id: string, version: number, deployments: { edges: Array<{ cursor: string, node: { gateway: string, orgID: string | null, version: number | null, at: string, isCurrent: boolean } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null } | null };

export type KeyDigestQueryVariables = Exact<{
  cursor: string;
  orgID?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyDigestQuery = { keyDigest: { digest: string, keys: number, endCursor: string | null } | null };

export type KeyDeployedSubscriptionVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  gateways: Array<string> | string;
}>;


export type KeyDeployedSubscription = { orgKeyDeployed: Array<{ gateway: string, orgID: string | null, version: number | null, at: string, isCurrent: boolean }> };

export type ProposalFragment = { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> };

export type ProposeKeyChangeMutationVariables = Exact<{
  keyID?: string | number | null | undefined;
  keyHash?: string | null | undefined;
  change: KeyChangeInput;
  expectedVersion?: number | null | undefined;
  applyAt?: string | null | undefined;
  reason?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type ProposeKeyChangeMutation = { proposeKeyChange: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type KeyProposalsQueryVariables = Exact<{
  orgID?: string | null | undefined;
  keyHash?: string | null | undefined;
  states?: Array<KeyProposalState> | KeyProposalState | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyProposalsQuery = { keyProposals: { edges: Array<{ cursor: string, node: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, orgKey: { id: string, keyHash: string, version: number, definition: { alias: string | null } | null } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type KeyProposalQueryVariables = Exact<{
  id: string | number;
}>;


export type KeyProposalQuery = { keyProposal: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, orgKey: { id: string, keyHash: string, version: number } | null, preview: { changed: boolean, version: number, quotaReset: KeyQuotaResetStatus | null, definition: { alias: string | null, allowance: number | null, applyPolicies: Array<string> | null, certificate: string | null, mtlsStaticCertificateBindings: Array<string> | null, dataExpires: number | string | null, dateCreated: string | null, enableDetailedRecording: boolean | null, enableHttpSignatureValidation: boolean | null, expires: number | string | null, hmacEnabled: boolean | null, hmacStringSet: boolean, idExtractorDeadline: number | string | null, isInactive: boolean | null, keyID: string | null, lastCheck: number | string | null, lastUpdated: string | null, maxQueryDepth: number | null, metaData: unknown, oauthClientID: string | null, oauthKeys: Record<string, unknown> | null, orgID: string | null, per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, quotaRenews: number | string | null, rate: number | null, rsaCertificateID: string | null, sessionLifetime: number | string | null, tags: Array<string> | null, throttleInterval: number | null, throttleRetryLimit: number | null, accessRights: Array<{ label: string, apiID: string | null, apiName: string | null, versions: Array<string> | null, allowedUrls: Array<{ methods: Array<string> | null, url: string | null }> | null, limit: { per: number | null, quotaMax: number | string | null, quotaRemaining: number | string | null, quotaRenewalRate: number | string | null, rate: number | null, throttleInterval: number | null, throttleRetryLimit: number | null } | null }> | null, basicAuthData: { hashType: string | null, passwordSet: boolean, user: string | null } | null, jwtData: { secretSet: boolean } | null, monitor: { triggerLimits: Array<number> | null } | null, smoothing: { delay: number | null, enabled: boolean | null, step: number | null, threshold: number | null, trigger: number | null } | null }, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, quotaEffect: { summary: string, before: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null }, after: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } } | null, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }> } | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type ApproveKeyProposalMutationVariables = Exact<{
  id: string | number;
  reason?: string | null | undefined;
}>;


export type ApproveKeyProposalMutation = { approveKeyProposal: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type RejectKeyProposalMutationVariables = Exact<{
  id: string | number;
  reason?: string | null | undefined;
}>;


export type RejectKeyProposalMutation = { rejectKeyProposal: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type WithdrawKeyProposalMutationVariables = Exact<{
  id: string | number;
  reason?: string | null | undefined;
}>;


export type WithdrawKeyProposalMutation = { withdrawKeyProposal: { id: string, keyHash: string, orgID: string, kind: KeyProposalKind, state: KeyProposalState, expectedVersion: number, resetsQuota: boolean, reason: string | null, isOwn: boolean, proposedAt: string, needsApproval: boolean, expiresAt: string | null, applyAt: string | null, approvedAt: string | null, approvalReason: string | null, endedAt: string | null, endReason: string | null, problem: string | null, changes: Array<{ path: string, segments: Array<string>, kind: KeyChangeKind, before: unknown, after: unknown }>, warnings: Array<{ path: string, segments: Array<string>, code: KeyWarningCode, message: string }>, proposedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null }, approvedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, endedBy: { credentialID: string, label: string, client: string | null, assertedName: string | null } | null, problemIssues: Array<{ path: string, segments: Array<string>, code: KeyIssueCode, message: string }> } | null };

export type CredentialFieldsFragment = { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null };

export type KeyCredentialsQueryVariables = Exact<{
  orgID?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyCredentialsQuery = { keyCredentials: { edges: Array<{ cursor: string, node: { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type IssueKeyCredentialMutationVariables = Exact<{
  kind?: KeyCredentialKind | null | undefined;
  label: string;
  orgID?: string | null | undefined;
  scopes?: Array<KeyScope> | KeyScope | null | undefined;
  expiresAt?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type IssueKeyCredentialMutation = { issueKeyCredential: { secret: string | null, credential: { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null } } | null };

export type RotateKeyCredentialMutationVariables = Exact<{
  id: string | number;
  overlapHours: number;
}>;


export type RotateKeyCredentialMutation = { rotateKeyCredential: { secret: string | null, credential: { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null }, retired: { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null } | null } | null };

export type RevokeKeyCredentialMutationVariables = Exact<{
  id: string | number;
}>;


export type RevokeKeyCredentialMutation = { revokeKeyCredential: { id: string, kind: KeyCredentialKind, label: string, orgID: string | null, scopes: Array<KeyScope> | null, state: KeyCredentialState, lastFour: string | null, createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, successorID: string | null } | null };

export type WebhookFieldsFragment = { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null };

export type KeyWebhooksQueryVariables = Exact<{
  orgID?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyWebhooksQuery = { keyWebhooks: { damagedIDs: Array<string>, edges: Array<{ cursor: string, node: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null };

export type KeyWebhookQueryVariables = Exact<{
  id: string | number;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyWebhookQuery = { keyWebhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null, retries: Array<{ eventID: string | null, keyHash: string, version: number, lastVersion: number, attempts: number, nextAttemptAt: string, failedAt: string | null, lastError: string }> | null, deadLetters: { edges: Array<{ cursor: string, node: { eventID: string, keyHash: string, version: number, failedAt: string | null, attempts: number, lastError: string, isReplayed: boolean } | null } | null> | null, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } | null } | null };

export type AddKeyWebhookMutationVariables = Exact<{
  url: string;
  label?: string | null | undefined;
  orgID?: string | null | undefined;
  eventTypes?: Array<string> | string | null | undefined;
  idempotencyKey?: string | null | undefined;
}>;


export type AddKeyWebhookMutation = { addKeyWebhook: { secret: string | null, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type TestKeyWebhookMutationVariables = Exact<{
  id: string | number;
}>;


export type TestKeyWebhookMutation = { testKeyWebhook: { isDelivered: boolean, status: number | null, failure: string | null, webhook: { id: string } } | null };

export type PauseKeyWebhookMutationVariables = Exact<{
  id: string | number;
}>;


export type PauseKeyWebhookMutation = { pauseKeyWebhook: { changed: boolean, isReleased: boolean, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type ResumeKeyWebhookMutationVariables = Exact<{
  id: string | number;
}>;


export type ResumeKeyWebhookMutation = { resumeKeyWebhook: { changed: boolean, isReleased: boolean, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type RotateKeyWebhookMutationVariables = Exact<{
  id: string | number;
  overlapHours: number;
}>;


export type RotateKeyWebhookMutation = { rotateKeyWebhook: { secret: string, isReleased: boolean, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type RemoveKeyWebhookMutationVariables = Exact<{
  id: string | number;
}>;


export type RemoveKeyWebhookMutation = { removeKeyWebhook: { id: string, isReleased: boolean } | null };

export type ReplayKeyWebhookDeadLettersMutationVariables = Exact<{
  id: string | number;
  eventID?: string | number | null | undefined;
}>;


export type ReplayKeyWebhookDeadLettersMutation = { replayKeyWebhookDeadLetters: { count: number, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type DiscardKeyWebhookDeadLettersMutationVariables = Exact<{
  id: string | number;
  eventID?: string | number | null | undefined;
}>;


export type DiscardKeyWebhookDeadLettersMutation = { discardKeyWebhookDeadLetters: { count: number, isReleased: boolean, webhook: { id: string, label: string, orgID: string | null, eventTypes: Array<string> | null, receiver: string | null, createdAt: string, pausedAt: string | null, pausedReason: string | null, oldSecretUntil: string | null, failingKeys: number | null, deadLetterCount: number | null } } | null };

export type OrgKeyChangedSubscriptionVariables = Exact<{
  orgID?: string | null | undefined;
  keyHash?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgKeyChangedSubscription = { orgKeyChanged:
    | { __typename: 'KeyFeedCheckpoint', cursor: string }
    | { __typename: 'OrgKeyChanged', keyHash: string | null, orgID: string | null, cursor: string, entry: { version: number, at: string, operation: KeyOperation, reason: string | null, actor: { label: string, assertedName: string | null }, changes: Array<{ path: string, kind: KeyChangeKind, before: unknown, after: unknown }> } | null, key: { id: string, keyID: string | null, version: number, state: OrgKeyState } | null }
    | { __typename: 'OrgKeyNoticed', keyHash: string | null, orgID: string | null, cursor: string, notice: { eventID: string, kind: KeyNoticeKind, at: string, version: number, expiresAt: string | null, daysBefore: number | null, threshold: number | null, quotaUsed: number | string | null, quotaMax: number | string | null, quotaRenewsAt: string | null, proposalID: string | null }, key: { id: string, keyID: string | null, version: number, state: OrgKeyState } | null }
   };

export type OrgKeyRowChangedSubscriptionVariables = Exact<{
  orgID?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgKeyRowChangedSubscription = { orgKeyChanged:
    | { __typename: 'KeyFeedCheckpoint', cursor: string }
    | { __typename: 'OrgKeyChanged', keyHash: string | null, cursor: string, entry: { operation: KeyOperation } | null, key: { id: string, keyHash: string, orgID: string, version: number, state: OrgKeyState, updatedAt: string | null, lastUsedAt: string | null, definition: { alias: string | null, rate: number | null, per: number | null, expires: number | string | null, tags: Array<string> | null } | null, effectiveAccess: { unknownPolicyIDs: Array<string>, limits: { values: { rate: number | null, per: number | null } } } | null, quota: { max: number | string | null, used: number | string, remaining: number | string | null, renewsAt: string | null } | null } | null }
    | { __typename: 'OrgKeyNoticed', cursor: string }
   };

export type KeyDeliverySubscriptionVariables = Exact<{
  orgID?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type KeyDeliverySubscription = { orgKeyChanged:
    | { __typename: 'KeyFeedCheckpoint', cursor: string }
    | { __typename: 'OrgKeyChanged', keyHash: string | null, cursor: string, delivered: { keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, data: Record<string, unknown>, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null } | null }
    | { __typename: 'OrgKeyNoticed', keyHash: string | null, cursor: string, delivered: { keyHash: string, keyID: string | null, identifierHash: string, orgID: string, version: number, state: OrgKeyState, data: Record<string, unknown>, rotation: { oldKeyID: string | null, oldIdentifierHash: string, retiresAt: string, silence: number | null } | null } | null }
   };

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
export const ChangedFragmentDoc = new TypedDocumentString(`
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
    `, {"fragmentName":"Changed"}) as unknown as TypedDocumentString<ChangedFragment, unknown>;
export const FiguresFragmentDoc = new TypedDocumentString(`
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}
    `, {"fragmentName":"Figures"}) as unknown as TypedDocumentString<FiguresFragment, unknown>;
export const RowFragmentDoc = new TypedDocumentString(`
    fragment Row on OrgKey {
  id
  keyHash
  orgID
  version
  state
  updatedAt
  lastUsedAt
  definition {
    alias
    rate
    per
    expires
    tags
  }
  effectiveAccess {
    unknownPolicyIDs
    limits {
      values {
        rate
        per
      }
    }
  }
  quota {
    ...Figures
  }
}
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"fragmentName":"Row"}) as unknown as TypedDocumentString<RowFragment, unknown>;
export const RotationFragmentDoc = new TypedDocumentString(`
    fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
    `, {"fragmentName":"Rotation"}) as unknown as TypedDocumentString<RotationFragment, unknown>;
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
export const OrgKeyFragmentDoc = new TypedDocumentString(`
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
    fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Figures on KeyQuota {
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
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
    `, {"fragmentName":"Change"}) as unknown as TypedDocumentString<ChangeFragment, unknown>;
export const EffectFragmentDoc = new TypedDocumentString(`
    fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"fragmentName":"Effect"}) as unknown as TypedDocumentString<EffectFragment, unknown>;
export const PreviewFragmentDoc = new TypedDocumentString(`
    fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
export const BulkItemFragmentDoc = new TypedDocumentString(`
    fragment BulkItem on KeyBulkItem {
  keyHash
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
      segments
      code
      message
    }
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"fragmentName":"BulkItem"}) as unknown as TypedDocumentString<BulkItemFragment, unknown>;
export const ActorFragmentDoc = new TypedDocumentString(`
    fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
    `, {"fragmentName":"Actor"}) as unknown as TypedDocumentString<ActorFragment, unknown>;
export const EntryFragmentDoc = new TypedDocumentString(`
    fragment Entry on KeyHistoryEntry {
  version
  at
  operation
  revertedTo
  actor {
    credentialID
    label
    client
    assertedName
  }
  proposalID
  approvedBy {
    ...Actor
  }
  reason
  requestID
  quotaUsedBeforeReset
  changes {
    ...Change
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}`, {"fragmentName":"Entry"}) as unknown as TypedDocumentString<EntryFragment, unknown>;
export const NoticeFragmentDoc = new TypedDocumentString(`
    fragment Notice on KeyNotice {
  eventID
  kind
  at
  version
  expiresAt
  daysBefore
  threshold
  quotaUsed
  quotaMax
  quotaRenewsAt
  proposalID
}
    `, {"fragmentName":"Notice"}) as unknown as TypedDocumentString<NoticeFragment, unknown>;
export const PlaceFragmentDoc = new TypedDocumentString(`
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
    `, {"fragmentName":"Place"}) as unknown as TypedDocumentString<PlaceFragment, unknown>;
export const EffectiveLimitsFragmentDoc = new TypedDocumentString(`
    fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}
    `, {"fragmentName":"EffectiveLimits"}) as unknown as TypedDocumentString<EffectiveLimitsFragment, unknown>;
export const EffectiveRightFragmentDoc = new TypedDocumentString(`
    fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
    fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"fragmentName":"EffectiveRight"}) as unknown as TypedDocumentString<EffectiveRightFragment, unknown>;
export const EffectiveAccessFragmentDoc = new TypedDocumentString(`
    fragment EffectiveAccess on KeyEffectiveAccess {
  isInactive
  policyIDs
  unknownPolicyIDs
  limits {
    ...EffectiveLimits
  }
  accessRights {
    ...EffectiveRight
  }
}
    fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"fragmentName":"EffectiveAccess"}) as unknown as TypedDocumentString<EffectiveAccessFragment, unknown>;
export const PolicyChangeFragmentDoc = new TypedDocumentString(`
    fragment PolicyChange on KeyPolicyChangeResult {
  dryRun
  version
  changes {
    policyID
    kind
    changes {
      path
      kind
      before
      after
    }
  }
  warnings {
    path
    code
    message
  }
}
    `, {"fragmentName":"PolicyChange"}) as unknown as TypedDocumentString<PolicyChangeFragment, unknown>;
export const DeliveredFragmentDoc = new TypedDocumentString(`
    fragment Delivered on DeliveredKey {
  keyHash
  keyID
  identifierHash
  rotation {
    oldKeyID
    oldIdentifierHash
    retiresAt
    silence
  }
  orgID
  version
  state
  data
}
    `, {"fragmentName":"Delivered"}) as unknown as TypedDocumentString<DeliveredFragment, unknown>;
export const ProposalFragmentDoc = new TypedDocumentString(`
    fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}`, {"fragmentName":"Proposal"}) as unknown as TypedDocumentString<ProposalFragment, unknown>;
export const CredentialFieldsFragmentDoc = new TypedDocumentString(`
    fragment CredentialFields on KeyCredential {
  id
  kind
  label
  orgID
  scopes
  state
  lastFour
  createdAt
  expiresAt
  revokedAt
  lastUsedAt
  successorID
}
    `, {"fragmentName":"CredentialFields"}) as unknown as TypedDocumentString<CredentialFieldsFragment, unknown>;
export const WebhookFieldsFragmentDoc = new TypedDocumentString(`
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}
    `, {"fragmentName":"WebhookFields"}) as unknown as TypedDocumentString<WebhookFieldsFragment, unknown>;
export const PreviewKeyDocument = new TypedDocumentString(`
    query PreviewKey($input: PreviewKeyInput!) {
  previewKey(input: $input) {
    data {
      ...Definition
    }
    keyHash
    keyID
    effective {
      ...EffectiveAccess
    }
    warnings {
      path
      segments
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
}
fragment EffectiveAccess on KeyEffectiveAccess {
  isInactive
  policyIDs
  unknownPolicyIDs
  limits {
    ...EffectiveLimits
  }
  accessRights {
    ...EffectiveRight
  }
}
fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"hash":"sha256:c4cea2fa9b5e6872b004a9e6ea2343008c30f4476080576298da35a0bd6e7788"}) as unknown as TypedDocumentString<PreviewKeyQuery, PreviewKeyQueryVariables>;
export const UpdateOrgKeyDocument = new TypedDocumentString(`
    mutation UpdateOrgKey($keyID: ID, $keyHash: String, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String, $idempotencyKey: String) {
  updateOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    input: $input
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
    reason: $reason
    idempotencyKey: $idempotencyKey
  ) {
    changed
    version
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
      segments
      code
      message
    }
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:bbd3f7c042b13639f85ddd45b5f4db7bc5b8309f471d26b61ee988c267ce1586"}) as unknown as TypedDocumentString<UpdateOrgKeyMutation, UpdateOrgKeyMutationVariables>;
export const PatchOrgKeyDocument = new TypedDocumentString(`
    mutation PatchOrgKey($keyID: ID, $keyHash: String, $patch: PatchKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $reason: String, $idempotencyKey: String) {
  patchOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    patch: $patch
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
    reason: $reason
    idempotencyKey: $idempotencyKey
  ) {
    changed
    version
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
      segments
      code
      message
    }
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:88483b3dc3d28db4238df5f8cee202712ecbb47fbf86e2fe6e565afba6b01725"}) as unknown as TypedDocumentString<PatchOrgKeyMutation, PatchOrgKeyMutationVariables>;
export const PreviewOrgKeyPatchDocument = new TypedDocumentString(`
    query PreviewOrgKeyPatch($keyID: ID, $keyHash: String, $patch: PatchKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $includeDeleted: Boolean) {
  previewOrgKeyPatch(
    keyID: $keyID
    keyHash: $keyHash
    patch: $patch
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
    includeDeleted: $includeDeleted
  ) {
    ...Preview
  }
}
    fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:900d505b6cab365be84b8c575bd9e1c1a8aa693d378c36c0c2c71bd4f16eb824"}) as unknown as TypedDocumentString<PreviewOrgKeyPatchQuery, PreviewOrgKeyPatchQueryVariables>;
export const PreviewOrgKeyRevertDocument = new TypedDocumentString(`
    query PreviewOrgKeyRevert($keyID: ID, $keyHash: String, $toVersion: Int!, $expectedVersion: Int) {
  previewOrgKeyRevert(
    keyID: $keyID
    keyHash: $keyHash
    toVersion: $toVersion
    expectedVersion: $expectedVersion
  ) {
    ...Preview
  }
}
    fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:3c7783b9bcc5d0ad4fe546ef170bbac322a535be2087aeca80b2211f9688ce1f"}) as unknown as TypedDocumentString<PreviewOrgKeyRevertQuery, PreviewOrgKeyRevertQueryVariables>;
export const PreviewOrgKeyUpdateDocument = new TypedDocumentString(`
    query PreviewOrgKeyUpdate($keyID: ID, $keyHash: String, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int, $includeDeleted: Boolean) {
  previewOrgKeyUpdate(
    keyID: $keyID
    keyHash: $keyHash
    input: $input
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
    includeDeleted: $includeDeleted
  ) {
    ...Preview
  }
}
    fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:031f995c5ea141c28c2bddd9364fb4110cbcda98a39eb51761ccca3002a6782a"}) as unknown as TypedDocumentString<PreviewOrgKeyUpdateQuery, PreviewOrgKeyUpdateQueryVariables>;
export const OrgKeyDocument = new TypedDocumentString(`
    query OrgKey($by: OrgKeyByInput!, $includeDeleted: Boolean, $first: Int, $after: String, $last: Int, $before: String) {
  orgKey(by: $by, includeDeleted: $includeDeleted) {
    ...OrgKey
    history(first: $first, after: $after, last: $last, before: $before) {
      edges {
        cursor
        node {
          ...Entry
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
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}
fragment Entry on KeyHistoryEntry {
  version
  at
  operation
  revertedTo
  actor {
    credentialID
    label
    client
    assertedName
  }
  proposalID
  approvedBy {
    ...Actor
  }
  reason
  requestID
  quotaUsedBeforeReset
  changes {
    ...Change
  }
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
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
}`, {"hash":"sha256:5efaab57677cc87bbdf80ae21fa01d143f02ce185318eca9095b30089db98171"}) as unknown as TypedDocumentString<OrgKeyQuery, OrgKeyQueryVariables>;
export const OrgKeyDetailsDocument = new TypedDocumentString(`
    query OrgKeyDetails($by: OrgKeyByInput!, $last: Int, $before: String) {
  orgKey(by: $by, includeDeleted: true) {
    ...OrgKey
    effectiveAccess {
      ...EffectiveAccess
    }
    notices {
      ...Notice
    }
    history(last: $last, before: $before) {
      edges {
        cursor
        node {
          ...Entry
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
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}
fragment Entry on KeyHistoryEntry {
  version
  at
  operation
  revertedTo
  actor {
    credentialID
    label
    client
    assertedName
  }
  proposalID
  approvedBy {
    ...Actor
  }
  reason
  requestID
  quotaUsedBeforeReset
  changes {
    ...Change
  }
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Notice on KeyNotice {
  eventID
  kind
  at
  version
  expiresAt
  daysBefore
  threshold
  quotaUsed
  quotaMax
  quotaRenewsAt
  proposalID
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
}
fragment EffectiveAccess on KeyEffectiveAccess {
  isInactive
  policyIDs
  unknownPolicyIDs
  limits {
    ...EffectiveLimits
  }
  accessRights {
    ...EffectiveRight
  }
}
fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"hash":"sha256:1dcc41d96071cebd303acac8d9a63277bde8c60c771b406838870b720454abac"}) as unknown as TypedDocumentString<OrgKeyDetailsQuery, OrgKeyDetailsQueryVariables>;
export const OrgKeyUsageDocument = new TypedDocumentString(`
    query OrgKeyUsage($by: OrgKeyByInput!) {
  orgKey(by: $by, includeDeleted: true) {
    id
    keyHash
    lastUsedAt
    usage {
      from
      to
      allowed
      denied
      days {
        day
        allowed
        denied
      }
    }
  }
}
    `, {"hash":"sha256:432d401b5f2924ab7694442e502ffcd7862a9cc0e19195711081e3648ed69409"}) as unknown as TypedDocumentString<OrgKeyUsageQuery, OrgKeyUsageQueryVariables>;
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
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:f04402fc63d1c29688bc7242b938b6b3e1037211b04e70ef059d72785574f634"}) as unknown as TypedDocumentString<OrgKeysQuery, OrgKeysQueryVariables>;
export const OrgKeyRowsDocument = new TypedDocumentString(`
    query OrgKeyRows($filter: OrgKeyFilter, $orderBy: OrgKeyOrder, $descending: Boolean, $first: Int, $after: String, $last: Int, $before: String) {
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
      node {
        ...Row
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Row on OrgKey {
  id
  keyHash
  orgID
  version
  state
  updatedAt
  lastUsedAt
  definition {
    alias
    rate
    per
    expires
    tags
  }
  effectiveAccess {
    unknownPolicyIDs
    limits {
      values {
        rate
        per
      }
    }
  }
  quota {
    ...Figures
  }
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:e82803bf1b1070e3f01c3483714db7354058562153c9c139fde95bd3b3064539"}) as unknown as TypedDocumentString<OrgKeyRowsQuery, OrgKeyRowsQueryVariables>;
export const OrgKeyCountDocument = new TypedDocumentString(`
    query OrgKeyCount($filter: OrgKeyFilter) {
  orgKeys(filter: $filter, first: 0) {
    totalCount
  }
}
    `, {"hash":"sha256:cc25bafcfd610973c738cf426872243bead1c160b67f3d44013e9d92c472d27d"}) as unknown as TypedDocumentString<OrgKeyCountQuery, OrgKeyCountQueryVariables>;
export const OrgKeyCountsDocument = new TypedDocumentString(`
    query OrgKeyCounts($all: OrgKeyFilter, $expiring: OrgKeyFilter, $expired: OrgKeyFilter, $inactive: OrgKeyFilter, $deleted: OrgKeyFilter) {
  all: orgKeys(filter: $all, first: 0) {
    totalCount
  }
  expiring: orgKeys(filter: $expiring, first: 0) {
    totalCount
  }
  expired: orgKeys(filter: $expired, first: 0) {
    totalCount
  }
  inactive: orgKeys(filter: $inactive, first: 0) {
    totalCount
  }
  deleted: orgKeys(filter: $deleted, first: 0) {
    totalCount
  }
}
    `, {"hash":"sha256:2748779b2c6ac2b29a9d4e78659a9bf15cdc2b22d635e35f456a2dc02a397b2a"}) as unknown as TypedDocumentString<OrgKeyCountsQuery, OrgKeyCountsQueryVariables>;
export const OrgKeySuggestionsDocument = new TypedDocumentString(`
    query OrgKeySuggestions($filter: OrgKeyFilter) {
  orgKeys(filter: $filter, first: 100, orderBy: LAST_UPDATED, descending: true) {
    edges {
      node {
        id
        definition {
          tags
          applyPolicies
          accessRights {
            label
            apiID
          }
        }
      }
    }
  }
}
    `, {"hash":"sha256:2beffcbd9f1b99fc45398edb94a0ed8a4922d152507e907bba6f5ab6750d869b"}) as unknown as TypedDocumentString<OrgKeySuggestionsQuery, OrgKeySuggestionsQueryVariables>;
export const OrgKeyChangesDocument = new TypedDocumentString(`
    query OrgKeyChanges($orgID: String, $first: Int, $after: String) {
  orgKeyChanges(orgID: $orgID, first: $first, after: $after) {
    edges {
      cursor
      node {
        __typename
        cursor
        ... on OrgKeyChanged {
          keyHash
          orgID
          entry {
            ...Entry
          }
          key(includeDeleted: true) {
            id
            definition {
              alias
            }
          }
        }
        ... on OrgKeyNoticed {
          keyHash
          orgID
          notice {
            ...Notice
          }
          key(includeDeleted: true) {
            id
            definition {
              alias
            }
          }
        }
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Entry on KeyHistoryEntry {
  version
  at
  operation
  revertedTo
  actor {
    credentialID
    label
    client
    assertedName
  }
  proposalID
  approvedBy {
    ...Actor
  }
  reason
  requestID
  quotaUsedBeforeReset
  changes {
    ...Change
  }
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Notice on KeyNotice {
  eventID
  kind
  at
  version
  expiresAt
  daysBefore
  threshold
  quotaUsed
  quotaMax
  quotaRenewsAt
  proposalID
}
fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:a1876d96b9879fcb76e1af0b382db4176d0a7fe0487277d3cefa4d19c91ce31b"}) as unknown as TypedDocumentString<OrgKeyChangesQuery, OrgKeyChangesQueryVariables>;
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
    mutation CreateOrgKey($keyID: ID, $prefix: String, $input: CreateKeyInput!, $reason: String, $idempotencyKey: String) {
  createOrgKey(
    keyID: $keyID
    prefix: $prefix
    input: $input
    reason: $reason
    idempotencyKey: $idempotencyKey
  ) {
    changed
    version
    orgKey {
      ...Changed
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:dc3588d50fe8fc032f5a6b79645484fcc8fd49a6054e46bfca73ccac43ebe48a"}) as unknown as TypedDocumentString<CreateOrgKeyMutation, CreateOrgKeyMutationVariables>;
export const DeleteOrgKeyDocument = new TypedDocumentString(`
    mutation DeleteOrgKey($keyID: ID, $keyHash: String, $expectedVersion: Int, $reason: String) {
  deleteOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    changed
    version
    orgKey {
      ...Changed
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:3cd8894c72e3d9580cac4d51c3adcffa8ca91c7086026c67280f33b7aaf0b158"}) as unknown as TypedDocumentString<DeleteOrgKeyMutation, DeleteOrgKeyMutationVariables>;
export const RestoreOrgKeyDocument = new TypedDocumentString(`
    mutation RestoreOrgKey($keyID: ID, $keyHash: String, $expectedVersion: Int, $reason: String) {
  restoreOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    changed
    version
    orgKey {
      ...Changed
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:4e7887662e49daac8914e22228d8c5c2c1c3feebc73e77b32b2665605fc15f24"}) as unknown as TypedDocumentString<RestoreOrgKeyMutation, RestoreOrgKeyMutationVariables>;
export const RotateOrgKeyDocument = new TypedDocumentString(`
    mutation RotateOrgKey($keyID: ID, $keyHash: String, $overlap: Int, $prefix: String, $expectedVersion: Int, $reason: String, $idempotencyKey: String) {
  rotateOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    overlap: $overlap
    prefix: $prefix
    expectedVersion: $expectedVersion
    reason: $reason
    idempotencyKey: $idempotencyKey
  ) {
    keyID
    changed
    version
    orgKey {
      ...Changed
      identifierHash
      rotation {
        ...Rotation
      }
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:0ca5bcad77ba6a96b1f6ac87dc2a3fdac622d3ab86c74277983f5eb485ab6b35"}) as unknown as TypedDocumentString<RotateOrgKeyMutation, RotateOrgKeyMutationVariables>;
export const CancelKeyRotationDocument = new TypedDocumentString(`
    mutation CancelKeyRotation($keyID: ID, $keyHash: String, $expectedVersion: Int, $reason: String) {
  cancelKeyRotation(
    keyID: $keyID
    keyHash: $keyHash
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    changed
    version
    orgKey {
      ...Changed
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:fc322dd175c0cd7b483a6c851b468f4acc7edce69a17ab3fc02c250e37c43f41"}) as unknown as TypedDocumentString<CancelKeyRotationMutation, CancelKeyRotationMutationVariables>;
export const RevertOrgKeyDocument = new TypedDocumentString(`
    mutation RevertOrgKey($keyID: ID, $keyHash: String, $toVersion: Int!, $expectedVersion: Int, $reason: String) {
  revertOrgKey(
    keyID: $keyID
    keyHash: $keyHash
    toVersion: $toVersion
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    changed
    version
    orgKey {
      ...Changed
    }
    changes {
      ...Change
    }
    quotaEffect {
      ...Effect
    }
    warnings {
      path
      segments
      code
      message
    }
  }
}
    fragment Changed on OrgKey {
  id
  keyHash
  keyID
  orgID
  version
  state
  updatedAt
  deletedAt
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:4f2e6c88375218a8356d26007dfba9e60285b3d0123ea8371642c33fa5f8585d"}) as unknown as TypedDocumentString<RevertOrgKeyMutation, RevertOrgKeyMutationVariables>;
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
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:dad9606e51531799069e07b5560df26ae58de65c16b2be3e16c57d32c36c39ac"}) as unknown as TypedDocumentString<ConsumeOrgQuotaMutation, ConsumeOrgQuotaMutationVariables>;
export const VerifyKeyDocument = new TypedDocumentString(`
    mutation VerifyKey($keyID: ID!, $api: String, $version: String, $method: String, $path: String, $amount: Int64, $proofs: [KeyProof!]) {
  verifyKey(
    keyID: $keyID
    api: $api
    version: $version
    method: $method
    path: $path
    amount: $amount
    proofs: $proofs
  ) {
    isAllowed
    code
    reasons {
      code
      message
      path
      policyID
    }
    keyHash
    orgID
    alias
    limits {
      rate
      per
    }
    quota {
      ...Figures
    }
  }
}
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:fee397d156f254b0749bb9b1a2b8ae08d7716e9288c64d37b5761858056b5259"}) as unknown as TypedDocumentString<VerifyKeyMutation, VerifyKeyMutationVariables>;
export const UpdateOrgKeysDocument = new TypedDocumentString(`
    mutation UpdateOrgKeys($filter: OrgKeyFilter!, $patch: PatchKeyInput!, $addTags: [String!], $removeTags: [String!], $resetQuota: Boolean, $dryRun: Boolean! = true, $reason: String, $first: Int, $after: String) {
  updateOrgKeys(
    filter: $filter
    patch: $patch
    addTags: $addTags
    removeTags: $removeTags
    resetQuota: $resetQuota
    dryRun: $dryRun
    reason: $reason
    first: $first
    after: $after
  ) {
    dryRun
    items {
      ...BulkItem
    }
    hasNextPage
    endCursor
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment BulkItem on KeyBulkItem {
  keyHash
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
      segments
      code
      message
    }
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:c83c4a84829595074484ecedab52655777400335c81caeb71eff97d671518981"}) as unknown as TypedDocumentString<UpdateOrgKeysMutation, UpdateOrgKeysMutationVariables>;
export const ResetOrgQuotasDocument = new TypedDocumentString(`
    mutation ResetOrgQuotas($filter: OrgKeyFilter!, $dryRun: Boolean! = true, $reason: String, $first: Int, $after: String) {
  resetOrgQuotas(
    filter: $filter
    dryRun: $dryRun
    reason: $reason
    first: $first
    after: $after
  ) {
    dryRun
    items {
      ...BulkItem
    }
    hasNextPage
    endCursor
  }
}
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment BulkItem on KeyBulkItem {
  keyHash
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
      segments
      code
      message
    }
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:8b4a33adecf2db61a2aa1b41e0c3115ab3d51dc9b0193ab3618e88be99961a01"}) as unknown as TypedDocumentString<ResetOrgQuotasMutation, ResetOrgQuotasMutationVariables>;
export const ViewerDocument = new TypedDocumentString(`
    query Viewer {
  viewer {
    credentialID
    label
    kind
    client
    scopes
    isRestricted
    orgID
  }
}
    `, {"hash":"sha256:47f430e983420ed529b44e234974d751ca2f7d60ef30bd683c6ea640079cbe8c"}) as unknown as TypedDocumentString<ViewerQuery, ViewerQueryVariables>;
export const OrganizationDocument = new TypedDocumentString(`
    query Organization($id: ID!) {
  organization(id: $id) {
    id
  }
}
    `, {"hash":"sha256:c129ddb00a5e67511dde3621e60d7ce3fd3790d8b1c69c0307e5ca534847d857"}) as unknown as TypedDocumentString<OrganizationQuery, OrganizationQueryVariables>;
export const OrganizationQuotaDocument = new TypedDocumentString(`
    query OrganizationQuota($id: ID!) {
  organization(id: $id) {
    id
    keyUsage {
      from
      to
      allowed
      denied
      days {
        day
        allowed
        denied
      }
    }
    quotaSummary {
      keyCount
      limitedKeys
      exhaustedKeys
      max
      used
      remaining
    }
  }
}
    `, {"hash":"sha256:4c199a5ea139cce113f578326d93644741adb59ec8ea3235023f47f1adc06d44"}) as unknown as TypedDocumentString<OrganizationQuotaQuery, OrganizationQuotaQueryVariables>;
export const OrganizationOfKeyDocument = new TypedDocumentString(`
    query OrganizationOfKey($keyHash: String!, $first: Int) {
  orgKey(by: { keyHash: $keyHash }) {
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
        keyCount
        limitedKeys
        exhaustedKeys
        max
        used
        remaining
      }
    }
  }
}
    `, {"hash":"sha256:f4f699d300b5b5d76f434c08bcc590ed50e45f11f6ab553d1df67a04affb82fd"}) as unknown as TypedDocumentString<OrganizationOfKeyQuery, OrganizationOfKeyQueryVariables>;
export const OrganizationsDocument = new TypedDocumentString(`
    query Organizations($first: Int, $after: String, $last: Int, $before: String) {
  organizations(first: $first, after: $after, last: $last, before: $before) {
    edges {
      cursor
      node {
        id
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:ccfbb457d3d2f4551e155d9113656b4cf88d4bf643ed4b4c4c90b9e6d1613ffe"}) as unknown as TypedDocumentString<OrganizationsQuery, OrganizationsQueryVariables>;
export const KeyTagsDocument = new TypedDocumentString(`
    query KeyTags($keyHash: String!, $first: Int, $after: String) {
  orgKey(by: { keyHash: $keyHash }) {
    id
    organization {
      id
      keyTags(first: $first, after: $after) {
        edges {
          cursor
          node {
            tag
          }
        }
        pageInfo {
          ...Place
        }
      }
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:99acc37329e7ddd4508b21f4c86228b9339f8beedc4a65f1a4e406dbfe63d360"}) as unknown as TypedDocumentString<KeyTagsQuery, KeyTagsQueryVariables>;
export const ExplainOrgKeyDocument = new TypedDocumentString(`
    query ExplainOrgKey($by: OrgKeyByInput!, $api: String, $version: String, $method: String, $path: String, $proofs: [KeyProof!], $at: KeyDateTime) {
  explainOrgKey(
    by: $by
    api: $api
    version: $version
    method: $method
    path: $path
    proofs: $proofs
    at: $at
  ) {
    at
    version
    isAllowed
    code
    reasons {
      code
      message
      path
      policyID
    }
    access {
      ...EffectiveAccess
    }
    right {
      ...EffectiveRight
    }
    matchedUrl {
      url
      methods
      policyID
    }
    limits {
      ...EffectiveLimits
    }
    quota {
      ...Figures
    }
  }
}
    fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}
fragment EffectiveAccess on KeyEffectiveAccess {
  isInactive
  policyIDs
  unknownPolicyIDs
  limits {
    ...EffectiveLimits
  }
  accessRights {
    ...EffectiveRight
  }
}
fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"hash":"sha256:80eab40cfd00919cffa3bd1ddc3f712617da09e1b5b6d7a5e153ccbc2745329f"}) as unknown as TypedDocumentString<ExplainOrgKeyQuery, ExplainOrgKeyQueryVariables>;
export const EffectiveAccessOfKeyDocument = new TypedDocumentString(`
    query EffectiveAccessOfKey($by: OrgKeyByInput!) {
  orgKey(by: $by) {
    id
    effectiveAccess {
      ...EffectiveAccess
    }
  }
}
    fragment EffectiveAccess on KeyEffectiveAccess {
  isInactive
  policyIDs
  unknownPolicyIDs
  limits {
    ...EffectiveLimits
  }
  accessRights {
    ...EffectiveRight
  }
}
fragment EffectiveRight on KeyEffectiveRight {
  apiID
  apiName
  versions
  allowedUrls {
    url
    methods
    policyID
  }
  policyIDs
  limits {
    ...EffectiveLimits
  }
}
fragment EffectiveLimits on KeyEffectiveLimits {
  values {
    rate
    per
    smoothing {
      delay
      enabled
      step
      threshold
      trigger
    }
    throttleInterval
    throttleRetryLimit
    quotaMax
    quotaRenewalRate
    maxQueryDepth
  }
  origins {
    field
    policyID
  }
}`, {"hash":"sha256:cbee611c26e616a105b6520ceed8ded192c4fc4dd7c50ef17e3b7109c22fdfdd"}) as unknown as TypedDocumentString<EffectiveAccessOfKeyQuery, EffectiveAccessOfKeyQueryVariables>;
export const PolicyDocument = new TypedDocumentString(`
    query Policy($policyID: String!) {
  keyPolicy(policyID: $policyID) {
    policyID
    version
    changedAt
    changedBy {
      credentialID
      label
      client
      assertedName
    }
    name
    orgID
    isInactive
    governs
    values {
      rate
      per
      smoothing {
        delay
        enabled
        step
        threshold
        trigger
      }
      throttleInterval
      throttleRetryLimit
      quotaMax
      quotaRenewalRate
      maxQueryDepth
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
    }
  }
}
    `, {"hash":"sha256:bc602881294776f20731e5933dcea02b3295a4497693be37c78766f4394cef3c"}) as unknown as TypedDocumentString<PolicyQuery, PolicyQueryVariables>;
export const PolicyRowsDocument = new TypedDocumentString(`
    query PolicyRows($first: Int, $after: String, $last: Int, $before: String) {
  keyPolicies(first: $first, after: $after, last: $last, before: $before) {
    version
    edges {
      cursor
      node {
        policyID
        version
        changedAt
        name
        orgID
        isInactive
        governs
        values {
          rate
          per
          quotaMax
          quotaRenewalRate
          maxQueryDepth
          accessRights {
            label
            apiID
            apiName
          }
        }
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:3a266a67cdccd8550e10a9c0d07066ab5dcc8118762b0cf211584e9a05c10aec"}) as unknown as TypedDocumentString<PolicyRowsQuery, PolicyRowsQueryVariables>;
export const PolicyNamesDocument = new TypedDocumentString(`
    query PolicyNames($after: String) {
  keyPolicies(first: 100, after: $after) {
    edges {
      node {
        policyID
        orgID
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:7534050a7a84a1088dd773a6524836452c927211da8bb0a8f07b4ba7b900afbb"}) as unknown as TypedDocumentString<PolicyNamesQuery, PolicyNamesQueryVariables>;
export const KeysOfPolicyImpactDocument = new TypedDocumentString(`
    query KeysOfPolicyImpact($policy: KeyPolicyInput!, $first: Int, $after: String) {
  impactOfPolicy(policy: $policy, first: $first, after: $after) {
    edges {
      node {
        orgKey {
          id
          keyHash
          orgID
          definition {
            alias
          }
        }
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
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:579ee70f7b2519e28791b91453c3476994b762a9cbe1aa16eb5340e8470c1a5f"}) as unknown as TypedDocumentString<KeysOfPolicyImpactQuery, KeysOfPolicyImpactQueryVariables>;
export const ImpactOfPolicyDocument = new TypedDocumentString(`
    query ImpactOfPolicy($policy: KeyPolicyInput!, $first: Int, $after: String) {
  impactOfPolicy(policy: $policy, first: $first, after: $after) {
    edges {
      cursor
      node {
        orgKey {
          ...OrgKey
        }
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
    fragment OrgKey on OrgKey {
  id
  keyHash
  keyID
  identifierHash
  rotation {
    ...Rotation
  }
  orgID
  version
  state
  createdAt
  updatedAt
  deletedAt
  restorableUntil
  definition {
    ...Definition
  }
  quota {
    ...Figures
  }
}
fragment Rotation on KeyRotation {
  oldKeyID
  oldIdentifierHash
  retiresAt
  silence
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Figures on KeyQuota {
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
}`, {"hash":"sha256:5ef9ebfb1493f49a237e42c9038bee9811ff5d60fdcbd87e9c8abc856261cdd9"}) as unknown as TypedDocumentString<ImpactOfPolicyQuery, ImpactOfPolicyQueryVariables>;
export const PolicyHistoryDocument = new TypedDocumentString(`
    query PolicyHistory($policyID: String!, $first: Int, $after: String, $last: Int, $before: String) {
  keyPolicyHistory(
    policyID: $policyID
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    edges {
      cursor
      node {
        version
        at
        kind
        actor {
          credentialID
          label
          client
          assertedName
        }
        changes {
          path
          kind
          before
          after
        }
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:f0e4acc01ae20a9e8f037005095f0d0655c63c7396e007ebb74a9fecc7f78cb0"}) as unknown as TypedDocumentString<PolicyHistoryQuery, PolicyHistoryQueryVariables>;
export const PutPoliciesDocument = new TypedDocumentString(`
    mutation PutPolicies($policies: [KeyPolicyInput!]!, $prune: Boolean, $dryRun: Boolean! = true, $expectedVersion: Int, $idempotencyKey: String) {
  putKeyPolicies(
    policies: $policies
    prune: $prune
    dryRun: $dryRun
    expectedVersion: $expectedVersion
    idempotencyKey: $idempotencyKey
  ) {
    ...PolicyChange
  }
}
    fragment PolicyChange on KeyPolicyChangeResult {
  dryRun
  version
  changes {
    policyID
    kind
    changes {
      path
      kind
      before
      after
    }
  }
  warnings {
    path
    code
    message
  }
}`, {"hash":"sha256:422efcaed3e19708cef9026df1b82ed2623f34945f5909bf601f66e1dc2961c0"}) as unknown as TypedDocumentString<PutPoliciesMutation, PutPoliciesMutationVariables>;
export const RemovePoliciesDocument = new TypedDocumentString(`
    mutation RemovePolicies($policyIDs: [String!]!, $dryRun: Boolean! = true, $expectedVersion: Int, $idempotencyKey: String) {
  removeKeyPolicies(
    policyIDs: $policyIDs
    dryRun: $dryRun
    expectedVersion: $expectedVersion
    idempotencyKey: $idempotencyKey
  ) {
    ...PolicyChange
  }
}
    fragment PolicyChange on KeyPolicyChangeResult {
  dryRun
  version
  changes {
    policyID
    kind
    changes {
      path
      kind
      before
      after
    }
  }
  warnings {
    path
    code
    message
  }
}`, {"hash":"sha256:402bf0ef9bef809222b45811bb41ddc1211a86df60a6fea2fdf4d82ed2446a61"}) as unknown as TypedDocumentString<RemovePoliciesMutation, RemovePoliciesMutationVariables>;
export const DeliverKeyDocument = new TypedDocumentString(`
    query DeliverKey($by: OrgKeyByInput!) {
  deliverKey(by: $by) {
    ...Delivered
  }
}
    fragment Delivered on DeliveredKey {
  keyHash
  keyID
  identifierHash
  rotation {
    oldKeyID
    oldIdentifierHash
    retiresAt
    silence
  }
  orgID
  version
  state
  data
}`, {"hash":"sha256:2eb991e403ed8efed6cb0d909b73967829274f0568229093d981213b8fadd984"}) as unknown as TypedDocumentString<DeliverKeyQuery, DeliverKeyQueryVariables>;
export const DeliverKeysDocument = new TypedDocumentString(`
    query DeliverKeys($orgID: String, $first: Int, $after: String) {
  deliverKeys(orgID: $orgID, first: $first, after: $after) {
    items {
      keyHash
      key {
        ...Delivered
      }
    }
    endCursor
    hasNextPage
  }
}
    fragment Delivered on DeliveredKey {
  keyHash
  keyID
  identifierHash
  rotation {
    oldKeyID
    oldIdentifierHash
    retiresAt
    silence
  }
  orgID
  version
  state
  data
}`, {"hash":"sha256:3321c7c2c18908f1db1c4dc1c16f366090c9851b6b53562a5e5c3bd04e045362"}) as unknown as TypedDocumentString<DeliverKeysQuery, DeliverKeysQueryVariables>;
export const AcknowledgeChangesDocument = new TypedDocumentString(`
    mutation AcknowledgeChanges($gateway: String!, $orgID: String, $cursor: String, $digest: String) {
  acknowledgeChanges(
    gateway: $gateway
    orgID: $orgID
    cursor: $cursor
    digest: $digest
  ) {
    isNew
  }
}
    `, {"hash":"sha256:1e0b8710516c0acf9bab48a9251b28b54ab047ed52f6a60dfb36315759e5345d"}) as unknown as TypedDocumentString<AcknowledgeChangesMutation, AcknowledgeChangesMutationVariables>;
export const ForgetGatewayDocument = new TypedDocumentString(`
    mutation ForgetGateway($gateway: String!, $orgID: String) {
  forgetGateway(gateway: $gateway, orgID: $orgID) {
    gateway
  }
}
    `, {"hash":"sha256:2d750a38056068616ed307e90329acce23c0d9f670c9339417e66be93e30e20e"}) as unknown as TypedDocumentString<ForgetGatewayMutation, ForgetGatewayMutationVariables>;
export const GatewaysDocument = new TypedDocumentString(`
    query Gateways($orgID: String, $names: [String!], $first: Int, $after: String) {
  gateways(orgID: $orgID, names: $names, first: $first, after: $after) {
    edges {
      cursor
      node {
        name
        orgID
        lag
        lastSeen
        cursor
        digest
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:dfdd9a8a07286ab7c057fa2a04ea3a27049f6c7208f8970a19e06decb7f147fc"}) as unknown as TypedDocumentString<GatewaysQuery, GatewaysQueryVariables>;
export const KeyDeploymentsDocument = new TypedDocumentString(`
    query KeyDeployments($by: OrgKeyByInput!, $gateways: [String!], $first: Int, $after: String) {
  orgKey(by: $by, includeDeleted: true) {
    id
    version
    deployments(gateways: $gateways, first: $first, after: $after) {
      edges {
        cursor
        node {
          gateway
          orgID
          version
          at
          isCurrent
        }
      }
      pageInfo {
        ...Place
      }
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:9de3f5c3a24c7d9c0f459f18f6525b26e795bb03ba07cd3f0fd6bfbcf52e8c92"}) as unknown as TypedDocumentString<KeyDeploymentsQuery, KeyDeploymentsQueryVariables>;
export const KeyDigestDocument = new TypedDocumentString(`
    query KeyDigest($cursor: String!, $orgID: String, $after: String) {
  keyDigest(cursor: $cursor, orgID: $orgID, after: $after) {
    digest
    keys
    endCursor
  }
}
    `, {"hash":"sha256:8dec1f6b34b266a6cd032bf696418aec3df48f41d577a0c5bf21c5d9b7886cc7"}) as unknown as TypedDocumentString<KeyDigestQuery, KeyDigestQueryVariables>;
export const KeyDeployedDocument = new TypedDocumentString(`
    subscription KeyDeployed($keyID: ID, $keyHash: String, $gateways: [String!]!) {
  orgKeyDeployed(keyID: $keyID, keyHash: $keyHash, gateways: $gateways) {
    gateway
    orgID
    version
    at
    isCurrent
  }
}
    `, {"hash":"sha256:a105880e9ce5174e7c6d9c3e191a677a318e7f04f5c52f9351ea3397351dc3f8"}) as unknown as TypedDocumentString<KeyDeployedSubscription, KeyDeployedSubscriptionVariables>;
export const ProposeKeyChangeDocument = new TypedDocumentString(`
    mutation ProposeKeyChange($keyID: ID, $keyHash: String, $change: KeyChangeInput!, $expectedVersion: Int, $applyAt: KeyDateTime, $reason: String, $idempotencyKey: String) {
  proposeKeyChange(
    keyID: $keyID
    keyHash: $keyHash
    change: $change
    expectedVersion: $expectedVersion
    applyAt: $applyAt
    reason: $reason
    idempotencyKey: $idempotencyKey
  ) {
    ...Proposal
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:65dfa5ea9add3d6ed6afc20e0d331b1f09ac2a4182ae4daf8be068c58cd0d521"}) as unknown as TypedDocumentString<ProposeKeyChangeMutation, ProposeKeyChangeMutationVariables>;
export const KeyProposalsDocument = new TypedDocumentString(`
    query KeyProposals($orgID: String, $keyHash: String, $states: [KeyProposalState!], $first: Int, $after: String) {
  keyProposals(
    orgID: $orgID
    keyHash: $keyHash
    states: $states
    first: $first
    after: $after
  ) {
    edges {
      cursor
      node {
        ...Proposal
        orgKey {
          id
          keyHash
          version
          definition {
            alias
          }
        }
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:e6e30b515fbce776c687a8bd7747538b749ac0b925398f3b2aa5163970e08e99"}) as unknown as TypedDocumentString<KeyProposalsQuery, KeyProposalsQueryVariables>;
export const KeyProposalDocument = new TypedDocumentString(`
    query KeyProposal($id: ID!) {
  keyProposal(id: $id) {
    ...Proposal
    orgKey {
      id
      keyHash
      version
    }
    preview {
      ...Preview
    }
  }
}
    fragment Preview on OrgKeyChangePreview {
  changed
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
    segments
    code
    message
  }
}
fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Effect on KeyQuotaEffect {
  before {
    ...Figures
  }
  after {
    ...Figures
  }
  summary
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
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
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:1d8e46f66d12c2a223d6a1b4605a63f3fa5ac741aca79466f144671c57b308f2"}) as unknown as TypedDocumentString<KeyProposalQuery, KeyProposalQueryVariables>;
export const ApproveKeyProposalDocument = new TypedDocumentString(`
    mutation ApproveKeyProposal($id: ID!, $reason: String) {
  approveKeyProposal(id: $id, reason: $reason) {
    ...Proposal
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:39a2a0eb5dc6b6ddd0178fec083e2ac5f3628ae407120761d5c8bd8b7b4adf70"}) as unknown as TypedDocumentString<ApproveKeyProposalMutation, ApproveKeyProposalMutationVariables>;
export const RejectKeyProposalDocument = new TypedDocumentString(`
    mutation RejectKeyProposal($id: ID!, $reason: String) {
  rejectKeyProposal(id: $id, reason: $reason) {
    ...Proposal
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:3ea4d21e4cd797d2b9f0a633260f0f994eafbd553e7dc66994b50b21fd3aa449"}) as unknown as TypedDocumentString<RejectKeyProposalMutation, RejectKeyProposalMutationVariables>;
export const WithdrawKeyProposalDocument = new TypedDocumentString(`
    mutation WithdrawKeyProposal($id: ID!, $reason: String) {
  withdrawKeyProposal(id: $id, reason: $reason) {
    ...Proposal
  }
}
    fragment Change on KeyFieldChange {
  path
  segments
  kind
  before
  after
}
fragment Actor on KeyActor {
  credentialID
  label
  client
  assertedName
}
fragment Proposal on KeyProposal {
  id
  keyHash
  orgID
  kind
  state
  expectedVersion
  changes {
    ...Change
  }
  warnings {
    path
    segments
    code
    message
  }
  resetsQuota
  reason
  proposedBy {
    ...Actor
  }
  isOwn
  proposedAt
  needsApproval
  expiresAt
  applyAt
  approvedBy {
    ...Actor
  }
  approvedAt
  approvalReason
  endedBy {
    ...Actor
  }
  endedAt
  endReason
  problem
  problemIssues {
    path
    segments
    code
    message
  }
}`, {"hash":"sha256:9fa6fbbb32e725a947117a9aea33d7acb8c06de25b5632cfb6461abbbfd7393c"}) as unknown as TypedDocumentString<WithdrawKeyProposalMutation, WithdrawKeyProposalMutationVariables>;
export const KeyCredentialsDocument = new TypedDocumentString(`
    query KeyCredentials($orgID: String, $first: Int, $after: String) {
  keyCredentials(orgID: $orgID, first: $first, after: $after) {
    edges {
      cursor
      node {
        ...CredentialFields
      }
    }
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment CredentialFields on KeyCredential {
  id
  kind
  label
  orgID
  scopes
  state
  lastFour
  createdAt
  expiresAt
  revokedAt
  lastUsedAt
  successorID
}`, {"hash":"sha256:91d3caabdd113e4a6b927aed0b0eec9776ed6b27c43deea0a00e1c7a388b6c71"}) as unknown as TypedDocumentString<KeyCredentialsQuery, KeyCredentialsQueryVariables>;
export const IssueKeyCredentialDocument = new TypedDocumentString(`
    mutation IssueKeyCredential($kind: KeyCredentialKind, $label: String!, $orgID: String, $scopes: [KeyScope!], $expiresAt: KeyDateTime, $idempotencyKey: String) {
  issueKeyCredential(
    kind: $kind
    label: $label
    orgID: $orgID
    scopes: $scopes
    expiresAt: $expiresAt
    idempotencyKey: $idempotencyKey
  ) {
    credential {
      ...CredentialFields
    }
    secret
  }
}
    fragment CredentialFields on KeyCredential {
  id
  kind
  label
  orgID
  scopes
  state
  lastFour
  createdAt
  expiresAt
  revokedAt
  lastUsedAt
  successorID
}`, {"hash":"sha256:bd069b0bfc93d8254ac875b6e907bb22f56393bedd90f32de89d8494f7c94840"}) as unknown as TypedDocumentString<IssueKeyCredentialMutation, IssueKeyCredentialMutationVariables>;
export const RotateKeyCredentialDocument = new TypedDocumentString(`
    mutation RotateKeyCredential($id: ID!, $overlapHours: Int!) {
  rotateKeyCredential(id: $id, overlapHours: $overlapHours) {
    credential {
      ...CredentialFields
    }
    secret
    retired {
      ...CredentialFields
    }
  }
}
    fragment CredentialFields on KeyCredential {
  id
  kind
  label
  orgID
  scopes
  state
  lastFour
  createdAt
  expiresAt
  revokedAt
  lastUsedAt
  successorID
}`, {"hash":"sha256:c7769f360182a60e22829c36d4406d420045d0b6fbe3caf4cab9f96aa5abb7a2"}) as unknown as TypedDocumentString<RotateKeyCredentialMutation, RotateKeyCredentialMutationVariables>;
export const RevokeKeyCredentialDocument = new TypedDocumentString(`
    mutation RevokeKeyCredential($id: ID!) {
  revokeKeyCredential(id: $id) {
    ...CredentialFields
  }
}
    fragment CredentialFields on KeyCredential {
  id
  kind
  label
  orgID
  scopes
  state
  lastFour
  createdAt
  expiresAt
  revokedAt
  lastUsedAt
  successorID
}`, {"hash":"sha256:c42e3502f55e343854db59cfa5607bbf4bd91b6576748c0f06ce8c82b21b8765"}) as unknown as TypedDocumentString<RevokeKeyCredentialMutation, RevokeKeyCredentialMutationVariables>;
export const KeyWebhooksDocument = new TypedDocumentString(`
    query KeyWebhooks($orgID: String, $first: Int, $after: String) {
  keyWebhooks(orgID: $orgID, first: $first, after: $after) {
    edges {
      cursor
      node {
        ...WebhookFields
      }
    }
    damagedIDs
    pageInfo {
      ...Place
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:4ad8d46755d955bfc544ea6d6453eaafcfc12b6e2a2379ae6162b52d005895c3"}) as unknown as TypedDocumentString<KeyWebhooksQuery, KeyWebhooksQueryVariables>;
export const KeyWebhookDocument = new TypedDocumentString(`
    query KeyWebhook($id: ID!, $first: Int, $after: String) {
  keyWebhook(id: $id) {
    ...WebhookFields
    retries {
      eventID
      keyHash
      version
      lastVersion
      attempts
      nextAttemptAt
      failedAt
      lastError
    }
    deadLetters(first: $first, after: $after) {
      edges {
        cursor
        node {
          eventID
          keyHash
          version
          failedAt
          attempts
          lastError
          isReplayed
        }
      }
      pageInfo {
        ...Place
      }
    }
  }
}
    fragment Place on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:bae7f6ae28972d07141a970718079719c654308a3e81fbfcf827f3fa86f7a92b"}) as unknown as TypedDocumentString<KeyWebhookQuery, KeyWebhookQueryVariables>;
export const AddKeyWebhookDocument = new TypedDocumentString(`
    mutation AddKeyWebhook($url: String!, $label: String, $orgID: String, $eventTypes: [String!], $idempotencyKey: String) {
  addKeyWebhook(
    url: $url
    label: $label
    orgID: $orgID
    eventTypes: $eventTypes
    idempotencyKey: $idempotencyKey
  ) {
    webhook {
      ...WebhookFields
    }
    secret
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:d0ade0b6870355a21f42f3232c7bfbb6a59a170ca0a03a5fc145552968be064c"}) as unknown as TypedDocumentString<AddKeyWebhookMutation, AddKeyWebhookMutationVariables>;
export const TestKeyWebhookDocument = new TypedDocumentString(`
    mutation TestKeyWebhook($id: ID!) {
  testKeyWebhook(id: $id) {
    webhook {
      id
    }
    isDelivered
    status
    failure
  }
}
    `, {"hash":"sha256:52df4cc5f5faf2d538b5567f2f823639545e93b7c07490e0300a91ce1fb614fd"}) as unknown as TypedDocumentString<TestKeyWebhookMutation, TestKeyWebhookMutationVariables>;
export const PauseKeyWebhookDocument = new TypedDocumentString(`
    mutation PauseKeyWebhook($id: ID!) {
  pauseKeyWebhook(id: $id) {
    webhook {
      ...WebhookFields
    }
    changed
    isReleased
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:23ae7d08bba93ca231f4160caf7c8e8ab844a2f258a75d570eeb1562aebc2706"}) as unknown as TypedDocumentString<PauseKeyWebhookMutation, PauseKeyWebhookMutationVariables>;
export const ResumeKeyWebhookDocument = new TypedDocumentString(`
    mutation ResumeKeyWebhook($id: ID!) {
  resumeKeyWebhook(id: $id) {
    webhook {
      ...WebhookFields
    }
    changed
    isReleased
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:377b22a1b87da18d690902ea9dff22fb0c62b50d8042b45f77bb29cdd64c7c59"}) as unknown as TypedDocumentString<ResumeKeyWebhookMutation, ResumeKeyWebhookMutationVariables>;
export const RotateKeyWebhookDocument = new TypedDocumentString(`
    mutation RotateKeyWebhook($id: ID!, $overlapHours: Int!) {
  rotateKeyWebhook(id: $id, overlapHours: $overlapHours) {
    webhook {
      ...WebhookFields
    }
    secret
    isReleased
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:1de898a52b450f6a7778b448cccba84e1622c26519be316c3fcd20df48503c2d"}) as unknown as TypedDocumentString<RotateKeyWebhookMutation, RotateKeyWebhookMutationVariables>;
export const RemoveKeyWebhookDocument = new TypedDocumentString(`
    mutation RemoveKeyWebhook($id: ID!) {
  removeKeyWebhook(id: $id) {
    id
    isReleased
  }
}
    `, {"hash":"sha256:25b9b932a4ca9b14c2d1cb45ada68a1fc3b54743dd97519308ea9eb6821332e6"}) as unknown as TypedDocumentString<RemoveKeyWebhookMutation, RemoveKeyWebhookMutationVariables>;
export const ReplayKeyWebhookDeadLettersDocument = new TypedDocumentString(`
    mutation ReplayKeyWebhookDeadLetters($id: ID!, $eventID: ID) {
  replayKeyWebhookDeadLetters(id: $id, eventID: $eventID) {
    webhook {
      ...WebhookFields
    }
    count
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:2ce0f54a27c56955642ce0c600e87fc865f4aec5a5bba5583bb0900c4232da08"}) as unknown as TypedDocumentString<ReplayKeyWebhookDeadLettersMutation, ReplayKeyWebhookDeadLettersMutationVariables>;
export const DiscardKeyWebhookDeadLettersDocument = new TypedDocumentString(`
    mutation DiscardKeyWebhookDeadLetters($id: ID!, $eventID: ID) {
  discardKeyWebhookDeadLetters(id: $id, eventID: $eventID) {
    webhook {
      ...WebhookFields
    }
    count
    isReleased
  }
}
    fragment WebhookFields on KeyWebhook {
  id
  label
  orgID
  eventTypes
  receiver
  createdAt
  pausedAt
  pausedReason
  oldSecretUntil
  failingKeys
  deadLetterCount
}`, {"hash":"sha256:a65d86c5592e7722340e1e5470976ecc7fd7134a3214f599b7ebeef0eb918eb3"}) as unknown as TypedDocumentString<DiscardKeyWebhookDeadLettersMutation, DiscardKeyWebhookDeadLettersMutationVariables>;
export const OrgKeyChangedDocument = new TypedDocumentString(`
    subscription OrgKeyChanged($orgID: String, $keyHash: String, $after: String) {
  orgKeyChanged(orgID: $orgID, keyHash: $keyHash, after: $after) {
    __typename
    cursor
    ... on OrgKeyChanged {
      keyHash
      orgID
      entry {
        version
        at
        operation
        actor {
          label
          assertedName
        }
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
    ... on OrgKeyNoticed {
      keyHash
      orgID
      notice {
        ...Notice
      }
      key {
        id
        keyID
        version
        state
      }
    }
  }
}
    fragment Notice on KeyNotice {
  eventID
  kind
  at
  version
  expiresAt
  daysBefore
  threshold
  quotaUsed
  quotaMax
  quotaRenewsAt
  proposalID
}`, {"hash":"sha256:d7786f4473ebaddd54f2a578a992e737febbd7f86592074bb35802ecbf5474e0"}) as unknown as TypedDocumentString<OrgKeyChangedSubscription, OrgKeyChangedSubscriptionVariables>;
export const OrgKeyRowChangedDocument = new TypedDocumentString(`
    subscription OrgKeyRowChanged($orgID: String, $after: String) {
  orgKeyChanged(orgID: $orgID, after: $after) {
    __typename
    cursor
    ... on OrgKeyChanged {
      keyHash
      entry {
        operation
      }
      key {
        ...Row
      }
    }
  }
}
    fragment Row on OrgKey {
  id
  keyHash
  orgID
  version
  state
  updatedAt
  lastUsedAt
  definition {
    alias
    rate
    per
    expires
    tags
  }
  effectiveAccess {
    unknownPolicyIDs
    limits {
      values {
        rate
        per
      }
    }
  }
  quota {
    ...Figures
  }
}
fragment Figures on KeyQuota {
  max
  used
  remaining
  renewsAt
}`, {"hash":"sha256:5e837814d3f370b832832595fd99653b89acca21f8eaf20c82d5fecef1cf010c"}) as unknown as TypedDocumentString<OrgKeyRowChangedSubscription, OrgKeyRowChangedSubscriptionVariables>;
export const KeyDeliveryDocument = new TypedDocumentString(`
    subscription KeyDelivery($orgID: String, $after: String) {
  orgKeyChanged(orgID: $orgID, after: $after) {
    __typename
    cursor
    ... on OrgKeyChanged {
      keyHash
      delivered {
        ...Delivered
      }
    }
    ... on OrgKeyNoticed {
      keyHash
      delivered {
        ...Delivered
      }
    }
  }
}
    fragment Delivered on DeliveredKey {
  keyHash
  keyID
  identifierHash
  rotation {
    oldKeyID
    oldIdentifierHash
    retiresAt
    silence
  }
  orgID
  version
  state
  data
}`, {"hash":"sha256:e823e3ca804be5d153e5778f00e79ddfd59bf7f9acae283b94a231462e9606cc"}) as unknown as TypedDocumentString<KeyDeliverySubscription, KeyDeliverySubscriptionVariables>;
/** The stable codes of issues. schema/README.md has the same table, which a test compares. */
export const issueCodes = {
  WRONG_TYPE: 'The value does not have the type of the field.',
  MISSING: 'The field is required and absent.',
  NOT_INTEGER: 'An integer field has a fraction.',
  OUT_OF_RANGE: 'The number is not finite, or not in the range of the field.',
  IMPRECISE:
    'The number cannot be read or stored exactly in this field: use fewer digits, or in GraphQL a decimal string beyond 2^53-1.',
  TOO_LONG: 'The string is longer than the field allows.',
  TOO_MANY: 'The list or object has more members than allowed.',
  TOO_DEEP: 'The value is nested more deeply than allowed.',
  EMPTY: 'The string is empty or only white space, and the field requires a value.',
  MALFORMED_TEXT: 'The string contains NUL, half of a surrogate pair, or bytes that are not UTF-8.',
  MALFORMED_JSON: 'The body is not JSON.',
  UNSUPPORTED_TYPE: 'The content type of the body is not application/json in UTF-8.',
  UNSUPPORTED_ENCODING: 'The body has a content encoding, such as gzip.',
  INCOMPLETE_BODY: 'The connection ended before the body was complete.',
  DUPLICATE_MEMBER: 'An object has two members of the same name.',
  UNKNOWN_FIELD: 'There is no such field.',
  WRONG_VARIANT: 'The field exists only in the other operation.',
  RESERVED_NAME: 'The member names __proto__, constructor and prototype are not allowed.',
  MALFORMED_DATE: 'The string is not an RFC 3339 date and time with an offset.',
  MALFORMED_TIMESTAMP: 'The string is not a number of Unix seconds in digits.',
  MALFORMED_KEY_ID: 'The key identifier has a character, a length or a form that is not allowed.',
  MALFORMED_ORG_ID: 'The identifier of the organization has a character or a length that is not allowed.',
  MALFORMED_ARGUMENT: 'An argument or parameter other than the definition has an invalid value.',
  CHANGED_SINCE: 'The field has changed since the expected version.',
  NO_CHANGE: 'The proposed change would change nothing.',
  PROPOSAL_ENDED: 'The proposal has ended, or was approved already.',
  ROTATION_RUNNING: 'An earlier rotation of the key runs: its previous identifier has not retired yet.',
  NO_ROTATION: 'No rotation of the key runs.',
  DUPLICATE_LABEL: 'Two access rights have the same label.',
  UNKNOWN_METHOD: 'There is no such HTTP method.',
  WEAK_HASH: 'The hash type is too weak for passwords.',
  UNKNOWN_HASH_TYPE: 'There is no such hash type; use bcrypt or argon2id.',
  MASKED_SECRET: 'The value is a placeholder for a secret, such as `***`.',
  INCOMPLETE_SMOOTHING: 'Smoothing is enabled, and step, delay, threshold or trigger is absent or not above 0.',
  CONFLICTING_FIELDS: 'A deprecated field and its replacement have different values.',
  ORGANIZATION_CHANGED: 'The organization that owns a stored key cannot be changed.',
  PASSWORD_NEEDED: 'Changing the hash type requires sending the password again.',
} as const;

/** A code of {@link issueCodes}. */
export type IssueCode = keyof typeof issueCodes;

/** The stable codes of warnings: the definition is valid, but probably not what was meant. */
export const warningCodes = {
  DEPRECATED_FIELD:
    'The field is deprecated; its value was moved to the field that replaces it, or ignored because that field has a value.',
  SERVER_OWNED: 'The service sets this field; the value sent was ignored.',
  LIMIT_OFF: 'The rate limit is disabled, because its period is 0 or less.',
  RATE_WITHOUT_PER: 'The rate limit is disabled, because it has no period.',
  PER_WITHOUT_RATE: 'There is no rate limit, because the period has no rate.',
  EXPIRES_IN_PAST: 'The key has already expired.',
  EXPIRES_IN_MILLISECONDS: 'The value seems to be in milliseconds; the field is in seconds.',
  QUOTA_NEVER_RENEWS: 'The quota has no renewal period: once used up, it stays used up.',
  REMAINING_ABOVE_MAXIMUM: 'More requests remain than the quota has in total.',
  NO_ACCESS_RIGHTS: 'The key has neither access rights nor policies: a gateway rejects it, or allows it everything.',
  INACTIVE_WITH_POLICIES: 'Gateways ignore that a key is inactive if it has policies.',
  UNKNOWN_POLICY: 'The key names a policy that is not among the imported ones.',
  OVERRIDDEN_BY_POLICIES: 'A policy of the key governs the field, so that its value has no effect.',
  URL_ALLOWS_NOTHING: 'The entry of `allowedUrls` has no method, or a pattern that cannot be evaluated.',
  LABEL_MISMATCH: 'The label differs from the API identifier, by which gateways find the entry.',
  TRIGGERS_NOT_DESCENDING: 'Gateways expect trigger limits in descending order.',
} as const;

/** A code of {@link warningCodes}. */
export type WarningCode = keyof typeof warningCodes;

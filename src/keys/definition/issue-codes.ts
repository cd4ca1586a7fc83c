/** What can be wrong with a value, one stable code each. The README prints this table; a test holds the two together. */
export const issueCodes = {
  WRONG_TYPE: 'The value has another type than the field.',
  MISSING: 'The field is required here and was not given.',
  NOT_INTEGER: 'An integer field was given a fraction.',
  OUT_OF_RANGE: 'The number is not finite, or outside the range the field allows.',
  IMPRECISE: 'The number cannot be kept exactly in this field; write it with fewer digits.',
  TOO_LONG: 'The text is longer than the field allows.',
  TOO_MANY: 'The list or object has more members than allowed.',
  TOO_DEEP: 'The value is nested more deeply than allowed.',
  EMPTY: 'The text is empty, or only white space, where it must say something.',
  MALFORMED_TEXT: 'The text holds NUL, half of a surrogate pair, or bytes that are not UTF-8.',
  MALFORMED_JSON: 'The body is not JSON.',
  UNSUPPORTED_TYPE: 'The body is not announced as application/json in UTF-8.',
  UNSUPPORTED_ENCODING: 'The body is compressed, or encoded in another way than plain.',
  INCOMPLETE_BODY: 'The body broke off.',
  DUPLICATE_MEMBER: 'An object names the same member twice.',
  UNKNOWN_FIELD: 'There is no such field.',
  WRONG_VARIANT: 'The field exists, but only in the other operation.',
  RESERVED_NAME: 'The member names __proto__, constructor and prototype are refused.',
  MALFORMED_DATE: 'The text is not an RFC 3339 date and time with an offset.',
  MALFORMED_TIMESTAMP: 'The text is not a run of digits.',
  MALFORMED_KEY_ID: 'The key identifier has a character, a length or a form that key identifiers must not have.',
  MALFORMED_ORG_ID:
    'The identifier of the organisation has a character or a length that key identifiers must not have.',
  MALFORMED_ARGUMENT: 'A parameter beside the definition has a value it must not have.',
  CHANGED_SINCE: 'The field has changed since the version that the change was meant for.',
  DUPLICATE_LABEL: 'Two access rights carry the same label.',
  UNKNOWN_METHOD: 'There is no such HTTP method.',
  WEAK_HASH: 'The hash type is too weak to keep a password.',
  UNKNOWN_HASH_TYPE: 'There is no such hash type; bcrypt and argon2id are known.',
  MASKED_SECRET: 'A placeholder was sent back where a secret belongs.',
  INCOMPLETE_SMOOTHING: 'Smoothing that is enabled needs step, delay, threshold and trigger.',
  CONFLICTING_FIELDS: 'A deprecated field and its successor say different things.',
  ORGANISATION_CHANGED: 'The owning organisation of a stored key does not change.',
  PASSWORD_NEEDED: 'Another hash type needs the password to be sent again.',
} as const;

export type IssueCode = keyof typeof issueCodes;

/** What deserves a second look although the definition stands. */
export const warningCodes = {
  DEPRECATED_FIELD: 'The field is deprecated; its value was moved to the field that replaces it.',
  SERVER_OWNED: 'The service sets this field itself; the value sent was ignored.',
  LIMIT_OFF: 'A rate without a positive period limits nothing.',
  EXPIRES_IN_PAST: 'The key has already expired.',
  EXPIRES_IN_MILLISECONDS: 'The value looks like milliseconds; the field holds seconds.',
  QUOTA_NEVER_RENEWS: 'The quota has no renewal period, so it runs out once and for all.',
  REMAINING_ABOVE_MAXIMUM: 'More of the quota remains than there is.',
  LABEL_MISMATCH: 'A gateway finds an entry by its API identifier, and the label is another.',
  TRIGGERS_NOT_DESCENDING: 'Gateways expect trigger limits from the highest to the lowest.',
} as const;

export type WarningCode = keyof typeof warningCodes;

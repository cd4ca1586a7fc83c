/* eslint-disable */
import * as types from './graphql.js';



/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "query PreviewKey($input: PreviewKeyInput!) {\n  previewKey(input: $input) {\n    apiModel\n    data {\n      ...Definition\n    }\n    keyHash\n    keyID\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nmutation UpdateOrgKey($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {\n  updateOrgKey(\n    keyID: $keyID\n    input: $input\n    resetQuota: $resetQuota\n    expectedVersion: $expectedVersion\n  ) {\n    action\n    key\n    keyHash\n    status\n    version\n    definition {\n      ...Definition\n    }\n    quotaUsed\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nfragment Definition on KeyDefinition {\n  accessRights {\n    label\n    apiID\n    apiName\n    versions\n    allowedUrls {\n      methods\n      url\n    }\n    limit {\n      per\n      quotaMax\n      quotaRemaining\n      quotaRenewalRate\n      rate\n      throttleInterval\n      throttleRetryLimit\n    }\n  }\n  alias\n  allowance\n  applyPolicies\n  basicAuthData {\n    hashType\n    passwordSet\n    user\n  }\n  certificate\n  mtlsStaticCertificateBindings\n  dataExpires\n  dateCreated\n  enableDetailedRecording\n  enableHttpSignatureValidation\n  expires\n  hmacEnabled\n  hmacStringSet\n  idExtractorDeadline\n  isInactive\n  jwtData {\n    secretSet\n  }\n  keyID\n  lastCheck\n  lastUpdated\n  maxQueryDepth\n  metaData\n  monitor {\n    triggerLimits\n  }\n  oauthClientID\n  oauthKeys\n  orgID\n  per\n  quotaMax\n  quotaRemaining\n  quotaRenewalRate\n  quotaRenews\n  rate\n  rsaCertificateID\n  sessionLifetime\n  smoothing {\n    delay\n    enabled\n    step\n    threshold\n    trigger\n  }\n  tags\n  throttleInterval\n  throttleRetryLimit\n}": typeof types.PreviewKeyDocument,
};
const documents: Documents = {
    "query PreviewKey($input: PreviewKeyInput!) {\n  previewKey(input: $input) {\n    apiModel\n    data {\n      ...Definition\n    }\n    keyHash\n    keyID\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nmutation UpdateOrgKey($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {\n  updateOrgKey(\n    keyID: $keyID\n    input: $input\n    resetQuota: $resetQuota\n    expectedVersion: $expectedVersion\n  ) {\n    action\n    key\n    keyHash\n    status\n    version\n    definition {\n      ...Definition\n    }\n    quotaUsed\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nfragment Definition on KeyDefinition {\n  accessRights {\n    label\n    apiID\n    apiName\n    versions\n    allowedUrls {\n      methods\n      url\n    }\n    limit {\n      per\n      quotaMax\n      quotaRemaining\n      quotaRenewalRate\n      rate\n      throttleInterval\n      throttleRetryLimit\n    }\n  }\n  alias\n  allowance\n  applyPolicies\n  basicAuthData {\n    hashType\n    passwordSet\n    user\n  }\n  certificate\n  mtlsStaticCertificateBindings\n  dataExpires\n  dateCreated\n  enableDetailedRecording\n  enableHttpSignatureValidation\n  expires\n  hmacEnabled\n  hmacStringSet\n  idExtractorDeadline\n  isInactive\n  jwtData {\n    secretSet\n  }\n  keyID\n  lastCheck\n  lastUpdated\n  maxQueryDepth\n  metaData\n  monitor {\n    triggerLimits\n  }\n  oauthClientID\n  oauthKeys\n  orgID\n  per\n  quotaMax\n  quotaRemaining\n  quotaRenewalRate\n  quotaRenews\n  rate\n  rsaCertificateID\n  sessionLifetime\n  smoothing {\n    delay\n    enabled\n    step\n    threshold\n    trigger\n  }\n  tags\n  throttleInterval\n  throttleRetryLimit\n}": types.PreviewKeyDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query PreviewKey($input: PreviewKeyInput!) {\n  previewKey(input: $input) {\n    apiModel\n    data {\n      ...Definition\n    }\n    keyHash\n    keyID\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nmutation UpdateOrgKey($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {\n  updateOrgKey(\n    keyID: $keyID\n    input: $input\n    resetQuota: $resetQuota\n    expectedVersion: $expectedVersion\n  ) {\n    action\n    key\n    keyHash\n    status\n    version\n    definition {\n      ...Definition\n    }\n    quotaUsed\n    warnings {\n      path\n      code\n      message\n    }\n  }\n}\n\nfragment Definition on KeyDefinition {\n  accessRights {\n    label\n    apiID\n    apiName\n    versions\n    allowedUrls {\n      methods\n      url\n    }\n    limit {\n      per\n      quotaMax\n      quotaRemaining\n      quotaRenewalRate\n      rate\n      throttleInterval\n      throttleRetryLimit\n    }\n  }\n  alias\n  allowance\n  applyPolicies\n  basicAuthData {\n    hashType\n    passwordSet\n    user\n  }\n  certificate\n  mtlsStaticCertificateBindings\n  dataExpires\n  dateCreated\n  enableDetailedRecording\n  enableHttpSignatureValidation\n  expires\n  hmacEnabled\n  hmacStringSet\n  idExtractorDeadline\n  isInactive\n  jwtData {\n    secretSet\n  }\n  keyID\n  lastCheck\n  lastUpdated\n  maxQueryDepth\n  metaData\n  monitor {\n    triggerLimits\n  }\n  oauthClientID\n  oauthKeys\n  orgID\n  per\n  quotaMax\n  quotaRemaining\n  quotaRenewalRate\n  quotaRenews\n  rate\n  rsaCertificateID\n  sessionLifetime\n  smoothing {\n    delay\n    enabled\n    step\n    threshold\n    trigger\n  }\n  tags\n  throttleInterval\n  throttleRetryLimit\n}"): typeof import('./graphql.js').PreviewKeyDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

/** An operation to try, complete except for its credential. Its name is the title of its tab. */
export interface ExampleOperation {
  readonly group: 'Preview' | 'Read' | 'Change' | 'Many keys' | 'Quota' | 'Follow' | 'Federation';
  readonly title: string;
  readonly credential: 'management' | 'service';
  readonly query: string;
  /** JSON text. */
  readonly variables: string;
}

/** The operation of the first tab. */
export const welcome = `# Welcome to Keyfront.
#
# 1. Copy both credentials that
#    the first start printed, and
#    paste them into one of the
#    fields above. All tabs use
#    them until you reload the
#    page. The preview needs
#    "kf_mgt_", all other
#    operations "kf_svc_".
# 2. Press Ctrl+Enter (macOS:
#    Cmd+Enter) or play.
# 3. Open an example from the list
#    on the left.
query Welcome {
  previewKey(
    input: {
      keyID: "demo"
      alias: "Demo"
      rate: 100
      per: 60
    }
  ) {
    keyHash
    data { alias rate per }
    warnings { path code message }
  }
}`;

/** An operation for each common task. All succeed on the keys of `npm start -- --sample`, in any order and repeatedly. */
export const examples: readonly ExampleOperation[] = [
  {
    group: 'Preview',
    title: 'Preview a key',
    credential: 'management',
    query: `# Validates and normalizes a key
# definition, and hashes its
# identifier. Stores nothing.
# Requires a management
# credential.
query PreviewKey($input: PreviewKeyInput!) {
  previewKey(input: $input) {
    keyID
    keyHash
    data {
      alias
      orgID
      rate
      per
      quotaMax
      tags
      applyPolicies
      accessRights { label apiID versions }
    }
    warnings { path code message }
  }
}`,
    variables: `{
  "input": {
    "keyID": "acme-billing",
    "alias": "Billing, production",
    "orgID": "acme",
    "rate": 100,
    "per": 60,
    "quotaMax": 10000,
    "quotaRenewalRate": 2592000,
    "tags": [" billing", "production", "billing"],
    "applyPolicyID": "gold",
    "accessRights": [{ "label": "invoices", "apiID": "invoices", "versions": ["Default"] }]
  }
}`,
  },
  {
    group: 'Preview',
    title: 'Preview a definition with mistakes',
    credential: 'management',
    query: `# A definition with mistakes. The
# response lists all of them, each
# with its path, under
# "extensions.issues".
query PreviewProblems($input: PreviewKeyInput!) {
  previewKey(input: $input) {
    keyID
    warnings { path code message }
  }
}`,
    variables: `{
  "input": {
    "alias": "Billing",
    "orgID": "acme",
    "rate": -5,
    "quotaMax": 10.5,
    "monitor": { "triggerLimits": [120] },
    "accessRights": [
      { "label": "invoices", "apiID": "invoices", "allowedUrls": [{ "url": "/invoices", "methods": ["FETCH"] }] },
      { "label": "invoices", "apiID": "payments" }
    ]
  }
}`,
  },
  {
    group: 'Read',
    title: 'List keys in pages',
    credential: 'service',
    query: `# Lists the keys of an
# organization, paginated. For the
# next page, put "endCursor" into
# "after" under Variables.
# Operations on stored keys need a
# service credential.
query ListKeys($filter: OrgKeyFilter, $first: Int, $after: String) {
  orgKeys(filter: $filter, orderBy: ALIAS, first: $first, after: $after) {
    totalCount
    edges {
      node {
        keyID
        keyHash
        version
        state
        definition { alias tags }
        quota { max used remaining renewsAt }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "filter": { "orgID": "acme" },
  "first": 1,
  "after": null
}`,
  },
  {
    group: 'Read',
    title: 'Read a key and its quota',
    credential: 'service',
    query: `# Reads one key: its definition,
# its live quota, and its version,
# for "expectedVersion" of an
# update.
query ReadKey($keyID: ID!) {
  orgKey(by: { keyID: $keyID }) {
    keyHash
    version
    state
    updatedAt
    definition {
      alias
      rate
      per
      quotaMax
      quotaRenewalRate
      tags
      applyPolicies
      hmacStringSet
      accessRights { label apiID versions allowedUrls { url methods } }
    }
    quota { max used remaining renewsAt }
  }
}`,
    variables: `{
  "keyID": "acme-billing"
}`,
  },
  {
    group: 'Read',
    title: 'Explain a request',
    credential: 'service',
    query: `# Is this request allowed, and
# which limits apply? Add "at" to
# ask about a past time. Changes
# nothing.
query ExplainKey(
  $keyID: ID!
  $api: String
  $method: String
  $path: String
  $at: KeyDateTime
) {
  explainOrgKey(
    by: { keyID: $keyID }
    api: $api
    method: $method
    path: $path
    at: $at
  ) {
    isAllowed
    code
    reasons { code message path policyID }
    matchedUrl { url methods policyID }
    limits {
      values { rate per quotaMax }
      origins { field policyID }
    }
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "api": "catalog",
  "method": "GET",
  "path": "/products/7",
  "at": null
}`,
  },
  {
    group: 'Read',
    title: 'List policies',
    credential: 'service',
    query: `# The policies, the parts
# of a key that each governs, and
# its limits.
query Policies($first: Int, $after: String) {
  keyPolicies(first: $first, after: $after) {
    edges {
      node { policyID name orgID governs values { rate per quotaMax } }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "first": 20,
  "after": null
}`,
  },
  {
    group: 'Read',
    title: 'Read a policy and its history',
    credential: 'service',
    query: `# Shows a policy, and who changed
# it, when and how.
query PolicyHistory($policyID: String!, $last: Int) {
  keyPolicy(policyID: $policyID) {
    version name orgID isInactive governs
    values { rate per quotaMax quotaRenewalRate }
  }
  keyPolicyHistory(policyID: $policyID, last: $last) {
    edges {
      node { version kind at actor { label assertedName } changes { path before after } }
    }
  }
}`,
    variables: `{
  "policyID": "gold",
  "last": 10
}`,
  },
  {
    group: 'Read',
    title: 'Show the impact of a policy',
    credential: 'service',
    query: `# Which keys would change if this
# policy were imported? Stores
# nothing. A page can have few
# keys and still a next one: put
# "endCursor" into "after".
query PolicyImpact($policy: KeyPolicyInput!, $first: Int, $after: String) {
  impactOfPolicy(policy: $policy, first: $first, after: $after) {
    edges {
      node {
        orgKey { keyID definition { alias } }
        changes { path before after }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "policy": {
    "policyID": "gold",
    "governs": ["RATE_LIMIT"],
    "rate": 10,
    "per": 1
  },
  "first": 20,
  "after": null
}`,
  },
  {
    group: 'Read',
    title: 'List recent changes',
    credential: 'service',
    query: `# Lists the changes of all keys,
# newest first. For the next page,
# put "endCursor" into "after".
query RecentChanges($orgID: String, $first: Int, $after: String) {
  orgKeyChanges(orgID: $orgID, first: $first, after: $after) {
    edges {
      node {
        cursor
        ... on OrgKeyChanged {
          entry { version at operation revertedTo actor { label assertedName } reason changes { path before after } }
          key(includeDeleted: true) { keyID definition { alias } }
        }
        ... on OrgKeyNoticed {
          notice { kind at expiresAt quotaUsed quotaMax }
          key(includeDeleted: true) { keyID definition { alias } }
        }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "orgID": "acme",
  "first": 20,
  "after": null
}`,
  },
  {
    group: 'Read',
    title: 'Read the history of a key',
    credential: 'service',
    query: `# Shows the changes of a key:
# when, by whom, what and why.
query KeyHistory($keyID: ID!, $last: Int) {
  orgKey(by: { keyID: $keyID }) {
    version
    history(last: $last) {
      edges {
        node {
          version
          at
          operation
          actor { label assertedName }
          reason
          changes { path kind before after }
        }
      }
    }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "last": 10
}`,
  },
  {
    group: 'Read',
    title: 'Unused keys and use by day',
    credential: 'service',
    query: `# Keys that were not used since
# a time, those that were never
# used first, with their requests
# by day; and the requests of all
# keys of their organization.
query UnusedKeys($orgID: String!, $id: ID!, $unusedSince: KeyDateTime!, $from: String, $to: String) {
  orgKeys(filter: { orgID: $orgID, unusedSince: $unusedSince }, orderBy: LAST_USED, first: 5) {
    totalCount
    edges {
      node {
        keyHash
        definition { alias }
        lastUsedAt
        usage(from: $from, to: $to) { allowed denied days { day allowed denied } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
  organization(id: $id) {
    keyUsage(from: $from, to: $to) { allowed denied days { day allowed denied } }
  }
}`,
    variables: `{
  "orgID": "acme",
  "id": "acme",
  "unusedSince": "2030-01-01T00:00:00Z",
  "from": "2026-01-01",
  "to": "2026-12-31"
}`,
  },
  {
    group: 'Change',
    title: 'Preview an update',
    credential: 'service',
    query: `# Predicts the result of an
# update: the changes, field by
# field, and the effect on the
# quota. Stores nothing. Takes the
# same variables as UpdateKey.
query DryRun($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
  previewOrgKeyUpdate(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion) {
    version
    changes { path kind before after }
    quotaEffect { summary }
    warnings { path code message }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "input": {
    "alias": "Billing, production",
    "rate": 200,
    "per": 60,
    "quotaMax": 20000,
    "quotaRenewalRate": 2592000,
    "tags": ["billing", "production"],
    "applyPolicies": ["gold"],
    "accessRights": [
      {
        "label": "invoices",
        "apiID": "invoices",
        "apiName": "Invoices",
        "versions": ["Default"],
        "allowedUrls": [{ "methods": ["GET", "POST"], "url": "/invoices/.*" }]
      }
    ]
  },
  "resetQuota": true,
  "expectedVersion": null
}`,
  },
  {
    group: 'Change',
    title: 'Update a key',
    credential: 'service',
    query: `# Replaces the definition of a key
# and resets its quota. Fields
# that the definition omits are
# removed, except secrets. With
# the version that you have read
# as "expectedVersion", it returns
# CONFLICT if the key has changed
# since.
mutation UpdateKey(
  $keyID: ID!
  $input: UpdateKeyInput!
  $resetQuota: Boolean
  $expectedVersion: Int
  $reason: String
) {
  updateOrgKey(
    keyID: $keyID
    input: $input
    resetQuota: $resetQuota
    expectedVersion: $expectedVersion
    reason: $reason
  ) {
    action
    status
    version
    orgKey { keyHash definition { alias rate quotaMax quotaRemaining quotaRenews } }
    changes { path kind before after }
    quotaEffect { summary }
    warnings { path code message }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "input": {
    "alias": "Billing, production",
    "rate": 200,
    "per": 60,
    "quotaMax": 20000,
    "quotaRenewalRate": 2592000,
    "tags": ["billing", "production"],
    "applyPolicies": ["gold"],
    "accessRights": [
      {
        "label": "invoices",
        "apiID": "invoices",
        "apiName": "Invoices",
        "versions": ["Default"],
        "allowedUrls": [{ "methods": ["GET", "POST"], "url": "/invoices/.*" }]
      }
    ]
  },
  "resetQuota": true,
  "expectedVersion": null,
  "reason": "More traffic since the spring release"
}`,
  },
  {
    group: 'Change',
    title: 'Preview a patch',
    credential: 'service',
    query: `# Predicts the result of a patch.
# Stores nothing. Takes the same
# variables as PatchKey.
query PreviewPatch($keyID: ID!, $patch: PatchKeyInput!) {
  previewOrgKeyPatch(keyID: $keyID, patch: $patch) {
    changes { path kind before after }
    warnings { path code message }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "patch": { "rate": 250, "per": 60 }
}`,
  },
  {
    group: 'Change',
    title: 'Change some fields',
    credential: 'service',
    query: `# Changes the fields that "patch"
# names. The other fields stay;
# null clears a field.
mutation PatchKey($keyID: ID!, $patch: PatchKeyInput!, $reason: String) {
  patchOrgKey(keyID: $keyID, patch: $patch, reason: $reason) {
    orgKey { version definition { alias rate per } }
    changes { path kind before after }
    issues { path code message }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "patch": { "rate": 250, "per": 60 },
  "reason": "Raised the rate"
}`,
  },
  {
    group: 'Change',
    title: 'Preview a revert',
    credential: 'service',
    query: `# Predicts the result of a revert
# to an earlier version. Stores
# nothing.
query PreviewRevert($keyID: ID!, $toVersion: Int!) {
  previewOrgKeyRevert(keyID: $keyID, toVersion: $toVersion) {
    version
    changes { path kind before after }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "toVersion": 1
}`,
  },
  {
    group: 'Change',
    title: 'Restore an earlier version',
    credential: 'service',
    query: `# Restores the definition of an
# earlier version, as a new
# version. Secrets and the live
# quota stay as they are.
mutation RevertKey($keyID: ID!, $toVersion: Int!, $reason: String) {
  revertOrgKey(keyID: $keyID, toVersion: $toVersion, reason: $reason) {
    version
    changes { path kind before after }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "toVersion": 1,
  "reason": "Restore the initial settings"
}`,
  },
  {
    group: 'Change',
    title: 'Create a key',
    credential: 'service',
    query: `# Creates a key. Without "keyID",
# the service generates an
# identifier. A "keyID" that
# exists returns CONFLICT.
# "issues" has the problems of the
# definition.
mutation CreateKey($keyID: ID, $input: CreateKeyInput!, $reason: String) {
  createOrgKey(keyID: $keyID, input: $input, reason: $reason) {
    orgKey { keyID keyHash version }
    issues { path code message }
    warnings { path code message }
  }
}`,
    variables: `{
  "keyID": null,
  "input": {
    "orgID": "acme",
    "alias": "Trial",
    "rate": 5,
    "per": 1,
    "quotaMax": 1000,
    "quotaRenewalRate": 86400,
    "tags": ["trial"]
  },
  "reason": "Trial for a customer"
}`,
  },
  {
    group: 'Change',
    title: 'Delete a key and restore it',
    credential: 'service',
    query: `# Deletes a key, then restores it.
# A deleted key can be restored
# for 30 days, unless the service
# is configured otherwise.
mutation DeleteAndRestoreKey($keyID: ID!, $reason: String) {
  deleteOrgKey(keyID: $keyID, reason: $reason) {
    orgKey { state version }
  }
  restoreOrgKey(keyID: $keyID, reason: $reason) {
    orgKey { state version }
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "reason": "Example of a restore"
}`,
  },
  {
    group: 'Read',
    title: 'List credentials',
    credential: 'service',
    query: `# The credentials that you may
# administer, without their
# secrets.
query Credentials($first: Int) {
  keyCredentials(first: $first) {
    edges {
      node {
        id
        kind
        label
        orgID
        scopes
        state
        expiresAt
        lastUsedAt
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "first": 10
}`,
  },
  {
    group: 'Read',
    title: 'List webhooks',
    credential: 'service',
    query: `# The receivers of changes that
# you may administer, with what
# has failed.
query Webhooks($first: Int) {
  keyWebhooks(first: $first) {
    edges {
      node {
        id
        label
        orgID
        eventTypes
        receiver
        pausedReason
        failingKeys
        deadLetterCount
      }
    }
    damagedIDs
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "first": 10
}`,
  },
  {
    group: 'Change',
    title: 'Propose a change',
    credential: 'service',
    query: `# Stores a change that another
# person approves. Nothing changes
# before that.
mutation ProposeChange($keyID: ID!, $change: KeyChangeInput!, $reason: String) {
  proposeKeyChange(keyID: $keyID, change: $change, reason: $reason) {
    id
    state
    orgID
    changes { path before after }
    expiresAt
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "change": { "patch": { "patch": { "alias": "Acme mobile, proposed" } } },
  "reason": "Example of a proposal"
}`,
  },
  {
    group: 'Change',
    title: 'List proposals',
    credential: 'service',
    query: `# The changes that wait for an
# approval or their time.
query Proposals($first: Int) {
  keyProposals(states: [OPEN, SCHEDULED], first: $first) {
    edges {
      node {
        id
        state
        keyHash
        reason
        proposedBy { label }
        changes { path before after }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`,
    variables: `{
  "first": 10
}`,
  },
  {
    group: 'Change',
    title: 'Rotate a key and cancel it',
    credential: 'service',
    query: `# Gives a key a new identifier.
# Both are accepted for "overlap"
# seconds. Then cancels: the old
# identifier stays.
mutation RotateKey($keyID: ID!, $overlap: Int, $reason: String) {
  rotateOrgKey(keyID: $keyID, overlap: $overlap, reason: $reason) {
    keyID
    orgKey { keyHash identifierHash rotation { oldKeyID retiresAt } version }
  }
  cancelKeyRotation(keyID: $keyID, reason: $reason) {
    orgKey { keyID version }
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "overlap": 604800,
  "reason": "Example of a rotation"
}`,
  },
  {
    group: 'Many keys',
    title: 'Update many keys',
    credential: 'service',
    query: `# Changes some fields of all keys
# that match, here as a dry run:
# "dryRun" false applies it.
mutation BulkUpdate($filter: OrgKeyFilter!, $patch: PatchKeyInput!, $dryRun: Boolean!, $reason: String) {
  updateOrgKeys(filter: $filter, patch: $patch, dryRun: $dryRun, reason: $reason) {
    dryRun
    items {
      orgKey { keyID version }
      change { version changes { path kind before after } }
      error { code message issues { path message } }
    }
    hasNextPage
    endCursor
  }
}`,
    variables: `{
  "filter": { "orgID": "acme" },
  "patch": { "rate": 50, "per": 60 },
  "dryRun": true,
  "reason": "One rate for all"
}`,
  },
  {
    group: 'Many keys',
    title: 'Reset many quotas',
    credential: 'service',
    query: `# Resets the quota of all keys
# that match, here as a dry run:
# "dryRun" false applies it.
mutation BulkReset($filter: OrgKeyFilter!, $dryRun: Boolean!, $reason: String) {
  resetOrgQuotas(filter: $filter, dryRun: $dryRun, reason: $reason) {
    dryRun
    items {
      orgKey { keyID }
      change { quotaEffect { summary } }
      error { code message }
    }
  }
}`,
    variables: `{
  "filter": { "orgID": "acme" },
  "dryRun": true,
  "reason": "End of the period"
}`,
  },
  {
    group: 'Quota',
    title: 'Consume the quota',
    credential: 'service',
    query: `# Consumes requests from the live
# quota, as a gateway does before
# it forwards one: the whole
# amount or nothing.
mutation ConsumeQuota($keyID: ID!, $amount: Int64) {
  consumeOrgQuota(keyID: $keyID, amount: $amount) {
    allowed
    refusal
    quota { max used remaining renewsAt }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "amount": 1
}`,
  },
  {
    group: 'Change',
    title: 'Add a policy',
    credential: 'service',
    query: `# A dry run: set "dryRun" to false
# to store the policy. That needs
# the scope "admin".
mutation PutPolicies($policies: [KeyPolicyInput!]!, $dryRun: Boolean!) {
  putKeyPolicies(policies: $policies, dryRun: $dryRun) {
    dryRun
    changes { policyID kind changes { path before after } }
    warnings { path code message }
  }
}`,
    variables: `{
  "policies": [
    { "policyID": "gold", "name": "Gold", "governs": ["RATE_LIMIT"], "rate": 10, "per": 1 }
  ],
  "dryRun": true
}`,
  },
  {
    group: 'Quota',
    title: 'Verify a key',
    credential: 'service',
    query: `# Decides about a request, as for
# a gateway, and counts it if it
# may pass.
mutation Verify($keyID: ID!, $api: String, $method: String, $path: String) {
  verifyKey(keyID: $keyID, api: $api, method: $method, path: $path) {
    isAllowed
    code
    reasons { code message policyID }
    limits { rate per }
    quota { remaining renewsAt }
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "api": "catalog",
  "method": "GET",
  "path": "/products/7"
}`,
  },
  {
    group: 'Read',
    title: 'Who am I',
    credential: 'service',
    query: `# Shows what the credential may
# do, the organizations, and the
# tags of one of them.
query WhoAmI($orgID: ID!) {
  viewer { label scopes orgID }
  organization(id: $orgID) {
    id
    quotaSummary { keyCount used }
    keyTags(first: 10) { edges { node { tag } } }
  }
  organizations(first: 10) { edges { node { id } } }
}`,
    variables: `{
  "orgID": "acme"
}`,
  },
  {
    group: 'Follow',
    title: 'Follow changes',
    credential: 'service',
    query: `# Shows the newest change as it
# takes effect: press play, and
# change a key in another window.
# Opening another tab ends it. Put
# the last "cursor" into "after"
# to continue there.
subscription FollowKeys($orgID: String, $after: String) {
  orgKeyChanged(orgID: $orgID, after: $after) {
    __typename
    cursor
    ... on OrgKeyChanged {
      keyHash
      entry { version at operation actor { label assertedName } reason changes { path before after } }
      key { keyID definition { alias } quota { used remaining } }
    }
    ... on OrgKeyNoticed {
      keyHash
      notice { kind at daysBefore expiresAt threshold quotaUsed quotaMax }
    }
  }
}`,
    variables: `{
  "orgID": "acme",
  "after": null
}`,
  },
  {
    group: 'Federation',
    title: 'Resolve entities',
    credential: 'service',
    query: `# Resolves references from other
# subgraphs to keys and
# organizations, as a federation
# router does.
query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) {
    ... on OrgKey {
      keyHash
      definition { alias }
      quota { used remaining }
    }
    ... on Organization {
      id
      quotaSummary { keyCount limitedKeys exhaustedKeys max used remaining }
    }
  }
}`,
    variables: `{
  "representations": [
    { "__typename": "OrgKey", "keyHash": "8805bb626b61fcb32e4c55b535399c92ecc8c2bb0dcaa3d327ec5a19da7adbd4" },
    { "__typename": "Organization", "id": "acme" }
  ]
}`,
  },
];

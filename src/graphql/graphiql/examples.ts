import type { CredentialKind } from '../../credential.js';

/** An operation to try, with all that it needs but the credential. The name of the operation is that of its tab. */
export interface Example {
  readonly credential: CredentialKind;
  readonly query: string;
  /** JSON, as it stands in the editor. */
  readonly variables: string;
}

/** What comes before a credential in its header, so that pasting it behind is enough. */
export const credentialHeaders: Readonly<
  Record<CredentialKind, { readonly name: string; readonly beginning: string }>
> = {
  management: { name: 'Authorization', beginning: 'Bearer kf_mgt_' },
  service: { name: 'X-Svc-Authorization', beginning: 'kf_svc_' },
};

/** An operation for every common task. All of them work on the keys of `npm start -- --sample`, in this order. */
export const examples: readonly Example[] = [
  {
    credential: 'management',
    query: `# Checks and normalises a key definition, and
# hashes its identifier. Nothing is stored. It
# needs a management credential: paste yours over
# "kf_mgt_" under Headers below, and press the
# play button. You need to do it once: until this
# page is reloaded, all tabs with a bare "kf_mgt_"
# use it too.
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
    credential: 'management',
    query: `# A definition with mistakes: all of them are
# answered at once, each with its place, under
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
    credential: 'service',
    query: `# The keys of an organisation, a page at a time.
# For the next page, put "endCursor" into "after"
# under Variables. All about stored keys needs a
# service credential: paste yours over "kf_svc_"
# under Headers below, once.
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
    credential: 'service',
    query: `# One key: what it may do, what is left of its
# quota, and its version, for "expectedVersion" of
# an update.
query ReadKey($keyID: ID!) {
  orgKey(keyID: $keyID) {
    keyHash
    version
    state
    lastUpdated
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
    credential: 'service',
    query: `# What an update would change, field by field, and
# what it would do to the quota. Nothing is
# stored.
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
  "expectedVersion": 1
}`,
  },
  {
    credential: 'service',
    query: `# Replaces the definition of a key and resets its
# quota. What the definition leaves out is gone,
# but for secrets. Run twice it answers CONFLICT,
# and what has changed since: the key has another
# version than "expectedVersion" then.
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
    keyHash
    version
    definition { alias rate quotaMax quotaRemaining quotaRenews lastUpdated }
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
  "expectedVersion": 1,
  "reason": "More traffic since the spring release"
}`,
  },
  {
    credential: 'service',
    query: `# Who changed the key, when, what and why; the
# latest change first.
query KeyHistory($keyID: ID!, $last: Int) {
  orgKey(keyID: $keyID) {
    version
    history(last: $last) {
      edges {
        node {
          version
          at
          operation
          credentialLabel
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
    credential: 'service',
    query: `# Puts the definition of an earlier version back,
# as a new version. Secrets and the live quota
# stay as they are.
mutation RevertKey($keyID: ID!, $toVersion: Int!, $reason: String) {
  revertOrgKey(keyID: $keyID, toVersion: $toVersion, reason: $reason) {
    action
    version
    changes { path kind before after }
  }
}`,
    variables: `{
  "keyID": "acme-billing",
  "toVersion": 1,
  "reason": "Back to what it was at first"
}`,
  },
  {
    credential: 'service',
    query: `# Adds a key. Without "keyID" a new identifier is
# made. Run twice it answers CONFLICT: the key is
# there then.
mutation CreateKey($keyID: ID, $input: UpdateKeyInput!, $reason: String) {
  createOrgKey(keyID: $keyID, input: $input, reason: $reason) {
    action
    key
    keyHash
    version
    warnings { path code message }
  }
}`,
    variables: `{
  "keyID": "acme-trial",
  "input": {
    "orgID": "acme",
    "alias": "Trial",
    "rate": 5,
    "per": 1,
    "quotaMax": 1000,
    "quotaRenewalRate": 86400,
    "tags": ["trial"]
  },
  "reason": "A customer wants to try"
}`,
  },
  {
    credential: 'service',
    query: `# Deletes a key. It can be put back for 30 days,
# unless the service is set to another time: see
# the next tab.
mutation DeleteKey($keyID: ID!, $reason: String) {
  deleteOrgKey(keyID: $keyID, reason: $reason) {
    action
    version
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "reason": "The application is retired"
}`,
  },
  {
    credential: 'service',
    query: `# Puts a deleted key back as it was. NOT_FOUND
# where it is not deleted: delete it first, in the
# tab before.
mutation RestoreKey($keyID: ID!, $reason: String) {
  restoreOrgKey(keyID: $keyID, reason: $reason) {
    action
    version
  }
}`,
    variables: `{
  "keyID": "acme-mobile",
  "reason": "It is not, after all"
}`,
  },
  {
    credential: 'service',
    query: `# Changes some fields of all keys that match, here
# as a dry run: with "dryRun" false, it is done.
mutation BulkUpdate($filter: OrgKeyFilter!, $patch: UpdateKeyInput!, $dryRun: Boolean!, $reason: String) {
  updateOrgKeys(filter: $filter, patch: $patch, dryRun: $dryRun, reason: $reason) {
    dryRun
    items {
      orgKey { keyID version }
      change { changes { path kind before after } }
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
    credential: 'service',
    query: `# Begins the quota of all keys that match anew,
# here as a dry run: with "dryRun" false, it is
# done.
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
    credential: 'service',
    query: `# Takes requests from the live quota, as a gateway
# does before it lets one pass: all that are asked
# for, or none.
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
    credential: 'service',
    query: `# Follows changes as they take effect: press play,
# change a key in another tab, and come back. Send
# the last cursor as "after" to go on from there.
subscription FollowKeys($orgID: String, $after: String) {
  orgKeyChanged(orgID: $orgID, after: $after) {
    cursor
    keyHash
    entry { version at operation credentialLabel reason changes { path before after } }
    key { keyID definition { alias } quota { used remaining } }
  }
}`,
    variables: `{
  "orgID": "acme",
  "after": null
}`,
  },
  {
    credential: 'service',
    query: `# What the router of a federated graph asks: keys
# and organisations that other subgraphs have
# named.
query Entities($representations: [_Any!]!) {
  _entities(representations: $representations) {
    ... on OrgKey {
      keyHash
      definition { alias }
      quota { used remaining }
    }
    ... on Organization {
      id
      quotaSummary { keys limitedKeys exhaustedKeys max used remaining }
    }
  }
}`,
    variables: `{
  "representations": [
    { "__typename": "OrgKey", "keyID": "acme-billing" },
    { "__typename": "Organization", "id": "acme" }
  ]
}`,
  },
];

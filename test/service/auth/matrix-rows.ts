import { servedSchema } from '../../../src/graphql/schema/served.js';
import { healthPaths } from '../../../src/http/health.js';
import { consoleAssets } from '../../../src/http/console-assets.js';
import { docsAssets, documentPath } from '../../../src/rest/docs-page/serve.js';
import type { RouteDefinition } from '../../../src/rest/route.js';
import { routes } from '../../../src/rest/routes.js';
import type { Scope } from '../../../src/keys/key.js';
import { credentialKinds, type CredentialKind } from '../../../src/credentials/credential.js';

/** The response to a caller of another organization: an error code, nothing, or what all callers receive. */
type Foreign = 'NOT_FOUND' | 'FORBIDDEN' | 'nothing' | 'the same';

interface Row {
  /** A root field with its arguments and fields, or the body of a route. `KEY` and `NODE` stand for a key of acme's, `PROPOSAL` for a proposal for it, `CREDENTIAL` and `WEBHOOK` for a credential and a webhook of acme's. */
  readonly call?: string;
  /** The state of the key in which the call succeeds. */
  readonly key?: 'absent' | 'deleted' | 'rotated' | 'proposed' | 'issued' | 'hooked';
  readonly foreign: Foreign;
  /** The scopes that it requires. Default: that of reading. */
  readonly scopes?: readonly Scope[];
  /** Whether it requires a credential that is bound to no organization. */
  readonly isUnbound?: boolean;
  /** If the schema does not state one kind itself. */
  readonly credential?: CredentialKind | 'any';
}

/** One line for each root field: a minimal valid call, and its response to another organization. */
const rootFields: Readonly<Record<string, Row>> = {
  previewKey: { call: 'previewKey(input: {orgID: "acme"}) { keyID }', foreign: 'FORBIDDEN' },
  node: { call: 'node(id: "NODE") { id }', foreign: 'nothing' },
  orgKey: { call: 'orgKey(by: { keyID: "KEY" }) { keyHash }', foreign: 'nothing' },
  orgKeys: { call: 'orgKeys(filter: {orgID: "acme"}) { edges { cursor } }', foreign: 'nothing' },
  explainOrgKey: { call: 'explainOrgKey(by: { keyID: "KEY" }) { right { apiID } }', foreign: 'the same' },
  keyPolicy: { call: 'keyPolicy(policyID: "gold") { version }', foreign: 'nothing' },
  keyPolicies: { call: 'keyPolicies(first: 5) { edges { cursor } }', foreign: 'nothing' },
  impactOfPolicy: {
    call: 'impactOfPolicy(policy: {policyID: "gold", isInactive: true}) { edges { cursor } }',
    foreign: 'nothing',
  },
  orgKeyChanges: { call: 'orgKeyChanges(orgID: "acme") { edges { cursor } }', foreign: 'nothing' },
  keyPolicyHistory: {
    call: 'keyPolicyHistory(policyID: "gold") { edges { cursor } }',
    foreign: 'FORBIDDEN',
    isUnbound: true,
  },
  putKeyPolicies: {
    call: 'putKeyPolicies(policies: [{policyID: "gold", orgID: "acme", rate: 1}], dryRun: false) { version }',
    foreign: 'FORBIDDEN',
    isUnbound: true,
    scopes: ['admin'],
  },
  removeKeyPolicies: {
    call: 'removeKeyPolicies(policyIDs: ["gold"]) { version }',
    foreign: 'FORBIDDEN',
    isUnbound: true,
  },
  organizations: { call: 'organizations(before: "WyJuYW1lcyIsImIiXQ") { edges { node { id } } }', foreign: 'nothing' },
  organization: { call: 'organization(id: "acme") { id }', foreign: 'nothing' },
  viewer: { call: 'viewer { kind }', foreign: 'the same', scopes: [] },
  previewOrgKeyUpdate: { call: 'previewOrgKeyUpdate(keyID: "KEY", input: {}) { version }', foreign: 'NOT_FOUND' },
  previewOrgKeyPatch: { call: 'previewOrgKeyPatch(keyID: "KEY", patch: {}) { version }', foreign: 'NOT_FOUND' },
  previewOrgKeyRevert: { call: 'previewOrgKeyRevert(keyID: "KEY", toVersion: 1) { version }', foreign: 'NOT_FOUND' },
  patchOrgKey: {
    call: 'patchOrgKey(keyID: "KEY", patch: {alias: "patched"}) { version }',
    foreign: 'NOT_FOUND',
    scopes: ['update'],
  },
  updateOrgKey: {
    call: 'updateOrgKey(keyID: "KEY", input: {}) { status }',
    foreign: 'NOT_FOUND',
    scopes: ['update'],
  },
  createOrgKey: {
    call: 'createOrgKey(keyID: "KEY", input: {orgID: "acme"}) { version }',
    key: 'absent',
    foreign: 'FORBIDDEN',
    scopes: ['create'],
  },
  deleteOrgKey: { call: 'deleteOrgKey(keyID: "KEY") { version }', foreign: 'NOT_FOUND', scopes: ['delete'] },
  restoreOrgKey: {
    call: 'restoreOrgKey(keyID: "KEY") { version }',
    key: 'deleted',
    foreign: 'NOT_FOUND',
    scopes: ['delete'],
  },
  revertOrgKey: {
    call: 'revertOrgKey(keyID: "KEY", toVersion: 1) { version }',
    foreign: 'NOT_FOUND',
    scopes: ['update'],
  },
  rotateOrgKey: { call: 'rotateOrgKey(keyID: "KEY") { version }', foreign: 'NOT_FOUND', scopes: ['update'] },
  cancelKeyRotation: {
    call: 'cancelKeyRotation(keyID: "KEY") { version }',
    key: 'rotated',
    foreign: 'NOT_FOUND',
    scopes: ['update'],
  },
  updateOrgKeys: {
    call: 'updateOrgKeys(filter: {aliasPrefix: "KEY"}, patch: {rate: 2}, dryRun: false) { items { orgKey { keyHash } } }',
    foreign: 'nothing',
    scopes: ['read', 'update'],
  },
  resetOrgQuotas: {
    call: 'resetOrgQuotas(filter: {aliasPrefix: "KEY"}, dryRun: false) { items { orgKey { keyHash } } }',
    foreign: 'nothing',
    scopes: ['read', 'update'],
  },
  consumeOrgQuota: {
    call: 'consumeOrgQuota(keyID: "KEY") { allowed }',
    foreign: 'NOT_FOUND',
    scopes: ['consume'],
  },
  keyProposal: { call: 'keyProposal(id: "PROPOSAL") { id }', key: 'proposed', foreign: 'nothing' },
  keyProposals: { call: 'keyProposals(orgID: "acme") { edges { cursor } }', key: 'proposed', foreign: 'nothing' },
  proposeKeyChange: {
    call: 'proposeKeyChange(keyID: "KEY", change: {patch: {patch: {alias: "proposed"}}}) { state }',
    foreign: 'NOT_FOUND',
    scopes: ['read', 'propose'],
  },
  approveKeyProposal: {
    call: 'approveKeyProposal(id: "PROPOSAL") { state }',
    key: 'proposed',
    foreign: 'NOT_FOUND',
    scopes: ['read', 'approve'],
  },
  rejectKeyProposal: {
    call: 'rejectKeyProposal(id: "PROPOSAL") { state }',
    key: 'proposed',
    foreign: 'NOT_FOUND',
    scopes: ['read', 'approve'],
  },
  withdrawKeyProposal: {
    call: 'withdrawKeyProposal(id: "PROPOSAL") { state }',
    key: 'proposed',
    foreign: 'NOT_FOUND',
    scopes: ['read', 'propose'],
  },
  keyCredentials: {
    call: 'keyCredentials(orgID: "acme") { edges { cursor } }',
    key: 'issued',
    foreign: 'nothing',
    scopes: ['admin'],
  },
  issueKeyCredential: {
    call: 'issueKeyCredential(label: "l", orgID: "acme", scopes: [ADMIN]) { credential { id } }',
    foreign: 'FORBIDDEN',
    scopes: ['admin'],
  },
  rotateKeyCredential: {
    call: 'rotateKeyCredential(id: "CREDENTIAL") { credential { id } }',
    key: 'issued',
    foreign: 'NOT_FOUND',
    scopes: ['admin'],
  },
  revokeKeyCredential: {
    call: 'revokeKeyCredential(id: "CREDENTIAL") { id }',
    key: 'issued',
    foreign: 'NOT_FOUND',
    scopes: ['admin'],
  },
  keyWebhooks: {
    call: 'keyWebhooks(orgID: "acme") { edges { cursor } }',
    key: 'hooked',
    foreign: 'nothing',
    scopes: ['admin'],
  },
  keyWebhook: { call: 'keyWebhook(id: "WEBHOOK") { id }', key: 'hooked', foreign: 'nothing', scopes: ['admin'] },
  addKeyWebhook: {
    call: 'addKeyWebhook(url: "http://localhost:1/", orgID: "acme") { webhook { id } }',
    foreign: 'FORBIDDEN',
    scopes: ['read', 'admin'],
  },
  ...Object.fromEntries(
    ['test', 'pause', 'resume', 'rotate'].map((verb) => [
      `${verb}KeyWebhook`,
      {
        call: `${verb}KeyWebhook(id: "WEBHOOK") { webhook { id } }`,
        key: 'hooked',
        foreign: 'NOT_FOUND',
        scopes: ['admin'],
      } as const,
    ]),
  ),
  removeKeyWebhook: {
    call: 'removeKeyWebhook(id: "WEBHOOK") { id }',
    key: 'hooked',
    foreign: 'NOT_FOUND',
    scopes: ['admin'],
  },
  replayKeyWebhookDeadLetters: {
    call: 'replayKeyWebhookDeadLetters(id: "WEBHOOK") { count }',
    key: 'hooked',
    foreign: 'NOT_FOUND',
    scopes: ['admin'],
  },
  discardKeyWebhookDeadLetters: {
    call: 'discardKeyWebhookDeadLetters(id: "WEBHOOK") { count }',
    key: 'hooked',
    foreign: 'NOT_FOUND',
    scopes: ['admin'],
  },
  verifyKey: { call: 'verifyKey(keyID: "KEY") { code }', foreign: 'nothing', scopes: ['verify'] },
  deliverKey: { call: 'deliverKey(by: { keyID: "KEY" }) { keyHash }', foreign: 'nothing', scopes: ['deliver'] },
  deliverKeys: { call: 'deliverKeys(orgID: "acme") { items { keyHash } }', foreign: 'nothing', scopes: ['deliver'] },
  acknowledgeChanges: {
    call: 'acknowledgeChanges(gateway: "edge-1", orgID: "acme") { isNew }',
    foreign: 'FORBIDDEN',
    scopes: ['deliver'],
  },
  forgetGateway: {
    call: 'forgetGateway(gateway: "known", orgID: "acme") { gateway }',
    foreign: 'FORBIDDEN',
    scopes: ['update'],
  },
  gateways: { call: 'gateways(orgID: "acme") { edges { node { name } } }', foreign: 'nothing' },
  keyDigest: { call: 'keyDigest(cursor: "MC4wLg", orgID: "acme") { keys }', foreign: 'FORBIDDEN' },
  orgKeyDeployed: { call: 'orgKeyDeployed(keyID: "KEY", gateways: ["known"]) { version }', foreign: 'NOT_FOUND' },
  // A new subscription receives no event yet. For the events of a subscription, see test/service/graphql/org-key-changed.test.ts.
  orgKeyChanged: {
    call: 'orgKeyChanged(orgID: "acme") { ... on OrgKeyChanged { entry { version } } }',
    foreign: 'the same',
  },
  _entities: {
    call: '_entities(representations: [{__typename: "OrgKey", id: "NODE"}]) { ... on OrgKey { keyHash } }',
    foreign: 'nothing',
  },
};

/** The same for each route, by the name of its operation. */
const restRoutes: Readonly<Record<string, Row>> = {
  previewKey: { call: '{"org_id":"acme"}', foreign: 'FORBIDDEN' },
  updateOrgKey: { call: '{}', foreign: 'NOT_FOUND', scopes: ['update'] },
  patchOrgKey: { call: '{"alias":"patched"}', foreign: 'NOT_FOUND', scopes: ['update'] },
  orgKeys: { foreign: 'nothing' },
  orgKey: { foreign: 'NOT_FOUND' },
  orgKeyUsage: { foreign: 'NOT_FOUND' },
  generateOrgKey: { call: '{"org_id":"acme"}', key: 'absent', foreign: 'FORBIDDEN', scopes: ['create'] },
  createOrgKey: { call: '{"org_id":"acme"}', key: 'absent', foreign: 'FORBIDDEN', scopes: ['create'] },
  deleteOrgKey: { foreign: 'NOT_FOUND', scopes: ['delete'] },
  restoreOrgKey: { key: 'deleted', foreign: 'NOT_FOUND', scopes: ['delete'] },
  rotateOrgKey: { foreign: 'NOT_FOUND', scopes: ['update'] },
  cancelKeyRotation: { key: 'rotated', foreign: 'NOT_FOUND', scopes: ['update'] },
  consumeOrgQuota: { foreign: 'NOT_FOUND', scopes: ['consume'] },
  deliverKeys: { foreign: 'nothing', scopes: ['deliver'] },
  deliverKey: { foreign: 'NOT_FOUND', scopes: ['deliver'] },
  verifyKeys: { call: '{"requests":[{"key_id":"KEY"}]}', foreign: 'nothing', scopes: ['verify'] },
};

/** The status of a GET of a path that is no operation, without and with a valid credential. */
export interface PathRow {
  readonly development: readonly [without: number, having: number];
  readonly production: readonly [without: number, having: number];
}

const open: PathRow = { development: [200, 200], production: [200, 200] };
const pages: PathRow = { development: [200, 200], production: [404, 404] };

/** One line for each of these paths. Only one of them requires a credential, of either kind. */
export const pathRows: Readonly<Record<string, PathRow>> = {
  '/health': open,
  '/ready': open,
  '/': pages,
  '/openapi.json': { development: [200, 200], production: [401, 200] },
  '/docs': pages,
  '/docs/page.css': pages,
  '/docs/page.js': pages,
  '/docs/swagger-ui.css': pages,
  '/docs/swagger-ui-bundle.js': pages,
  '/docs/favicon-32x32.png': pages,
  // The names of its scripts contain a hash of their content.
  ...Object.fromEntries([...consoleAssets().keys()].map((path) => [path, pages])),
};

/** The other paths that are served, from the code. */
export const otherPaths: readonly string[] = [
  ...healthPaths,
  '/',
  documentPath,
  ...docsAssets.keys(),
  ...consoleAssets().keys(),
];

/** An operation of either API with a minimal valid request. */
export interface Endpoint {
  readonly name: string;
  readonly isREST: boolean;
  /** The kinds of credential that it accepts. */
  readonly kinds: readonly CredentialKind[];
  /** The scopes that it requires of a service credential. */
  readonly scopes: readonly Scope[];
  /** Whether it changes keys, so that each attempt is in the audit log. */
  readonly isWrite: boolean;
  /** Whether it requires a scope that a credential without restrictions does not have. */
  readonly isScopeNamed: boolean;
  readonly key: Row['key'];
  readonly foreign: Foreign;
  readonly isUnbound: boolean;
  readonly method: string;
  readonly target: (keyID: string) => string;
  /** Empty if it has none. */
  readonly body: (keyID: string, node: string, proposal?: string, credential?: string, webhook?: string) => string;
}

const roots = [
  ['query', servedSchema.getQueryType()],
  ['mutation', servedSchema.getMutationType()],
  ['subscription', servedSchema.getSubscriptionType()],
] as const;

const fields = roots.flatMap(([operation, type]) =>
  // Which credentials may read the schema in `_service`: test/service/graphql/introspection.test.ts.
  Object.values(type?.getFields() ?? {})
    .filter((field) => field.name !== '_service')
    .map((field) => ({ operation, field })),
);

/** Rows without an operation, operations without a row, and rows that do not state their credential. */
export const gaps: readonly string[] = [
  ...fields.flatMap(({ field: { name, extensions } }) => {
    const row = rootFields[name];
    if (!row) return [`${name}: no row for the root field`];
    return kindsOf(row, extensions.credential).length === 0 ? [`${name}: the row names no credential`] : [];
  }),
  ...routes.flatMap(({ operation }) => (restRoutes[operation] ? [] : [`${operation}: no row for the route`])),
  ...Object.keys(rootFields).flatMap((name) =>
    fields.some(({ field }) => field.name === name) ? [] : [`${name}: no root field for the row`],
  ),
  ...Object.keys(restRoutes).flatMap((name) =>
    routes.some(({ operation }) => operation === name) ? [] : [`${name}: no route for the row`],
  ),
];

/** Every endpoint that has a row. */
export const endpoints: readonly Endpoint[] = [
  ...fields.flatMap(({ operation, field: { name, extensions } }) => {
    const row = rootFields[name];
    return row ? [graphqlEndpoint(operation, name, row, kindsOf(row, extensions.credential))] : [];
  }),
  ...routes.flatMap((route) => {
    const row = restRoutes[route.operation];
    return row ? [restEndpoint(route, row)] : [];
  }),
];

function kindsOf({ credential: named }: Row, declared: unknown): readonly CredentialKind[] {
  if (named === 'any') return credentialKinds;
  return credentialKinds.filter((kind) => kind === (named ?? declared));
}

function isScopeNamed({ scopes = [] }: Row): boolean {
  return scopes.includes('deliver');
}

function graphqlEndpoint(operation: string, name: string, row: Row, kinds: readonly CredentialKind[]): Endpoint {
  return {
    name: `GraphQL ${name}`,
    isREST: false,
    kinds,
    scopes: row.scopes ?? ['read'],
    isWrite: operation === 'mutation',
    isScopeNamed: isScopeNamed(row),
    key: row.key,
    foreign: row.foreign,
    isUnbound: row.isUnbound ?? false,
    method: 'POST',
    target: () => '/graphql',
    body: (keyID, node, proposal = '', credential = '', webhook = '') => {
      const call = (row.call ?? name)
        .replaceAll('KEY', keyID)
        .replaceAll('NODE', node)
        .replaceAll('PROPOSAL', proposal)
        .replaceAll('CREDENTIAL', credential)
        .replaceAll('WEBHOOK', webhook);
      return JSON.stringify({ query: `${operation} { ${call} }` });
    },
  };
}

function restEndpoint({ operation, method, path, credential }: RouteDefinition, row: Row): Endpoint {
  return {
    name: `REST ${operation}`,
    isREST: true,
    kinds: kindsOf(row, credential),
    scopes: row.scopes ?? ['read'],
    isWrite: method !== 'GET' && credential === 'service',
    isScopeNamed: isScopeNamed(row),
    key: row.key,
    foreign: row.foreign,
    isUnbound: row.isUnbound ?? false,
    method,
    target: (keyID) => path.replace('*', keyID),
    body: (keyID) => (row.call ?? '').replaceAll('KEY', keyID),
  };
}

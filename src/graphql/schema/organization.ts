import type { QuotaSummary } from '../../keys/quota/quota-summary.js';
import { canSee, hasScope, requireScope } from '../../keys/authorization.js';
import { hasSignedOn } from '../../keys/actor.js';
import { scopes, type Principal, type Scope } from '../../keys/key.js';
import type { DefaultConnectionArguments } from '@pothos/plugin-relay';
import type { NameQuery } from '../../keys/key-query.js';
import { nameCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { readConnectionPage } from './pagination.js';
import { enumValuesOf } from './types-from-zod.js';

/** An organization: this service knows only its identifier and its keys. */
export interface Organization {
  readonly orgID: string;
}

const OrganizationQuota = builder.objectRef<QuotaSummary>('OrganizationQuota').implement({
  description:
    'Sums of the live quotas of the keys of an organization at this moment. Deleted keys are excluded. Sums are capped at the largest 64-bit integer.',
  fields: (t) => ({
    keyCount: t.exposeInt('keys', { description: 'Number of keys.' }),
    limitedKeys: t.exposeInt('limitedKeys', {
      description: 'Number of keys with a limited quota. The other fields count only these keys.',
    }),
    exhaustedKeys: t.exposeInt('exhaustedKeys', {
      description: 'Number of limited keys with nothing remaining in their current period.',
    }),
    max: t.expose('max', { type: 'Int64', description: 'Sum of the requests allowed per period.' }),
    used: t.expose('used', { type: 'Int64', description: 'Sum of the requests counted in the current periods.' }),
    remaining: t.expose('remaining', {
      type: 'Int64',
      description: 'Sum of the requests remaining in the current periods. A key above its maximum counts as 0.',
    }),
  }),
});

export const Organization = builder.objectRef<Organization>('Organization').implement({
  description:
    'An organization. Other subgraphs own its profile; Keyfront contributes its keys and the sums of their quotas.',
  fields: (t) => ({
    id: t.exposeID('orgID', { description: 'Identifier of the organization, as in `OrgKey.orgID`.' }),
    quotaSummary: t.field({
      extensions: { credential: 'service' },
      type: OrganizationQuota,
      nullable: true,
      description: 'Sums of the quotas of its keys. Reads all of them. Null with an error if they cannot be read.',
      resolve: ({ orgID }, _, { loaders }) => loaders.quotaSummaries.load(orgID),
    }),
  }),
});

builder.queryField('organization', (t) =>
  t.field({
    type: Organization,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description:
      'The organization with this identifier. Null if the credential cannot see it. Every other one exists, also without keys. Requires a service credential. Not in the subgraph, because the company owns this field there.',
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the organization. Example: acme.' }) },
    resolve: (caller, { id }) => {
      requireScope(caller, 'read');
      return canSee(caller, id) ? { orgID: id } : undefined;
    },
  }),
);

/** Reads a page of names, each with its cursor. */
function readNames<Node>(
  args: DefaultConnectionArguments,
  read: (query: NameQuery) => Promise<string[]>,
  nodeOf: (name: string) => Node,
) {
  return readConnectionPage<Node>(args, async ({ before, after, limit, inverted }) => {
    const names = await read({
      limit,
      // The last names of an order are the first of the reverse order.
      descending: inverted,
      after: after === undefined ? undefined : nameCursors.decode(after, 'after'),
      before: before === undefined ? undefined : nameCursors.decode(before, 'before'),
    });
    return { items: names.map((name) => ({ cursor: nameCursors.encode(name), node: nodeOf(name) })) };
  });
}

builder.queryField('organizations', (t) =>
  t.connection(
    {
      type: Organization,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description:
        'Lists the organizations that own keys which are not deleted, in byte order; one that the credential is bound to only. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid. Not in the subgraph, because the company owns this field there.',
      credential: 'service',
      resolve: (caller, args, { keys }) =>
        readNames(
          args,
          (query) => keys.organizations(caller, query),
          (orgID) => ({ orgID }),
        ),
    },
    { name: 'KeyOrganizationConnection' },
    { name: 'KeyOrganizationEdge' },
  ),
);

const KeyTag = builder.objectRef<{ readonly tag: string }>('KeyTag').implement({
  description: 'A tag of keys.',
  fields: (t) => ({ tag: t.exposeString('tag', { description: 'The tag, as in `KeyDefinition.tags`.' }) }),
});

builder.objectField(Organization, 'keyTags', (t) =>
  t.connection(
    {
      type: KeyTag,
      nullable: true,
      extensions: { credential: 'service' },
      description:
        'Lists the tags of the keys of the organization which are not deleted, in byte order. Null with an error if they cannot be read.',
      resolve: ({ orgID }, args, { loaders }) =>
        readNames(
          args,
          (request) => loaders.tagsOfOrgs.load({ orgID, request }),
          (tag) => ({ tag }),
        ),
    },
    { name: 'KeyTagConnection' },
    { name: 'KeyTagEdge' },
  ),
);

export const KeyScope = builder.enumType('KeyScope', {
  description: 'What a service credential can be restricted to.',
  values: enumValuesOf<Scope>(scopes),
});

const KeyViewer = builder.objectRef<Principal>('KeyViewer').implement({
  description: 'The service credential of the request, or the person who has signed on.',
  fields: (t) => ({
    credentialID: t.exposeString('credentialID', {
      description: 'Identifier of the credential, or `oidc:` and the subject of the token. Not secret.',
    }),
    label: t.exposeString('label', { description: 'What the credential was issued for, or the name of the person.' }),
    kind: t.string({
      description: 'Kind of the credential: `service`, or `token` for a token of single sign-on.',
      resolve: (principal) => (hasSignedOn(principal) ? 'token' : 'service'),
    }),
    client: t.exposeString('client', {
      nullable: true,
      description:
        'The application by which the person has signed on, as the issuer of the token names it. Null for a credential.',
    }),
    scopes: t.field({
      type: [KeyScope],
      description: 'What the credential may do: every scope but ROUTER and DELIVER if it is not restricted.',
      resolve: (principal) =>
        principal.scopes ?? (Object.keys(scopes) as Scope[]).filter((scope) => hasScope(principal, scope)),
    }),
    isRestricted: t.boolean({
      description:
        'Whether the credential is restricted to `scopes`. One that is not can give all rights to another credential.',
      resolve: ({ scopes: restriction }) => restriction !== undefined,
    }),
    orgID: t.exposeString('orgID', {
      nullable: true,
      description: 'The organization that the credential is bound to. Null if it can see all.',
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: KeyViewer,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description:
      'The credential of the request. Requires a service credential, of any scope. Null only with an error. Not in the subgraph, because the company owns this field there.',
    credential: 'service',
    resolve: (caller) => caller,
  }),
);

import { credentialLimits, type IssueResult } from '../../credentials/credential-service.js';
import { maxOverlapHours } from '../../lib/overlap.js';
import {
  credentialStates,
  stateOfCredential,
  type CredentialKind,
  type CredentialPosition,
  type CredentialState,
  type StoredCredential,
} from '../../credentials/credential.js';
import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import { invalidArgument } from '../../lib/errors.js';
import { timeCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { KeyScope } from './organization.js';
import { readForwardPage } from './pagination.js';
import { enumValuesOf } from './types-from-zod.js';

const KeyCredentialKind = builder.enumType('KeyCredentialKind', {
  description: 'The kind of a credential.',
  values: enumValuesOf<CredentialKind>({
    management: 'Allows previews.',
    service: 'Allows every other operation.',
  }),
});

const KeyCredentialState = builder.enumType('KeyCredentialState', {
  description: 'The state of a credential.',
  values: enumValuesOf<CredentialState>(credentialStates),
});

const KeyCredential = builder.objectRef<StoredCredential>('KeyCredential').implement({
  description: 'A credential, without its secret.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the credential. Not secret.' }),
    kind: t.expose('kind', { type: KeyCredentialKind, description: 'The kind of the credential.' }),
    label: t.exposeString('label', { description: 'What the credential was issued for.' }),
    orgID: t.exposeString('orgID', {
      nullable: true,
      description: 'The organization that it is bound to. Null if it can see all.',
    }),
    scopes: t.field({
      type: [KeyScope],
      nullable: true,
      description: 'What it is restricted to. Null if it is not restricted, or is a management credential.',
      resolve: ({ scopes }) => scopes && [...scopes],
    }),
    state: t.field({
      type: KeyCredentialState,
      description: 'The state of the credential.',
      resolve: (credential, _, { credentials }) => stateOfCredential(credential, credentials.now()),
    }),
    lastFour: t.exposeString('lastFour', {
      nullable: true,
      description: 'The last four characters of the secret. Null for a credential of an early version.',
    }),
    createdAt: t.field({
      type: 'KeyDateTime',
      description: 'When it was issued.',
      resolve: ({ created }) => created.toISOString(),
    }),
    expiresAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'Until when it is valid. Null for no limit.',
      resolve: ({ expires }) => expires?.toISOString(),
    }),
    revokedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When it was revoked. Null if it was not.',
      resolve: ({ revoked }) => revoked?.toISOString(),
    }),
    lastUsedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When it was last used, up to a minute late. Null if never.',
      resolve: ({ lastUsed }) => lastUsed?.toISOString(),
    }),
    successorID: t.exposeID('successorID', {
      nullable: true,
      description: 'Identifier of the credential that replaces it. Null if it was not rotated.',
    }),
  }),
});

const IssuedKeyCredential = builder.objectRef<IssueResult>('IssuedKeyCredential').implement({
  description: 'A credential that was issued, with its secret.',
  fields: (t) => ({
    credential: t.expose('credential', { type: KeyCredential, description: 'The credential.' }),
    secret: t.string({
      nullable: true,
      extensions: { isSensitive: true },
      description:
        'The secret, which is shown only here: save it. Null if a request with an idempotency key was repeated, because it is not stored: rotate the credential then with `overlapHours: 0`.',
      resolve: ({ secret }) => secret,
    }),
    retired: t.field({
      type: KeyCredential,
      nullable: true,
      description: 'The credential that was replaced. Null if it was not a rotation.',
      resolve: ({ retired }) => retired,
    }),
  }),
});

const needs =
  'Requires a service credential with the scope `admin`; one that is bound to an organization sees and changes only the credentials of that organization. Not in the subgraph. Null if an error is returned.';
const limits = `CONFLICT if the organization has ${credentialLimits.active} active credentials, or ${credentialLimits.recent} of the last 24 hours`;

/** @throws {AppError} INVALID when the text is not a cursor of credentials. */
function decodePosition(cursor: string): CredentialPosition {
  const { at, id } = timeCursors.decode(cursor, 'after', 'credentials');
  return { id, created: at };
}

builder.queryField('keyCredentials', (t) =>
  t.connection(
    {
      type: KeyCredential,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description: `Lists credentials, the oldest first, revoked and expired ones included. Read forwards. ${needs} Errors: FORBIDDEN, INVALID if a page size or a cursor is not valid.`,
      credential: 'service',
      args: {
        orgID: t.arg.string({
          description:
            'Only credentials that are bound to this organization. Default: all that the caller sees. Example: acme.',
        }),
      },
      resolve: (caller, { orgID, ...args }, { credentials }) =>
        readForwardPage<StoredCredential>(args, async ({ after, limit }) => {
          const found = await credentials.list(caller, {
            orgID: orgID ?? undefined,
            after: after === undefined ? undefined : decodePosition(after),
            limit,
          });
          return {
            items: found.map((node) => ({ cursor: timeCursors.encode({ at: node.created, id: node.id }), node })),
          };
        }),
    },
    { name: 'KeyCredentialConnection', description: 'A page of credentials.' },
    { name: 'KeyCredentialEdge', description: 'A credential and its cursor.' },
  ),
);

/** @throws {AppError} INVALID unless the text is a point in time. */
function dateFrom(text: string): Date {
  if (!isDateTime(text)) throw invalidArgument('expiresAt', dateTimeRule, 'MALFORMED_DATE');
  return new Date(text);
}

builder.mutationField('issueKeyCredential', (t) =>
  t.field({
    type: IssuedKeyCredential,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Issues a credential, and returns its secret once. It cannot have a scope that the caller does not have. ${needs} Errors: FORBIDDEN, INVALID, ${limits}.`,
    credential: 'service',
    args: {
      kind: t.arg({ type: KeyCredentialKind, defaultValue: 'service', description: 'The kind of the credential.' }),
      label: t.arg.string({
        required: true,
        description: 'What it is for, shown in lists, the history and the log. At most 200 characters.',
      }),
      orgID: t.arg.string({
        description:
          'The organization to bind it to. Default: that of the caller; all, if the caller is bound to none. Example: acme.',
      }),
      scopes: t.arg({
        type: [KeyScope],
        description:
          'What it is restricted to. Default: no restriction, which a caller without restrictions only can give. For service credentials only.',
      }),
      expiresAt: t.arg({ type: 'KeyDateTime', description: 'Until when it is valid. Default: no limit.' }),
      idempotencyKey: t.arg.string({
        description:
          'Key by which the request can be repeated, such as a UUID: the same request with the same key issues nothing more, and returns the credential without its secret. 1 to 255 visible ASCII characters. INVALID if it was used for another request.',
      }),
    },
    resolve: (caller, { kind, label, orgID, scopes, expiresAt, idempotencyKey }, { credentials }) =>
      credentials.issue(caller, {
        kind: kind ?? 'service',
        label,
        orgID: orgID ?? undefined,
        scopes: scopes ?? undefined,
        expires: typeof expiresAt === 'string' ? dateFrom(expiresAt) : undefined,
        idempotencyKey: idempotencyKey ?? undefined,
      }),
  }),
);

builder.mutationField('rotateKeyCredential', (t) =>
  t.field({
    type: IssuedKeyCredential,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Issues a successor of a credential, with the same rights and lifetime, and returns its secret once. Its scopes must be some of the caller's. ${needs} Errors: NOT_FOUND, FORBIDDEN, INVALID, CONFLICT if the credential is expired, revoked or replaced, ${limits}.`,
    credential: 'service',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the credential.' }),
      overlapHours: t.arg.int({
        required: true,
        defaultValue: 24,
        description: `How long the old credential stays valid, in hours, at most ${maxOverlapHours}; 0 revokes it at once.`,
      }),
    },
    resolve: (caller, { id, overlapHours }, { credentials }) => credentials.rotate(caller, { id, overlapHours }),
  }),
);

builder.mutationField('revokeKeyCredential', (t) =>
  t.field({
    type: KeyCredential,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Revokes a credential, also the caller's own: every process rejects it from the next request on. Does nothing if it is revoked already. ${needs} Errors: NOT_FOUND, FORBIDDEN.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the credential.' }) },
    resolve: async (caller, { id }, { credentials }) => (await credentials.revoke(caller, { id })).credential,
  }),
);

import type { DefaultConnectionArguments } from '@pothos/plugin-relay';
import type { Deployment, Gateway, GatewayID } from '../../keys/gateway-store.js';
import { maxNames } from '../../keys/gateways.js';
import { isInt64 } from '../../lib/int64.js';
import { invalidCursorError, nameCursors } from '../../wire/list-cursor.js';
import { optionalReferenceFrom, withoutNulls } from './arguments.js';
import { builder } from './builder.js';
import { OrgKey } from './key.js';
import { readForwardPage } from './pagination.js';

/** The fields that a gateway and a deployment have in common. */
const ofGateway = {
  orgID:
    'The organization whose keys the gateway has, and no others. Null for a gateway with the keys of all organizations.',
  at: 'When the gateway acknowledged last, also without a change.',
};

const KeyGateway = builder.objectRef<Gateway>('KeyGateway').implement({
  description: 'A gateway that has a copy of the keys, with what its adapter has acknowledged last.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the gateway. Example: edge-1.' }),
    orgID: t.exposeString('orgID', { nullable: true, description: ofGateway.orgID }),
    lag: t.exposeInt('lag', {
      description:
        'For how many seconds the oldest change has waited that the gateway has not acknowledged; 0 if it has all of them. While it reads all keys anew, the seconds since that began. If its organization has no change among the next 1,000 of others, the time of these counts, so that it can be too large.',
    }),
    lastSeen: t.field({
      type: 'KeyDateTime',
      description: ofGateway.at,
      resolve: ({ at }) => at.toISOString(),
    }),
    cursor: t.exposeString('cursor', {
      nullable: true,
      description:
        'The cursor that it has acknowledged: it has all changes up to it. Null while it reads all keys anew, when nothing is known of it.',
    }),
    digest: t.exposeString('digest', {
      nullable: true,
      description: 'The digest of its copy at the cursor, to compare with `Query.keyDigest`. Null if it sends none.',
    }),
  }),
});

const KeyDeployment = builder.objectRef<Deployment>('KeyDeployment').implement({
  description: 'What one gateway has of one key.',
  fields: (t) => ({
    gateway: t.exposeString('name', { description: 'Name of the gateway. Example: edge-1.' }),
    orgID: t.exposeString('orgID', { nullable: true, description: ofGateway.orgID }),
    version: t.exposeInt('version', {
      nullable: true,
      description:
        'The newest version whose change the gateway has acknowledged: it has this version or a later one. Null if it has acknowledged none of the newest 32 versions, or reads all keys anew.',
    }),
    at: t.field({
      type: 'KeyDateTime',
      description: ofGateway.at,
      resolve: ({ at }) => at.toISOString(),
    }),
    isCurrent: t.exposeBoolean('isCurrent', {
      description:
        'Whether the gateway has acknowledged the newest change of the key, such as its deletion. Counted requests are no change.',
    }),
  }),
});

/** The argument that selects gateways by their names. */
const gatewayNames = `Only the gateways with these names, at most ${maxNames}. Default: all.`;

/** Reads a page of gateways, or of what they have, in the order of their names. */
function readPage<Item extends GatewayID>(
  args: DefaultConnectionArguments,
  read: (range: { readonly after: GatewayID | undefined; readonly limit: number }) => Promise<readonly Item[]>,
) {
  return readForwardPage<Item>(args, async ({ after, limit }) => {
    const found = await read({ after: gatewayOfCursor(after), limit });
    return { items: found.map((node) => ({ cursor: nameCursors.encode(cursorTextOf(node)), node })) };
  });
}

function cursorTextOf({ name, orgID = '' }: GatewayID): string {
  return `${name}/${orgID}`;
}

function gatewayOfCursor(cursor: string | undefined): GatewayID | undefined {
  if (cursor === undefined) return undefined;
  const [name = '', orgID = ''] = nameCursors.decode(cursor, 'after').split('/');
  return { name, orgID: orgID === '' ? undefined : orgID };
}

builder.objectField(OrgKey, 'deployments', (t) =>
  t.connection(
    {
      type: KeyDeployment,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description:
        'Which gateways have the key as it is now, in the order of their names: those with the keys of its organization, and those with all keys. Only forwards. Null with an error if they cannot be read. Errors: INVALID for a page size, a cursor or too many names.',
      args: { gateways: t.arg.stringList({ description: gatewayNames }) },
      resolve: (key, { gateways: names, ...args }, { loaders }) =>
        readPage(args, (range) => loaders.deployments.load({ key, request: { names: names ?? undefined, ...range } })),
    },
    { name: 'KeyDeploymentConnection', description: 'A page of what gateways have of a key.' },
    { name: 'KeyDeploymentEdge', description: 'What one gateway has of a key, and its cursor.' },
  ),
);

builder.queryField('gateways', (t) =>
  t.connection(
    {
      type: KeyGateway,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description:
        'Lists the gateways that acknowledge changes, in the order of their names. A credential of an organization sees those with the keys of its organization, and those with all keys. Only forwards. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid. Not in the subgraph.',
      credential: 'service',
      args: {
        orgID: t.arg.string({
          description: 'Only the gateways that have keys of this organization. Default: all. Example: acme.',
        }),
        names: t.arg.stringList({ description: gatewayNames }),
      },
      resolve: (caller, { orgID, names, ...args }, { keys }) =>
        readPage(args, (range) => keys.gateways(caller, { ...withoutNulls({ orgID, names }), ...range })),
    },
    { name: 'KeyGatewayConnection', description: 'A page of gateways.' },
    { name: 'KeyGatewayEdge', description: 'A gateway and its cursor.' },
  ),
);

interface DigestPart {
  readonly digest: string;
  readonly keys: number;
  readonly end: bigint | undefined;
}

const KeyDigestPart = builder.objectRef<DigestPart>('KeyDigestPart').implement({
  description: 'A part of the digest of all keys.',
  fields: (t) => ({
    digest: t.exposeString('digest', {
      description:
        'The digest of the keys of this part, as 64 hex digits. That of all keys is the sum of the parts modulo 2^256.',
    }),
    keys: t.exposeInt('keys', { description: 'The number of keys of this part.' }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor for `after` of the next part. Null after the last one.',
      resolve: ({ end }) => (end === undefined ? null : nameCursors.encode(String(end))),
    }),
  }),
});

builder.queryField('keyDigest', (t) =>
  t.field({
    type: KeyDigestPart,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description:
      'Reads a part of the digest that a complete copy of the keys has at a cursor of the change feed, for comparison with `KeyGateway.digest`. A part reads up to 10,000 keys. Later changes do not count. Requires a service credential. Null if an error is returned. Errors: INVALID for a cursor of another database, FORBIDDEN for another organization than that of the credential. Not in the subgraph.',
    credential: 'service',
    args: {
      cursor: t.arg.string({ required: true, description: 'A cursor of the change feed, as in `KeyGateway.cursor`.' }),
      orgID: t.arg.string({
        description: 'Only the keys of this organization. Default: all that the credential can see. Example: acme.',
      }),
      after: t.arg.string({ description: 'Continues after this cursor, the `endCursor` of the part before.' }),
    },
    resolve: (caller, { cursor, orgID, after }, { keys }) =>
      keys.keyDigest(caller, {
        cursor,
        orgID: orgID ?? undefined,
        after: typeof after === 'string' ? rowOfCursor(after) : undefined,
      }),
  }),
);

function rowOfCursor(cursor: string): bigint {
  const text = nameCursors.decode(cursor, 'after');
  if (/^\d{1,19}$/.test(text) && isInt64(BigInt(text))) return BigInt(text);
  throw invalidCursorError('after', 'must be a cursor of this list');
}

/** The arguments that name a gateway. */
const gatewayArgs = builder.args((t) => ({
  gateway: t.string({
    required: true,
    description:
      'Name of the gateway: 1 to 64 letters, digits, dots, hyphens and underscores. One for each copy. Example: edge-1.',
  }),
  orgID: t.string({
    description:
      'The organization whose keys the gateway has. Default: that of the credential, or the keys of all organizations. Example: acme.',
  }),
}));

const AcknowledgeChangesPayload = builder
  .objectRef<{ readonly isNew: boolean }>('AcknowledgeKeyChangesPayload')
  .implement({
    description: 'The result of an acknowledgement.',
    fields: (t) => ({
      isNew: t.exposeBoolean('isNew', {
        description: 'Whether the gateway was not known before. Its name appears in the list of gateways from now on.',
      }),
    }),
  });

builder.mutationField('acknowledgeChanges', (t) =>
  t.field({
    type: AcknowledgeChangesPayload,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description:
      'Records what a gateway has, in place of what it acknowledged before. Send it after the copy has all changes up to the cursor and is in use. Requires a service credential with the scope `deliver`. Null if an error is returned. Errors: INVALID for a cursor of another database, CONFLICT above 1,000 gateways of an organization. Not in the subgraph.',
    credential: 'service',
    args: {
      ...gatewayArgs,
      cursor: t.arg.string({
        description:
          'Cursor of the change feed up to which the gateway has all changes. It may be an earlier one than before. Default: none, when the adapter begins to read all keys and does not know what the gateway has.',
      }),
      digest: t.arg.string({
        description:
          'Digest of the copy at the cursor: for each key, SHA-256 of its `keyHash`, a colon and its `version` as an integer; the sum of all modulo 2^256, as 64 hex digits. Default: none; then `keyfront drift` cannot compare the copy.',
      }),
    },
    resolve: (caller, args, { keys }) => keys.acknowledgeChanges(caller, withoutNulls(args)),
  }),
);

const ForgetGatewayPayload = builder.objectRef<GatewayID>('ForgetKeyGatewayPayload').implement({
  description: 'The result of forgetting a gateway.',
  fields: (t) => ({
    gateway: t.exposeString('name', { description: 'Name of the gateway.' }),
  }),
});

builder.mutationField('forgetGateway', (t) =>
  t.field({
    type: ForgetGatewayPayload,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description:
      'Removes a gateway that is gone, so that nothing waits for it. One that acknowledges again is added again. Requires a service credential with the scope `update`. Null if an error is returned. Errors: NOT_FOUND. Not in the subgraph.',
    credential: 'service',
    args: gatewayArgs,
    resolve: (caller, args, { keys }) => keys.forgetGateway(caller, withoutNulls(args)),
  }),
);

builder.subscriptionField('orgKeyDeployed', (t) =>
  t.field({
    type: [KeyDeployment],
    extensions: { isOutsideSubgraph: true },
    description:
      'Streams what gateways have of a key: at first, and when more of them have its newest change. Ends when all of them have it. Requires a service credential. Errors: NOT_FOUND for an unknown key or gateway, RATE_LIMITED above the maximum number of open subscriptions of the credential. Not in the subgraph.',
    credential: 'service',
    args: {
      keyID: t.arg.id({
        description: 'The key that has this identifier, also if it is deleted. Required unless `keyHash` is given.',
      }),
      keyHash: t.arg.string({ description: 'Hash of the key, as in `OrgKey.keyHash`, instead of `keyID`.' }),
      gateways: t.arg.stringList({
        required: true,
        description: `Names of the gateways, from 1 to ${maxNames}. Example: ["edge-1"].`,
      }),
    },
    subscribe: (caller, { keyID, keyHash, gateways }, { keys, registerSubscription }) => {
      const key = optionalReferenceFrom(keyID ?? undefined, keyHash ?? undefined);
      return keys.orgKeyDeployed(caller, key, gateways, registerSubscription(caller.credentialID));
    },
    resolve: (deployments) => [...deployments],
  }),
);

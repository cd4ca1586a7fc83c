import type {
  AddResult,
  DiscardResult,
  RemoveResult,
  ReplayResult,
  RotateResult,
  TestResult,
  WebhookChange,
} from '../../webhooks/webhook-service.js';
import { maxOverlapHours } from '../../lib/overlap.js';
import { maxReleaseWaitMs, maxWebhooksOfOrganization } from '../../webhooks/webhook-service.js';
import { eventTypes as knownTypes } from '../../webhooks/event.js';
import { maxTestsAtOnce } from '../../webhooks/test-slots.js';
import { maxCounted, type DeadLetterPosition, type Delivery, type Webhook } from '../../webhooks/webhook.js';
import { timeCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { readForwardPage } from './pagination.js';

/** The retries that a webhook shows. */
const maxRetries = 20;

/** The fields of a dead letter and a retry: what is known of an event that failed. */
const ofDelivery = {
  keyHash: 'Hash of the key.',
  attempts: 'How often Keyfront has tried to send it.',
  failedAt: 'When the last attempt failed.',
  lastError: 'The result of the last attempt, such as `returned 500`. Never text from the receiver.',
};

const KeyWebhookDeadLetter = builder.objectRef<Delivery>('KeyWebhookDeadLetter').implement({
  description: 'An event that Keyfront has given up to send.',
  fields: (t) => ({
    eventID: t.exposeID('eventID', { description: 'Identifier of the event, the `webhook-id` of its messages.' }),
    keyHash: t.exposeString('keyHash', { description: ofDelivery.keyHash }),
    version: t.exposeInt('version', {
      description: 'The version of the key after the change; 0 for an event that changes nothing of a key.',
    }),
    attempts: t.exposeInt('attempts', {
      description: `${ofDelivery.attempts} 0 after \`replayKeyWebhookDeadLetters\`.`,
    }),
    failedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: `${ofDelivery.failedAt} Null if that is not known.`,
      resolve: ({ failedAt }) => failedAt?.toISOString(),
    }),
    lastError: t.exposeString('lastError', { description: ofDelivery.lastError }),
    isReplayed: t.boolean({
      description: 'Whether it is queued for another delivery. It is removed once it is delivered.',
      resolve: ({ dueMs }) => dueMs !== undefined,
    }),
  }),
});

const KeyWebhookRetry = builder.objectRef<Delivery>('KeyWebhookRetry').implement({
  description: 'A key whose next event has failed, or a dead letter that is queued for another delivery.',
  fields: (t) => ({
    eventID: t.id({
      nullable: true,
      description: 'Identifier of a dead letter or an event in time. Null for the changes of a key.',
      resolve: ({ eventID }) => (eventID === '' ? null : eventID),
    }),
    keyHash: t.exposeString('keyHash', { description: ofDelivery.keyHash }),
    version: t.exposeInt('version', {
      description: 'The version of the key after the change that is sent next; 0 for an event that changes nothing.',
    }),
    lastVersion: t.exposeInt('lastVersion', {
      description: 'The version after the last change that waits. Later changes of a key wait for earlier ones.',
    }),
    attempts: t.exposeInt('attempts', { description: ofDelivery.attempts }),
    nextAttemptAt: t.field({
      type: 'KeyDateTime',
      description: 'When it is tried again.',
      resolve: ({ dueMs = 0 }) => new Date(dueMs).toISOString(),
    }),
    failedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: `${ofDelivery.failedAt} Null if that is not known.`,
      resolve: ({ failedAt }) => failedAt?.toISOString(),
    }),
    lastError: t.exposeString('lastError', { description: ofDelivery.lastError }),
  }),
});

/** @throws {AppError} INVALID when the text is not a cursor of dead letters. */
function decodeDeadLetter(cursor: string): DeadLetterPosition {
  const { at, id } = timeCursors.decode(cursor, 'after', 'dead letters');
  return { eventID: id, failedAt: at };
}

const cursorOfDeadLetter = ({ failedAt = new Date(0), eventID }: Delivery) =>
  timeCursors.encode({ at: failedAt, id: eventID });

const orNull = 'Null with an error if it cannot be read.';

const KeyWebhook = builder.objectRef<Webhook>('KeyWebhook').implement({
  description: 'A receiver of signed events of keys, without its secret and its whole URL.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the webhook. Not secret.' }),
    label: t.exposeString('label', { description: 'What the webhook is for; may be empty.' }),
    orgID: t.exposeString('orgID', {
      nullable: true,
      description: 'It receives only events of keys of this organization. Null if it receives those of all.',
    }),
    eventTypes: t.stringList({
      nullable: true,
      description: 'It receives only events of these types. Null if it receives all.',
      resolve: ({ eventTypes }) => eventTypes && [...eventTypes],
    }),
    receiver: t.string({
      nullable: true,
      description:
        'The origin of its URL, with `…` for a path and a query, which may contain a token. Null if the URL cannot be decrypted: nothing is delivered then.',
      resolve: (webhook, _, { webhooks }) => webhooks.receiverOf(webhook),
    }),
    createdAt: t.field({
      type: 'KeyDateTime',
      description: 'When it was added.',
      resolve: ({ created }) => created.toISOString(),
    }),
    pausedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When it was paused. Null if it is active.',
      resolve: ({ paused }) => paused?.at.toISOString(),
    }),
    pausedReason: t.string({
      nullable: true,
      description: 'Why it was paused, also by the service. Null if it is active.',
      resolve: ({ paused }) => paused?.why,
    }),
    oldSecretUntil: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'Until when the secret before the last rotation signs too; may have passed. Null if there is none.',
      resolve: ({ previous }) => previous?.until.toISOString(),
    }),
    failingKeys: t.int({
      nullable: true,
      description: `The number of keys whose next event has failed at least once, counted up to ${maxCounted}. ${orNull}`,
      resolve: async ({ id }, _, { loaders }) => (await loaders.webhookStats.load(id)).retryingKeys,
    }),
    deadLetterCount: t.int({
      nullable: true,
      description: `The number of dead letters, counted up to ${maxCounted}. ${orNull}`,
      resolve: async ({ id }, _, { loaders }) => (await loaders.webhookStats.load(id)).deadLetters,
    }),
    retries: t.field({
      type: [KeyWebhookRetry],
      nullable: true,
      description: `The ${maxRetries} deliveries that are tried again next. ${orNull}`,
      resolve: (webhook, _, { webhooks }) => webhooks.retriesOf(webhook, maxRetries),
    }),
    deadLetters: t.connection(
      {
        type: KeyWebhookDeadLetter,
        nullable: true,
        description:
          'Its dead letters, the oldest first. Read forwards. Null with an error if they cannot be read. Errors: INVALID if a page size or a cursor is not valid.',
        resolve: (webhook, args, { webhooks }) =>
          readForwardPage<Delivery>(args, async ({ after, limit }) => {
            const range = { after: after === undefined ? undefined : decodeDeadLetter(after), limit };
            const found = await webhooks.deadLettersOf(webhook, range);
            return { items: found.map((node) => ({ cursor: cursorOfDeadLetter(node), node })) };
          }),
      },
      { name: 'KeyWebhookDeadLetterConnection', description: 'A page of dead letters.' },
      { name: 'KeyWebhookDeadLetterEdge', description: 'A dead letter and its cursor.' },
    ),
  }),
});

const isReleasedDescription = `Whether no process sends anything any more as before the change. If it is false, the process that delivers has not confirmed that within ${maxReleaseWaitMs / 1000} seconds: it does, or it ends, within a few more.`;
const changedWebhook = 'The webhook after the change.';

const AddedKeyWebhook = builder.objectRef<AddResult>('AddedKeyWebhook').implement({
  description: 'A webhook that was added, with its signing secret.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: 'The webhook.' }),
    secret: t.string({
      nullable: true,
      extensions: { isSensitive: true },
      description:
        'The signing secret (`whsec_…`), which is shown only here: save it. Null if a request with an idempotency key was repeated: rotate the secret then with `overlapHours: 0`.',
      resolve: ({ secret }) => secret,
    }),
  }),
});

const ChangedKeyWebhook = builder.objectRef<WebhookChange>('ChangedKeyWebhook').implement({
  description: 'A webhook that was paused or resumed.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: changedWebhook }),
    changed: t.exposeBoolean('isChanged', {
      description: 'Whether anything changed. False if the webhook was paused or active already.',
    }),
    isReleased: t.exposeBoolean('isReleased', { description: isReleasedDescription }),
  }),
});

const RotatedKeyWebhook = builder.objectRef<RotateResult>('RotatedKeyWebhook').implement({
  description: 'A webhook whose signing secret was replaced.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: changedWebhook }),
    secret: t.exposeString('secret', {
      extensions: { isSensitive: true },
      description: 'The new signing secret, which is shown only here: save it.',
    }),
    isReleased: t.exposeBoolean('isReleased', { description: isReleasedDescription }),
  }),
});

const RemovedKeyWebhook = builder.objectRef<RemoveResult>('RemovedKeyWebhook').implement({
  description: 'A webhook that was removed.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the webhook.' }),
    isReleased: t.exposeBoolean('isReleased', { description: isReleasedDescription }),
  }),
});

const KeyWebhookTest = builder.objectRef<TestResult>('KeyWebhookTest').implement({
  description: 'The result of a test message.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: 'The webhook.' }),
    isDelivered: t.exposeBoolean('isDelivered', { description: 'Whether the status of the response was 2xx.' }),
    status: t.int({
      nullable: true,
      description: 'The status of the response. Null if there was none.',
      resolve: ({ status }) => (status === 0 ? null : status),
    }),
    failure: t.string({
      nullable: true,
      description:
        'Why it was not delivered, such as `returned 500` or `connection refused`. Never text from the receiver. Null if it was.',
      resolve: ({ isDelivered, description }) => (isDelivered ? null : description),
    }),
  }),
});

const ReplayedKeyWebhookDeadLetters = builder.objectRef<ReplayResult>('ReplayedKeyWebhookDeadLetters').implement({
  description: 'Dead letters that were queued for another delivery.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: 'The webhook.' }),
    count: t.exposeInt('count', { description: 'The number of dead letters that were queued; 0 if there was none.' }),
  }),
});

const DiscardedKeyWebhookDeadLetters = builder.objectRef<DiscardResult>('DiscardedKeyWebhookDeadLetters').implement({
  description: 'Dead letters that were deleted.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: KeyWebhook, description: 'The webhook.' }),
    count: t.exposeInt('count', { description: 'The number of dead letters that were deleted; 0 if there was none.' }),
    isReleased: t.exposeBoolean('isReleased', { description: isReleasedDescription }),
  }),
});

const needs =
  'Requires a service credential with the scope `admin`; one that is bound to an organization sees and changes only the webhooks of that organization. Not in the subgraph. Null if an error is returned.';
const damaged = 'INTERNAL if the row of the webhook fails its integrity check';
const idArgument = 'Identifier of the webhook.';
const eventArgument = 'Only the dead letter of this event. Default: all of the webhook.';

const KeyWebhookEdge = builder.edgeObject({
  type: KeyWebhook,
  name: 'KeyWebhookEdge',
  description: 'A webhook and its cursor.',
});

type WebhookPage = Awaited<ReturnType<typeof readForwardPage<Webhook>>> & { readonly damaged: readonly string[] };

const KeyWebhookConnection = builder.connectionObject<typeof KeyWebhook, Promise<WebhookPage>>(
  {
    type: KeyWebhook,
    name: 'KeyWebhookConnection',
    description: 'A page of webhooks.',
    fields: (t) => ({
      damagedIDs: t.idList({
        description:
          'Identifiers of the webhooks whose rows fail their integrity check, on every page. Nothing is delivered for them: remove them with `removeKeyWebhook`. A caller that is bound to an organization sees those whose rows name it.',
        resolve: ({ damaged: ids }) => [...ids],
      }),
    }),
  },
  KeyWebhookEdge,
);

builder.queryField('keyWebhooks', (t) =>
  t.connection(
    {
      type: KeyWebhook,
      nullable: true,
      extensions: { isOutsideSubgraph: true },
      description: `Lists webhooks, the oldest first. Read forwards. ${needs} Errors: FORBIDDEN, INVALID if a page size or a cursor is not valid.`,
      credential: 'service',
      args: {
        orgID: t.arg.string({
          description: 'Only webhooks of this organization. Default: all that the caller sees. Example: acme.',
        }),
      },
      async resolve(caller, { orgID, ...args }, { webhooks }) {
        let damagedIDs: readonly string[] = [];
        const page = await readForwardPage<Webhook>(args, async ({ after, limit }) => {
          const from = after === undefined ? undefined : timeCursors.decode(after, 'after', 'webhooks');
          const found = await webhooks.list(caller, orgID ?? undefined);
          damagedIDs = found.damaged;
          const items = found.intact.filter((webhook) => from === undefined || isAfter(webhook, from));
          return {
            items: items
              .slice(0, limit)
              .map((node) => ({ cursor: timeCursors.encode({ at: node.created, id: node.id }), node })),
          };
        });
        return { ...page, damaged: damagedIDs };
      },
    },
    KeyWebhookConnection,
    KeyWebhookEdge,
  ),
);

function isAfter({ created, id }: Webhook, from: { readonly at: Date; readonly id: string }): boolean {
  const difference = created.getTime() - from.at.getTime();
  return difference > 0 || (difference === 0 && id > from.id);
}

builder.queryField('keyWebhook', (t) =>
  t.field({
    type: KeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Returns a webhook; null if there is none that the caller sees. ${needs} Errors: FORBIDDEN, ${damaged}.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: (caller, { id }, { webhooks }) => webhooks.find(caller, id),
  }),
);

builder.mutationField('addKeyWebhook', (t) =>
  t.field({
    type: AddedKeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Adds a webhook that receives every later event, and returns its signing secret once. Requires the scope \`read\` too, because events contain the history of keys. ${needs} Errors: FORBIDDEN, INVALID, CONFLICT if the organization has ${maxWebhooksOfOrganization} webhooks, or the service has the maximum.`,
    credential: 'service',
    args: {
      url: t.arg.string({
        required: true,
        description:
          'Address of the receiver: https, with a public address unless KEYFRONT_WEBHOOKS_TO permits others. At most 2000 characters, without user name and password.',
      }),
      label: t.arg.string({ description: 'What it is for, shown in lists. Default: none. At most 200 characters.' }),
      orgID: t.arg.string({
        description:
          'It receives only events of keys of this organization. Default: that of the caller; all, if the caller is bound to none. Example: acme.',
      }),
      eventTypes: t.arg.stringList({
        description: `It receives only events of these types: ${knownTypes.map((type) => `\`${type}\``).join(', ')}. Default: all.`,
      }),
      idempotencyKey: t.arg.string({
        description:
          'Key by which the request can be repeated, such as a UUID: the same request with the same key adds nothing more, and returns the webhook without its secret. 1 to 255 visible ASCII characters. INVALID if it was used for another request.',
      }),
    },
    resolve: (caller, { url, label, orgID, eventTypes, idempotencyKey }, { webhooks }) =>
      webhooks.add(caller, {
        url,
        label: label ?? '',
        orgID: orgID ?? undefined,
        eventTypes: eventTypes ?? undefined,
        idempotencyKey: idempotencyKey ?? undefined,
      }),
  }),
);

builder.mutationField('testKeyWebhook', (t) =>
  t.field({
    type: KeyWebhookTest,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Sends a signed test message (\`webhook.ping\`) to the receiver at once, also if the webhook is paused, and waits for its response for at most 4 seconds. ${needs} Errors: NOT_FOUND, FORBIDDEN, CONFLICT if the webhook was tested less than a second ago or a process sends ${maxTestsAtOnce} test messages already, ${damaged}.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: (caller, { id }, { webhooks }) => webhooks.test(caller, { id }),
  }),
);

builder.mutationField('pauseKeyWebhook', (t) =>
  t.field({
    type: ChangedKeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Pauses a webhook: events wait until it is resumed. Does nothing if it is paused already. ${needs} Errors: NOT_FOUND, FORBIDDEN, ${damaged}.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: (caller, { id }, { webhooks }) => webhooks.pause(caller, { id }),
  }),
);

builder.mutationField('resumeKeyWebhook', (t) =>
  t.field({
    type: ChangedKeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Resumes a webhook from where it stopped, also one that the service has paused. Does nothing if it is active. ${needs} Errors: NOT_FOUND, FORBIDDEN, ${damaged}.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: (caller, { id }, { webhooks }) => webhooks.resume(caller, { id }),
  }),
);

builder.mutationField('rotateKeyWebhook', (t) =>
  t.field({
    type: RotatedKeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Replaces the signing secret of a webhook, and returns the new one once. Messages have both signatures during the overlap. A rotation during the overlap of another ends that one. ${needs} Errors: NOT_FOUND, FORBIDDEN, INVALID, ${damaged}.`,
    credential: 'service',
    args: {
      id: t.arg.id({ required: true, description: idArgument }),
      overlapHours: t.arg.int({
        required: true,
        defaultValue: 24,
        description: `How long the old secret signs too, in hours, at most ${maxOverlapHours}; 0 ends it at once.`,
      }),
    },
    resolve: (caller, { id, overlapHours }, { webhooks }) => webhooks.rotate(caller, { id, overlapHours }),
  }),
);

builder.mutationField('removeKeyWebhook', (t) =>
  t.field({
    type: RemovedKeyWebhook,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Removes a webhook with its pending events and dead letters, also one whose row is damaged. ${needs} Errors: NOT_FOUND, FORBIDDEN.`,
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: idArgument }) },
    resolve: (caller, { id }, { webhooks }) => webhooks.remove(caller, { id }),
  }),
);

builder.mutationField('replayKeyWebhookDeadLetters', (t) =>
  t.field({
    type: ReplayedKeyWebhookDeadLetters,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Queues dead letters of a webhook for another delivery. They keep their identifiers, and may arrive after newer events. ${needs} Errors: NOT_FOUND, FORBIDDEN, ${damaged}.`,
    credential: 'service',
    args: {
      id: t.arg.id({ required: true, description: idArgument }),
      eventID: t.arg.id({ description: eventArgument }),
    },
    resolve: (caller, { id, eventID }, { webhooks }) => webhooks.replay(caller, { id, eventID: eventID ?? undefined }),
  }),
);

builder.mutationField('discardKeyWebhookDeadLetters', (t) =>
  t.field({
    type: DiscardedKeyWebhookDeadLetters,
    nullable: true,
    extensions: { isOutsideSubgraph: true },
    description: `Deletes dead letters of a webhook: the receiver never gets these events. ${needs} Errors: NOT_FOUND, FORBIDDEN, ${damaged}.`,
    credential: 'service',
    args: {
      id: t.arg.id({ required: true, description: idArgument }),
      eventID: t.arg.id({ description: eventArgument }),
    },
    resolve: (caller, { id, eventID }, { webhooks }) => webhooks.discard(caller, { id, eventID: eventID ?? undefined }),
  }),
);

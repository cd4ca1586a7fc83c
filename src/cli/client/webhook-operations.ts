import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { hourMs } from '../../lib/overlap.js';
import { printable } from '../../lib/text.js';
import type { Services } from '../../storage/open-storage.js';
import type { Config } from '../../config/config.js';
import { parseReceiverURL, RejectedAddressError } from '../../webhooks/address-policy.js';
import { pingMessage } from '../../webhooks/event.js';
import { createWebhookClient } from '../../webhooks/http-client.js';
import {
  addWebhook,
  changeWebhook,
  notReleased,
  receiverOf,
  rotateWebhook,
  untilReleased,
  webhookNotFound,
  type WebhookInput,
} from '../../webhooks/manage.js';
import { maxReleaseWaitMs } from '../../webhooks/webhook-service.js';
import type { DeliveryStats, Webhook } from '../../webhooks/webhook.js';
import type { OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { createConnection, serviceAddress, serviceCredential, type SendRequest } from './connection.js';
import { serviceURLFrom, withServices } from './open.js';
import { nullable, pageOf, query, readPages } from './responses.js';

/** A webhook as the commands show it. */
export interface ShownWebhook extends Pick<Webhook, 'id' | 'label' | 'orgID' | 'eventTypes' | 'created' | 'paused'> {
  /** The origin of its URL; undefined if the URL cannot be decrypted. */
  readonly receiver: string | undefined;
  readonly retryingKeys: number;
  readonly deadLetters: number;
}

/** All webhooks that can be seen, in the order of their creation. */
export interface ShownWebhooks {
  readonly intact: readonly ShownWebhook[];
  /** Identifiers of those whose rows fail their integrity check. */
  readonly damaged: readonly string[];
}

/** A dead letter as the commands show it. */
export interface ShownDeadLetter {
  readonly eventID: string;
  readonly keyHash: string;
  readonly version: number;
  readonly failedAt: Date | undefined;
  readonly attempts: number;
  readonly lastError: string;
  readonly isReplayed: boolean;
}

/** The result of a test message. */
interface Tested {
  /** Undefined without a response. */
  readonly status: number | undefined;
  readonly isDelivered: boolean;
  readonly description: string;
}

/** The operations of the commands for webhooks, on the data folder or at a service. */
export interface WebhookOperations {
  readonly list: () => Promise<ShownWebhooks>;
  readonly add: (
    webhook: Omit<WebhookInput, 'url'> & { readonly url: string },
  ) => Promise<{ id: string; secret: string }>;
  readonly test: (id: string) => Promise<Tested>;
  /** False if it is paused already. */
  readonly pause: (id: string) => Promise<boolean>;
  /** False if it is active already. */
  readonly resume: (id: string) => Promise<boolean>;
  /** `released` resolves once no process signs with the old secret alone. */
  readonly rotate: (
    id: string,
    overlapMs: number,
  ) => Promise<{ secret: string; until: Date | undefined; released: () => Promise<void> }>;
  readonly remove: (id: string) => Promise<void>;
  /** The oldest first. */
  readonly deadLetters: (id: string, limit: number) => Promise<readonly ShownDeadLetter[]>;
  readonly replay: (id: string, eventID: string | undefined) => Promise<{ count: number; isPaused: boolean }>;
  readonly discard: (id: string, eventID: string | undefined) => Promise<number>;
}

/**
 * Runs a command for webhooks, on the data folder or, with `--url`, at a service.
 *
 * @throws {AppError} when the request is rejected
 * @throws {Error} when the row of the webhook fails its integrity check
 */
export async function runWebhooksCommand(
  { io, options, access }: { readonly io: IO; readonly options: OptionValues; readonly access: 'read' | 'write' },
  work: (webhooks: WebhookOperations) => Promise<number>,
): Promise<number> {
  const url = serviceURLFrom(io, options);
  if (url === undefined) {
    return withServices(io, { access }, (services, { config }) => work(localWebhooks(services, config)));
  }
  const address = serviceAddress(io, options, url, serviceCredential);
  return work(remoteWebhooks(createConnection(io, address, 'keyfront webhooks list')));
}

/** Explains that a webhook is damaged, and what to do. */
export function damagedWebhookMessage(id: string): string {
  return `The row of the webhook ${printable(id)} fails the integrity check. Remove it with \`keyfront webhooks remove ID\`.`;
}

/** Longer than a service waits, which has other requests to serve. */
const pingTimeoutMs = 10_000;

function localWebhooks(services: Services, { webhooksTo: allowed }: Config): WebhookOperations {
  const { webhooks, sealer, now } = services;

  async function find(id: string): Promise<Webhook> {
    const { intact, damaged } = await webhooks.list();
    const webhook = intact.find((candidate) => candidate.id === id);
    if (webhook) return webhook;
    throw damaged.includes(id) ? new Error(damagedWebhookMessage(id)) : webhookNotFound(id);
  }

  /** Pauses or resumes a webhook. Resolves to false if it is paused or active already. */
  async function setPaused(id: string, paused: Webhook['paused']): Promise<boolean> {
    let isChange = false;
    await changeWebhook(webhooks, id, (webhook) => {
      isChange = (webhook.paused === undefined) !== (paused === undefined);
      return isChange ? { ...webhook, paused } : webhook;
    });
    return isChange;
  }

  return {
    async list() {
      const statsByWebhook = new Map((await webhooks.deliveryStats()).map((stats) => [stats.webhookID, stats]));
      const { intact, damaged } = await webhooks.list();
      return { intact: intact.map((webhook) => shownOf(webhook, statsByWebhook.get(webhook.id))), damaged };
    },
    async add({ url, ...webhook }) {
      const added = await addWebhook(services, { ...webhook, url: receiverURL(url) });
      return { id: added.webhook.id, secret: added.secret };
    },
    async test(id) {
      const client = createWebhookClient(await find(id), { allowed, timeoutMs: pingTimeoutMs, sealer });
      try {
        const control = { abort: new AbortController().signal, maySend: () => true };
        const { status, isDelivered, description } = await client.send(pingMessage(id, now()), control);
        return { status: status === 0 ? undefined : status, isDelivered, description };
      } finally {
        client.close();
      }
    },
    pause: (id) => setPaused(id, { at: now(), why: 'by the command line' }),
    resume: (id) => setPaused(id, undefined),
    async rotate(id, overlapMs) {
      const { secret, until } = await rotateWebhook(services, id, overlapMs);
      return {
        secret,
        until: overlapMs === 0 ? undefined : until,
        released: () => untilReleased(webhooks, id),
      };
    },
    async remove(id) {
      if (!(await webhooks.remove(id))) throw webhookNotFound(id);
      await untilReleased(webhooks, id);
    },
    async deadLetters(id, limit) {
      await find(id);
      const letters = await webhooks.deadLetters({ webhookID: id }, limit);
      return letters.map(({ dueMs, ...letter }) => ({ ...letter, isReplayed: dueMs !== undefined }));
    },
    async replay(id, eventID) {
      const { paused } = await find(id);
      // The delivery worker compares due times with the clock of the machine.
      const count = await webhooks.replay({ webhookID: id, eventID }, Date.now());
      return { count, isPaused: paused !== undefined };
    },
    async discard(id, eventID) {
      await find(id);
      const count = await webhooks.discard({ webhookID: id, eventID });
      await untilReleased(webhooks, id);
      return count;
    },
  };

  function shownOf(webhook: Webhook, stats: DeliveryStats | undefined): ShownWebhook {
    const { retryingKeys = 0, deadLetters = 0 } = stats ?? {};
    const { id, label, orgID, eventTypes, created, paused } = webhook;
    const receiver = receiverOf(sealer, webhook);
    return { id, label, orgID, eventTypes, created, paused, receiver, retryingKeys, deadLetters };
  }

  /** Turns a rejected address into a usage error: its message is for the person who typed the URL. */
  function receiverURL(text: string): URL {
    try {
      return parseReceiverURL(text, allowed);
    } catch (error) {
      if (error instanceof RejectedAddressError) throw new UsageError(`Invalid URL: ${error.message}.`);
      throw error;
    }
  }
}

const documents = {
  list: `query Webhooks($after: String) { keyWebhooks(first: 100, after: $after) {
    damagedIDs pageInfo { hasNextPage endCursor } edges { node {
      id label orgID eventTypes receiver createdAt pausedAt pausedReason failingKeys deadLetterCount } } } }`,
  damaged: 'query Damaged { keyWebhooks(first: 0) { damagedIDs } }',
  add: `mutation Add($url: String!, $label: String, $orgID: String, $eventTypes: [String!], $idempotencyKey: String) {
    added: addKeyWebhook(url: $url, label: $label, orgID: $orgID, eventTypes: $eventTypes, idempotencyKey: $idempotencyKey) {
      webhook { id } secret } }`,
  test: 'mutation Test($id: ID!) { tested: testKeyWebhook(id: $id) { isDelivered status failure } }',
  pause: 'mutation Pause($id: ID!) { paused: pauseKeyWebhook(id: $id) { changed isReleased } }',
  resume: 'mutation Resume($id: ID!) { paused: resumeKeyWebhook(id: $id) { changed isReleased } }',
  rotate: `mutation Rotate($id: ID!, $overlapHours: Int!) {
    rotated: rotateKeyWebhook(id: $id, overlapHours: $overlapHours) { secret isReleased webhook { oldSecretUntil } } }`,
  remove: 'mutation Remove($id: ID!) { removed: removeKeyWebhook(id: $id) { isReleased } }',
  deadLetters: `query DeadLetters($id: ID!, $first: Int!, $after: String) { keyWebhook(id: $id) {
    deadLetters(first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { node {
      eventID keyHash version failedAt attempts lastError isReplayed } } } } }`,
  replay: `mutation Replay($id: ID!, $eventID: ID) {
    replayed: replayKeyWebhookDeadLetters(id: $id, eventID: $eventID) { count webhook { pausedAt } } }`,
  discard: `mutation Discard($id: ID!, $eventID: ID) {
    discarded: discardKeyWebhookDeadLetters(id: $id, eventID: $eventID) { count isReleased } }`,
} as const;

const text = nullable(z.string());
const instant = z.iso.datetime().transform((value) => new Date(value));
const time = nullable(instant);
const count = nullable(z.number()).transform((value) => value ?? 0);
const WebhookResponse = z
  .object({
    id: z.string(),
    label: z.string(),
    orgID: text,
    eventTypes: nullable(z.array(z.string())),
    receiver: text,
    createdAt: instant,
    pausedAt: time,
    pausedReason: text,
    failingKeys: count,
    deadLetterCount: count,
  })
  .transform(({ createdAt, pausedAt, pausedReason = '', failingKeys, deadLetterCount, ...rest }): ShownWebhook => ({
    ...rest,
    created: createdAt,
    paused: pausedAt && { at: pausedAt, why: pausedReason },
    retryingKeys: failingKeys,
    deadLetters: deadLetterCount,
  }));
const DeadLetterResponse = z.object({
  eventID: z.string(),
  keyHash: z.string(),
  version: z.number(),
  failedAt: time,
  attempts: z.number(),
  lastError: z.string(),
  isReplayed: z.boolean(),
});
const DamagedResponse = z.object({ keyWebhooks: z.object({ damagedIDs: z.array(z.string()) }) });
const ListResponse = z.object({ keyWebhooks: pageOf(WebhookResponse).and(DamagedResponse.shape.keyWebhooks) });
const AddResponse = z.object({ added: z.object({ webhook: z.object({ id: z.string() }), secret: text }) });
const TestResponse = z.object({
  tested: z.object({ isDelivered: z.boolean(), status: nullable(z.number()), failure: text }),
});
const PauseResponse = z.object({ paused: z.object({ changed: z.boolean(), isReleased: z.boolean() }) });
const RemoveResponse = z.object({ removed: z.object({ isReleased: z.boolean() }) });
const RotateResponse = z.object({
  rotated: z.object({
    secret: z.string(),
    isReleased: z.boolean(),
    webhook: z.object({ oldSecretUntil: time }),
  }),
});
const DeadLettersResponse = z.object({
  keyWebhook: nullable(z.object({ deadLetters: pageOf(DeadLetterResponse) })),
});
const ReplayResponse = z.object({
  replayed: z.object({ count: z.number(), webhook: z.object({ pausedAt: time }) }),
});
const DiscardResponse = z.object({ discarded: z.object({ count: z.number(), isReleased: z.boolean() }) });

/** The maximum size of a page. */
const pageSize = 100;

function remoteWebhooks(send: SendRequest): WebhookOperations {
  const damaged = async () => (await query(send, documents.damaged, {}, DamagedResponse)).keyWebhooks.damagedIDs;

  /** Sends a request for one webhook. A service does not say why it fails for a damaged one. */
  async function request<T>(document: string, variables: { readonly id: string }, schema: z.ZodType<T>): Promise<T> {
    try {
      return await query(send, document, variables, schema);
    } catch (error) {
      const { id } = variables;
      if (errorCodeOf(error) !== 'INTERNAL' || !(await damaged().catch((): readonly string[] => [])).includes(id))
        throw error;
      throw new Error(damagedWebhookMessage(id), { cause: error });
    }
  }

  /** Pauses or resumes a webhook. Resolves to false if it is paused or active already. */
  async function setPaused(document: string, id: string): Promise<boolean> {
    const { paused } = await request(document, { id }, PauseResponse);
    requireReleased(id, paused);
    return paused.changed;
  }

  return {
    async list() {
      let damagedIDs: readonly string[] = [];
      const intact = await readPages(async (after) => {
        const { keyWebhooks } = await query(send, documents.list, { after }, ListResponse);
        ({ damagedIDs } = keyWebhooks);
        return keyWebhooks;
      });
      return { intact, damaged: damagedIDs };
    },
    async add({ eventTypes, ...webhook }) {
      const variables = {
        ...webhook,
        ...(eventTypes.length > 0 && { eventTypes }),
        // The connection repeats a request while the service is unavailable.
        idempotencyKey: randomUUID(),
      };
      const { added } = await query(send, documents.add, variables, AddResponse).catch((error: unknown) => {
        const issue = error instanceof AppError ? error.issues.find(({ path }) => path[0] === 'url') : undefined;
        throw issue ? new UsageError(`Invalid URL: ${issue.message}.`, { cause: error }) : error;
      });
      const { id } = added.webhook;
      if (added.secret !== undefined) return { id, secret: added.secret };
      throw new Error(
        `${id} was added, and the response with its secret was lost. Run: keyfront webhooks rotate ${id} --overlap 0`,
      );
    },
    async test(id) {
      const { status, isDelivered, failure = '' } = (await request(documents.test, { id }, TestResponse)).tested;
      return { status, isDelivered, description: failure };
    },
    pause: (id) => setPaused(documents.pause, id),
    resume: (id) => setPaused(documents.resume, id),
    async rotate(id, overlapMs) {
      const variables = { id, overlapHours: overlapMs / hourMs };
      const { rotated } = await request(documents.rotate, variables, RotateResponse);
      const { secret, webhook } = rotated;
      return {
        secret,
        until: webhook.oldSecretUntil,
        released: () => Promise.resolve().then(() => requireReleased(id, rotated)),
      };
    },
    async remove(id) {
      const { removed } = await request(documents.remove, { id }, RemoveResponse);
      requireReleased(id, removed);
    },
    deadLetters: (id, limit) =>
      readPages(async (after, wanted) => {
        const variables = { id, first: Math.min(wanted, pageSize), after };
        const { keyWebhook } = await request(documents.deadLetters, variables, DeadLettersResponse);
        if (!keyWebhook) throw webhookNotFound(id);
        return keyWebhook.deadLetters;
      }, limit),
    async replay(id, eventID) {
      const { replayed } = await request(
        documents.replay,
        { id, ...(eventID !== undefined && { eventID }) },
        ReplayResponse,
      );
      return { count: replayed.count, isPaused: replayed.webhook.pausedAt !== undefined };
    },
    async discard(id, eventID) {
      const variables = { id, ...(eventID !== undefined && { eventID }) };
      const { discarded } = await request(documents.discard, variables, DiscardResponse);
      requireReleased(id, discarded);
      return discarded.count;
    },
  };
}

/** @throws {AppError} UNAVAILABLE as `untilReleased`. */
function requireReleased(id: string, { isReleased }: { readonly isReleased: boolean }): void {
  if (!isReleased) throw notReleased(id, maxReleaseWaitMs);
}

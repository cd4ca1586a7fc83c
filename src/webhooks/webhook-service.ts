import { canSee, isForeign, otherOrganization, requireScope } from '../keys/authorization.js';
import { withAudit } from '../keys/change.js';
import type { AcceptedAttempt, AuditLog, CallContext } from '../keys/ports.js';
import type { Sealer } from '../crypto/encryption.js';
import { AppError, invalidArgument } from '../lib/errors.js';
import { overlapMsOf } from '../lib/overlap.js';
import { createdID } from '../wire/created-id.js';
import { parseReceiverURL, RejectedAddressError, type AddressKind } from './address-policy.js';
import { pingMessage } from './event.js';
import { createWebhookClient } from './http-client.js';
import {
  addWebhook,
  isReleased,
  receiverOf,
  rotateWebhook,
  webhookNotFound,
  type ManageDeps,
  type WebhookInput,
} from './manage.js';
import { createTestSlots } from './test-slots.js';
import {
  webhookAAD,
  type DeadLetterPosition,
  type Delivery,
  type DeliveryStats,
  type Webhook,
  type WebhookList,
} from './webhook.js';

/** The webhooks that administrators of one organization may have. Those for all organizations count together. */
export const maxWebhooksOfOrganization = 10;

/** The maximum time that a request waits until no process acts on the state before a change, in milliseconds. */
export const maxReleaseWaitMs = 3_000;

/** The maximum time of a test message, in milliseconds. Shorter than the deadline of an operation. */
const testTimeoutMs = 4_000;

/** A webhook to add. */
export interface AddRequest {
  readonly url: string;
  readonly label: string;
  readonly orgID: string | undefined;
  /** Undefined for all types. */
  readonly eventTypes: readonly string[] | undefined;
  readonly idempotencyKey: string | undefined;
}

/** A webhook that was added. */
export interface AddResult {
  readonly webhook: Webhook;
  /** Undefined if the request was repeated: it is shown once. */
  readonly secret: string | undefined;
}

/** A rotation of the secret of a webhook. */
export interface RotateRequest {
  readonly id: string;
  /** How long the old secret signs too, in hours; 0 ends it at once. */
  readonly overlapHours: number;
}

/** A change, after which a process may still act on the state before. */
interface Release {
  /** Whether no process does so any more. */
  readonly isReleased: boolean;
}

/** The result of a pause or its end. */
export interface WebhookChange extends Release {
  readonly webhook: Webhook;
  readonly isChanged: boolean;
}

/** The result of a rotation. */
export interface RotateResult extends Release {
  readonly webhook: Webhook;
  readonly secret: string;
  readonly until: Date;
}

/** The result of a removal. */
export interface RemoveResult extends Release {
  readonly id: string;
  readonly orgID: string | undefined;
}

/** The result of a test message. */
export interface TestResult {
  readonly webhook: Webhook;
  /** The status of the response; 0 without one. */
  readonly status: number;
  readonly isDelivered: boolean;
  /** Without a part of the URL, and without text from the receiver. */
  readonly description: string;
}

/** Dead letters of a webhook: one, or all if `eventID` is undefined. */
export interface DeadLetterRequest {
  readonly id: string;
  readonly eventID: string | undefined;
}

/** The result of a replay. */
export interface ReplayResult extends DeadLetterRequest {
  readonly webhook: Webhook;
  readonly count: number;
}

/** The result of a removal of dead letters. */
export interface DiscardResult extends ReplayResult, Release {}

interface WebhookServiceDeps extends ManageDeps {
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  /** The addresses that receivers may have. */
  readonly allowed: AddressKind;
  readonly audit?: AuditLog | undefined;
}

/** The webhooks as administrators see and change them. */
export type WebhookService = ReturnType<typeof createWebhookService>;

/**
 * Creates the operations of administrators. Each throws FORBIDDEN when the caller does not have the scope `admin`. A caller
 * that is bound to an organization sees and changes only the webhooks of that organization; others look missing. A webhook
 * whose row fails its integrity check belongs to the organization that the row names.
 */
export function createWebhookService(deps: WebhookServiceDeps) {
  const { webhooks, sealer, now, allowed, audit } = deps;
  const tests = createTestSlots();

  async function find(caller: CallContext, id: string): Promise<Webhook | undefined> {
    const { intact, damaged } = await webhooks.list(caller.orgID);
    if (damaged.includes(id)) throw new AppError('INTERNAL', `The row of the webhook ${id} fails its integrity check.`);
    return intact.find((webhook) => webhook.id === id);
  }

  async function requireVisible(caller: CallContext, id: string): Promise<Webhook> {
    const webhook = await find(caller, id);
    if (!webhook) throw webhookNotFound(id);
    return webhook;
  }

  /** Waits for a limited time, and at most until the deadline of the caller. The change is made: no error hides that. */
  async function untilReleased({ deadline }: CallContext, id: string): Promise<boolean> {
    const end = Promise.withResolvers<false>();
    let mayWait = true;
    const stop = () => {
      mayWait = false;
      end.resolve(false);
    };
    const timer = setTimeout(stop, maxReleaseWaitMs);
    const removeListener = deadline?.onExpire(stop);
    try {
      return await Promise.race([isReleased(webhooks, id, () => mayWait).catch(() => false), end.promise]);
    } finally {
      clearTimeout(timer);
      removeListener?.();
    }
  }

  async function change(caller: CallContext, id: string, next: (webhook: Webhook) => Webhook): Promise<WebhookChange> {
    requireScope(caller, 'admin');
    caller.deadline?.throwIfExpired();
    let before: Webhook | undefined;
    const apply = (found: Webhook) => {
      before = found;
      return next(found);
    };
    const webhook = await webhooks.change(id, apply, permitChange(caller, id));
    if (!webhook) throw webhookNotFound(id);
    return { webhook, isChanged: webhook !== before, isReleased: await untilReleased(caller, id) };
  }

  /** What the audit log has of a webhook. */
  function acceptedOf(
    webhook: Webhook,
    more: Readonly<Record<string, string | undefined>> = {},
  ): Pick<AcceptedAttempt, 'orgID' | 'webhook'> {
    const { id, label, orgID, eventTypes } = webhook;
    const texts = {
      id,
      label,
      receiver: receiverOf(sealer, webhook),
      events: eventTypes?.join(',') ?? '(all)',
      ...more,
    };
    return { ...(orgID !== undefined && { orgID }), webhook: texts };
  }

  const audited = { identify: () => undefined } as const;
  const targetOf = ({ id }: { readonly id: string }) => ({ webhookID: id });

  return {
    /** Returns the webhooks in the order of their creation, and the identifiers of those whose rows are damaged. */
    async list(caller: CallContext, orgID: string | undefined): Promise<WebhookList> {
      requireScope(caller, 'admin');
      if (isForeign(caller, orgID)) return { intact: [], damaged: [] };
      return webhooks.list(orgID ?? caller.orgID);
    },

    /**
     * Returns a webhook; undefined if there is none that the caller can see.
     *
     * @throws {AppError} INTERNAL when its row fails the integrity check.
     */
    async find(caller: CallContext, id: string): Promise<Webhook | undefined> {
      requireScope(caller, 'admin');
      return find(caller, id);
    },

    /** Returns the origin of the URL; undefined if the URL cannot be decrypted. */
    receiverOf: (webhook: Webhook) => receiverOf(sealer, webhook),

    /** Returns the counts of webhooks that the caller can see. */
    async statsOf(ids: readonly string[]): Promise<DeliveryStats[]> {
      const found = new Map((await webhooks.deliveryStats(ids)).map((stats) => [stats.webhookID, stats]));
      return ids.map((id) => found.get(id) ?? { webhookID: id, retryingKeys: 0, deadLetters: 0 });
    },

    /** Returns dead letters of a webhook that the caller can see, the oldest first. */
    deadLettersOf: (
      { id }: Webhook,
      { after, limit }: { readonly after: DeadLetterPosition | undefined; readonly limit: number },
    ): Promise<Delivery[]> => webhooks.deadLetters({ webhookID: id }, limit, after),

    /** Returns the failed deliveries of a webhook that the caller can see, in the order of their next attempts. */
    retriesOf: ({ id }: Webhook, limit: number): Promise<Delivery[]> => webhooks.nextDeliveries(id, limit, 'retry'),

    /**
     * Adds a webhook. It sends the history of keys, so the caller needs the scope `read` too. A repeated request with an
     * idempotency key returns the webhook without its secret.
     *
     * @throws {AppError} FORBIDDEN for another organization; INVALID; CONFLICT when there are too many webhooks.
     */
    add: withAudit(audit, {
      ...audited,
      operation: 'addKeyWebhook',
      async run(caller, _, { url, label, orgID: named, eventTypes, idempotencyKey }: AddRequest): Promise<AddResult> {
        requireScope(caller, 'admin');
        requireScope(caller, 'read');
        const orgID = named ?? caller.orgID;
        if (isForeign(caller, orgID)) throw otherOrganization();
        if (eventTypes?.length === 0)
          throw invalidArgument('eventTypes', 'must name a type, or be omitted for all types');
        const input = { url: receiverURL(url, allowed), label, orgID, eventTypes: eventTypes ?? [] };
        const id = createdID('hook_', caller, idempotencyKey);
        caller.deadline?.throwIfExpired();
        const permit = (count: number) => {
          requireRoom(orgID, count);
          caller.deadline?.markCommitting();
        };
        const { webhook, secret, isNew } = await addWebhook(deps, input, { permit, id });
        if (!isNew) requireSameRequest(webhook, sealer.open(webhook.sealedURL, webhookAAD(webhook.id, 'url')), input);
        return { webhook, secret: isNew ? secret : undefined };
      },
      acceptedOf: ({ webhook, secret }) => ({ ...acceptedOf(webhook), isChanged: secret !== undefined }),
    }),

    /**
     * Sends a test message at once, and reports the status of the response.
     *
     * @throws {AppError} NOT_FOUND; CONFLICT when too many test messages are sent.
     */
    test: withAudit(audit, {
      ...audited,
      operation: 'testKeyWebhook',
      targetOf,
      async run(caller, _, { id }: { readonly id: string }): Promise<TestResult> {
        requireScope(caller, 'admin');
        const webhook = await requireVisible(caller, id);
        return tests.run(id, async () => {
          // From here on, the response reports what was sent.
          caller.deadline?.markCommitting();
          const client = createWebhookClient(webhook, { allowed, timeoutMs: testTimeoutMs, sealer });
          const abort = new AbortController();
          const removeListener = caller.deadline?.onExpire(() => abort.abort());
          try {
            const control = { abort: abort.signal, maySend: () => true };
            const { status, isDelivered, description } = await client.send(pingMessage(id, now()), control);
            const isLate = status === 0 && abort.signal.aborted;
            return { webhook, status, isDelivered, description: isLate ? 'no response in time' : description };
          } finally {
            removeListener?.();
            client.close();
          }
        });
      },
      acceptedOf: ({ webhook, description }) => ({ ...acceptedOf(webhook, { result: description }), isChanged: false }),
    }),

    /**
     * Pauses a webhook. One that is paused already stays as it is.
     *
     * @throws {AppError} NOT_FOUND
     */
    pause: withAudit(audit, {
      ...audited,
      operation: 'pauseKeyWebhook',
      targetOf,
      run: async (caller, _, { id }: { readonly id: string }) => {
        const paused = { at: now(), why: 'by the API' };
        return change(caller, id, (webhook) => (webhook.paused ? webhook : { ...webhook, paused }));
      },
      acceptedOf: ({ webhook, isChanged }) => ({ ...acceptedOf(webhook), isChanged }),
    }),

    /**
     * Ends the pause of a webhook, also one by the service.
     *
     * @throws {AppError} NOT_FOUND
     */
    resume: withAudit(audit, {
      ...audited,
      operation: 'resumeKeyWebhook',
      targetOf,
      run: async (caller, _, { id }: { readonly id: string }) =>
        change(caller, id, (webhook) => (webhook.paused ? { ...webhook, paused: undefined } : webhook)),
      acceptedOf: ({ webhook, isChanged }) => ({ ...acceptedOf(webhook), isChanged }),
    }),

    /**
     * Replaces the secret of a webhook.
     *
     * @throws {AppError} NOT_FOUND; INVALID
     */
    rotate: withAudit(audit, {
      ...audited,
      operation: 'rotateKeyWebhook',
      targetOf,
      async run(caller, _, { id, overlapHours }: RotateRequest): Promise<RotateResult> {
        requireScope(caller, 'admin');
        const overlapMs = overlapMsOf(overlapHours);
        caller.deadline?.throwIfExpired();
        const rotated = await rotateWebhook(deps, id, overlapMs, permitChange(caller, id));
        return { ...rotated, isReleased: await untilReleased(caller, id) };
      },
      acceptedOf: ({ webhook, until }) => acceptedOf(webhook, { overlapUntil: until.toISOString() }),
    }),

    /**
     * Removes a webhook with its pending events and dead letters, also one whose row is damaged.
     *
     * @throws {AppError} NOT_FOUND
     */
    remove: withAudit(audit, {
      ...audited,
      operation: 'removeKeyWebhook',
      targetOf,
      async run(caller, _, { id }: { readonly id: string }): Promise<RemoveResult> {
        requireScope(caller, 'admin');
        caller.deadline?.throwIfExpired();
        let orgID: string | undefined;
        const isRemoved = await webhooks.remove(id, (named) => {
          permitChange(caller, id)(named);
          orgID = named;
        });
        if (!isRemoved) throw webhookNotFound(id);
        return { id, orgID, isReleased: await untilReleased(caller, id) };
      },
      acceptedOf: ({ id, orgID }) => ({ ...(orgID !== undefined && { orgID }), webhook: { id } }),
    }),

    /**
     * Queues dead letters for another delivery.
     *
     * @throws {AppError} NOT_FOUND when there is no such webhook.
     */
    replay: withAudit(audit, {
      ...audited,
      operation: 'replayKeyWebhookDeadLetters',
      targetOf,
      async run(caller, _, { id, eventID }: DeadLetterRequest): Promise<ReplayResult> {
        requireScope(caller, 'admin');
        const webhook = await requireVisible(caller, id);
        caller.deadline?.markCommitting();
        // The delivery worker compares due times with the clock of the machine.
        return { id, eventID, webhook, count: await webhooks.replay({ webhookID: id, eventID }, Date.now()) };
      },
      acceptedOf: acceptedOfDeadLetters,
    }),

    /**
     * Deletes dead letters.
     *
     * @throws {AppError} NOT_FOUND when there is no such webhook.
     */
    discard: withAudit(audit, {
      ...audited,
      operation: 'discardKeyWebhookDeadLetters',
      targetOf,
      async run(caller, _, { id, eventID }: DeadLetterRequest): Promise<DiscardResult> {
        requireScope(caller, 'admin');
        const webhook = await requireVisible(caller, id);
        caller.deadline?.markCommitting();
        const count = await webhooks.discard({ webhookID: id, eventID });
        return { id, eventID, webhook, count, isReleased: await untilReleased(caller, id) };
      },
      acceptedOf: acceptedOfDeadLetters,
    }),
  };

  function acceptedOfDeadLetters({ webhook, eventID, count }: ReplayResult): AcceptedAttempt {
    return { ...acceptedOf(webhook, { event: eventID, deadLetters: String(count) }), isChanged: count > 0 };
  }
}

/** Permits the change of a webhook that the caller can see. */
function permitChange(caller: CallContext, id: string): (orgID: string | undefined) => void {
  return (orgID) => {
    if (!canSee(caller, orgID)) throw webhookNotFound(id);
    caller.deadline?.markCommitting();
  };
}

/** @throws {AppError} INVALID when the URL is not valid, or its address is not permitted. */
function receiverURL(text: string, allowed: AddressKind): URL {
  try {
    return parseReceiverURL(text, allowed);
  } catch (error) {
    if (!(error instanceof RejectedAddressError)) throw error;
    const issues = [{ path: ['url'], code: 'MALFORMED_ARGUMENT', message: error.message }];
    throw new AppError('INVALID', `The URL of the receiver is not valid: ${error.message}.`, { issues });
  }
}

function requireRoom(orgID: string | undefined, count: number): void {
  if (count < maxWebhooksOfOrganization) return;
  const owner = orgID === undefined ? 'There are' : 'The organization has';
  const of = orgID === undefined ? ' of all organizations' : '';
  throw new AppError('CONFLICT', `${owner} ${count} webhooks${of}, the maximum: remove one that is not used.`);
}

function requireSameRequest(found: Webhook, foundURL: string, { url, label, orgID, eventTypes }: WebhookInput): void {
  const isSame =
    foundURL === url.href &&
    found.label === label &&
    found.orgID === orgID &&
    namesOf(found.eventTypes ?? []) === namesOf(eventTypes);
  if (!isSame) throw invalidArgument('idempotencyKey', 'was used for another request');
}

const namesOf = (eventTypes: readonly string[]) => [...new Set(eventTypes)].toSorted().join(',');

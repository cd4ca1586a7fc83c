import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Sealer } from '../crypto/encryption.js';
import { AppError } from '../lib/errors.js';
import type { ChangeFeed } from '../keys/change-feed.js';
import { eventTypes as knownTypes } from './event.js';
import { webhookAAD, type Webhook, type WebhookStore } from './webhook.js';
import { createWebhookSecret } from './signature.js';

interface ManageDeps {
  readonly webhooks: WebhookStore;
  readonly feed: Pick<ChangeFeed, 'latestCursor'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly now: () => Date;
}

interface WebhookInput {
  readonly url: URL;
  readonly label: string;
  readonly orgID: string | undefined;
  /** The types of events to receive; empty for all. */
  readonly eventTypes: readonly string[];
}

/**
 * Adds a webhook for all later changes. The secret is returned once and stored sealed.
 *
 * @throws {AppError} INVALID when a text is not well-formed Unicode, or a type of event is unknown; CONFLICT at the maximum number of webhooks.
 */
export async function addWebhook(
  { webhooks, feed, sealer, now }: ManageDeps,
  { url, label, orgID, eventTypes }: WebhookInput,
): Promise<{ webhook: Webhook; secret: string }> {
  if (!label.isWellFormed() || orgID?.isWellFormed() === false) {
    throw new AppError('INVALID', 'The label or the organization contains an unpaired surrogate.');
  }
  const unknown = eventTypes.find((type) => !knownTypes.includes(type));
  if (unknown !== undefined) {
    throw new AppError(
      'INVALID',
      `There is no type of event ${JSON.stringify(unknown)}. The types are ${knownTypes.join(', ')}.`,
    );
  }
  const id = `hook_${randomBytes(8).toString('hex')}`;
  const secret = createWebhookSecret();
  const webhook: Webhook = {
    id,
    label,
    orgID,
    eventTypes: eventTypes.length === 0 ? undefined : knownTypes.filter((type) => eventTypes.includes(type)),
    sealedURL: sealer.seal(url.href, webhookAAD(id, 'url')),
    sealedSecret: sealer.seal(secret, webhookAAD(id, 'secret')),
    previous: undefined,
    created: now(),
    paused: undefined,
  };
  await webhooks.add(webhook, await feed.latestCursor());
  return { webhook, secret };
}

/**
 * Replaces the secret of a webhook. The old secret signs too until the overlap ends. A process may sign with the old secret
 * alone until `untilReleased` resolves.
 *
 * @throws {AppError} NOT_FOUND when the webhook does not exist.
 */
export async function rotateWebhook(
  { webhooks, sealer, now }: Omit<ManageDeps, 'feed'>,
  id: string,
  overlapMs: number,
): Promise<{ secret: string; until: Date }> {
  const secret = createWebhookSecret();
  const sealedSecret = sealer.seal(secret, webhookAAD(id, 'secret'));
  const until = new Date(now().getTime() + overlapMs);
  const changed = await webhooks.change(id, (webhook) => ({
    ...webhook,
    sealedSecret,
    previous: overlapMs === 0 ? undefined : { sealedSecret: webhook.sealedSecret, until },
  }));
  if (!changed) throw webhookNotFound(id);
  return { secret, until };
}

/**
 * Changes a webhook, and resolves once no process acts on the state before.
 *
 * @throws {AppError} NOT_FOUND when the webhook does not exist; UNAVAILABLE as `untilReleased`.
 */
export async function changeWebhook(
  webhooks: WebhookStore,
  id: string,
  change: (webhook: Webhook) => Webhook,
): Promise<void> {
  if (!(await webhooks.change(id, change))) throw webhookNotFound(id);
  await untilReleased(webhooks, id);
}

/** A crashed or hanging process keeps a recalled lease only until it expires. */
const releaseTimeoutMs = 15_000;
const pollIntervalMs = 20;

/**
 * Resolves once no process acts on a state of the webhook from before its last change: no request is in flight that was
 * made from that state, and none will be made.
 *
 * @throws {AppError} UNAVAILABLE when the process that delivers has not confirmed that for 15 seconds.
 */
export async function untilReleased(webhooks: Pick<WebhookStore, 'isRecalled'>, id: string): Promise<void> {
  const endMs = performance.now() + releaseTimeoutMs;
  while (await webhooks.isRecalled(id)) {
    if (performance.now() > endMs) {
      throw new AppError(
        'UNAVAILABLE',
        `The change of ${id} is written, but the process that delivers for it has not confirmed that within ` +
          `${releaseTimeoutMs / 1000} seconds. Until it does, it may send messages as before the change.`,
      );
    }
    await wait(pollIntervalMs);
  }
}

/**
 * Seals the texts of a webhook again, except those that `isCurrent` reports as sealed under the primary key.
 *
 * @throws {AppError} INTERNAL when a text cannot be opened.
 */
export function resealWebhook(
  webhook: Webhook,
  sealer: Pick<Sealer, 'seal' | 'open'>,
  isCurrent: (sealed: Uint8Array) => boolean,
): Webhook {
  const sealAgain = (sealed: Uint8Array, field: 'url' | 'secret') => {
    const aad = webhookAAD(webhook.id, field);
    return isCurrent(sealed) ? sealed : sealer.seal(sealer.open(sealed, aad), aad);
  };
  return {
    ...webhook,
    sealedURL: sealAgain(webhook.sealedURL, 'url'),
    sealedSecret: sealAgain(webhook.sealedSecret, 'secret'),
    previous: webhook.previous && {
      ...webhook.previous,
      sealedSecret: sealAgain(webhook.previous.sealedSecret, 'secret'),
    },
  };
}

/** Returns the sealed texts of a webhook with their associated data. */
export function sealedValuesOf({ id, sealedURL, sealedSecret, previous }: Webhook) {
  return [
    { name: 'URL', sealed: sealedURL, aad: webhookAAD(id, 'url') },
    { name: 'secret', sealed: sealedSecret, aad: webhookAAD(id, 'secret') },
    ...(previous ? [{ name: 'previous secret', sealed: previous.sealedSecret, aad: webhookAAD(id, 'secret') }] : []),
  ] as const;
}

/** Creates the NOT_FOUND error for a webhook. */
export function webhookNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no webhook ${id}.`);
}

import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Sealer } from '../crypto/encryption.js';
import { checkOwner } from '../keys/key-id.js';
import { AppError, errorCodeOf, invalidArgument } from '../lib/errors.js';
import { isStorableText, printable } from '../lib/text.js';
import type { ChangeFeed } from '../keys/change-feed.js';
import { redactedURL } from './address-policy.js';
import { eventTypes as knownTypes } from './event.js';
import { webhookAAD, type PermitChange, type PermitWebhook, type Webhook, type WebhookStore } from './webhook.js';
import { createWebhookSecret } from './signature.js';

/** What the functions of this file work with. */
export interface ManageDeps {
  readonly webhooks: WebhookStore;
  readonly feed: Pick<ChangeFeed, 'latestCursor'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly now: () => Date;
}

/** A webhook to add. */
export interface WebhookInput {
  readonly url: URL;
  readonly label: string;
  readonly orgID: string | undefined;
  /** The types of events to receive; empty for all. */
  readonly eventTypes: readonly string[];
}

/** The maximum length of a label, in characters. */
export const maxLabelCharacters = 200;

/**
 * Adds a webhook for all later changes, unless there is one with its ID. The secret is returned once and stored sealed.
 *
 * @throws {AppError} INVALID when the label, the organization or a type of event is not valid; CONFLICT at the maximum
 * number of webhooks; what `permit` throws.
 */
export async function addWebhook(
  { webhooks, feed, sealer, now }: ManageDeps,
  { url, label, orgID, eventTypes }: WebhookInput,
  {
    permit,
    id = `hook_${randomBytes(8).toString('hex')}`,
  }: { readonly permit?: PermitWebhook; readonly id?: string | undefined } = {},
): Promise<{ webhook: Webhook; secret: string; isNew: boolean }> {
  if (label.length > maxLabelCharacters || !isStorableText(label)) {
    throw invalidArgument('label', `must be well-formed Unicode of at most ${maxLabelCharacters} characters`);
  }
  if (orgID !== undefined) checkOwner(orgID);
  const unknown = eventTypes.findIndex((type) => !knownTypes.includes(type));
  if (unknown !== -1) throw invalidArgument(['eventTypes', unknown], `must be one of ${knownTypes.join(', ')}`);
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
  const stored = await webhooks.add(webhook, await feed.latestCursor(), permit);
  return { webhook: stored, secret, isNew: stored === webhook };
}

/**
 * Replaces the secret of a webhook. The old secret signs too until the overlap ends. A process may sign with the old secret
 * alone until `untilReleased` resolves.
 *
 * @throws {AppError} NOT_FOUND when the webhook does not exist; what `permit` throws.
 */
export async function rotateWebhook(
  { webhooks, sealer, now }: Omit<ManageDeps, 'feed'>,
  id: string,
  overlapMs: number,
  permit?: PermitChange,
): Promise<{ webhook: Webhook; secret: string; until: Date }> {
  const secret = createWebhookSecret();
  const sealedSecret = sealer.seal(secret, webhookAAD(id, 'secret'));
  const until = new Date(now().getTime() + overlapMs);
  const change = (webhook: Webhook) => ({
    ...webhook,
    sealedSecret,
    previous: overlapMs === 0 ? undefined : { sealedSecret: webhook.sealedSecret, until },
  });
  const webhook = await webhooks.change(id, change, permit);
  if (!webhook) throw webhookNotFound(id);
  return { webhook, secret, until };
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
  if (await isReleased(webhooks, id, () => performance.now() <= endMs)) return;
  throw notReleased(id, releaseTimeoutMs);
}

/** Creates the UNAVAILABLE error for a change that is made, after which a process may still act on the state before. */
export function notReleased(id: string, waitedMs: number): AppError {
  return new AppError(
    'UNAVAILABLE',
    `The change of ${id} is written, but the process that delivers for it has not confirmed that within ` +
      `${waitedMs / 1000} seconds. Until it does, it may send messages as before the change.`,
  );
}

/** Waits as `untilReleased`, as long as `mayWait`. Returns false if a process may still act on the state before. */
export async function isReleased(
  webhooks: Pick<WebhookStore, 'isRecalled'>,
  id: string,
  mayWait: () => boolean,
): Promise<boolean> {
  while (await webhooks.isRecalled(id)) {
    if (!mayWait()) return false;
    await wait(pollIntervalMs);
  }
  return true;
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

/** Returns the origin of the URL of a webhook; undefined if the URL cannot be decrypted. */
export function receiverOf(sealer: Pick<Sealer, 'open'>, { id, sealedURL }: Webhook): string | undefined {
  try {
    return redactedURL(new URL(sealer.open(sealedURL, webhookAAD(id, 'url'))));
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return undefined;
  }
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
  return new AppError('NOT_FOUND', `There is no webhook ${printable(id.slice(0, 100))}.`);
}

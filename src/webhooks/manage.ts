import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../lib/errors.js';
import type { ChangeFeed } from '../keys/feed.js';
import { webhookPlace, type Webhook, type WebhookStore } from '../webhook.js';
import { createWebhookSecret } from './signature.js';

interface Keeping {
  readonly webhooks: WebhookStore;
  readonly feed: Pick<ChangeFeed, 'newest'>;
  readonly sealer: { seal(plaintext: string, place: string): Uint8Array };
  readonly now: () => Date;
}

interface Order {
  readonly url: URL;
  readonly label: string;
  readonly orgID: string | undefined;
}

/** Adds a webhook for what is changed from now on. Its secret is in the answer, and nowhere else in clear. */
export async function addWebhook(
  { webhooks, feed, sealer, now }: Keeping,
  { url, label, orgID }: Order,
): Promise<{ webhook: Webhook; secret: string }> {
  if (!label.isWellFormed() || orgID?.isWellFormed() === false) {
    throw new AppError('INVALID', 'A label or an organisation holds half of a surrogate pair.');
  }
  const id = `hook_${randomBytes(8).toString('hex')}`;
  const secret = createWebhookSecret();
  const webhook: Webhook = {
    id,
    label,
    orgID,
    sealedURL: sealer.seal(url.href, webhookPlace(id, 'url')),
    sealedSecret: sealer.seal(secret, webhookPlace(id, 'secret')),
    previous: undefined,
    created: now(),
    paused: undefined,
  };
  await webhooks.add(webhook, await feed.newest());
  return { webhook, secret };
}

/**
 * Gives a webhook a new secret; the old one signs beside it for the overlap. A process may go on with the old secret alone
 * until `untilReleased` resolves.
 *
 * @throws {AppError} NOT_FOUND
 */
export async function rotateWebhook(
  { webhooks, sealer, now }: Omit<Keeping, 'feed'>,
  id: string,
  overlapMs: number,
): Promise<{ secret: string; until: Date }> {
  const secret = createWebhookSecret();
  const sealedSecret = sealer.seal(secret, webhookPlace(id, 'secret'));
  const until = new Date(now().getTime() + overlapMs);
  const changed = await webhooks.change(id, (webhook) => ({
    ...webhook,
    sealedSecret,
    previous: overlapMs === 0 ? undefined : { sealedSecret: webhook.sealedSecret, until },
  }));
  if (!changed) throw notThere(id);
  return { secret, until };
}

/**
 * Changes a webhook, and resolves once no process acts on the state before.
 *
 * @throws {AppError} NOT_FOUND; UNAVAILABLE as `untilReleased`
 */
export async function changeWebhook(
  webhooks: WebhookStore,
  id: string,
  change: (webhook: Webhook) => Webhook,
): Promise<void> {
  if (!(await webhooks.change(id, change))) throw notThere(id);
  await untilReleased(webhooks, id);
}

/** A recalled lease cannot be renewed, so that a process that is gone, or hangs, keeps it for a few seconds at most. */
const releaseWithinMs = 15_000;
const askEveryMs = 20;

/**
 * Resolves once no process acts on a state of the webhook from before its last change: no request is in flight that was
 * made from that state, and none will be made.
 *
 * @throws {AppError} UNAVAILABLE if the process that delivers has not confirmed that for 15 seconds
 */
export async function untilReleased(webhooks: Pick<WebhookStore, 'isRecalled'>, id: string): Promise<void> {
  const endMs = performance.now() + releaseWithinMs;
  while (await webhooks.isRecalled(id)) {
    if (performance.now() > endMs) {
      throw new AppError(
        'UNAVAILABLE',
        `The change of ${id} is written, but the process that delivers for it has not confirmed that within ` +
          `${releaseWithinMs / 1000} seconds. Until it does, it may send messages as before the change.`,
      );
    }
    await wait(askEveryMs);
  }
}

/** Seals what is sealed in a webhook anew, where `isCurrent` says that it is not sealed under the active key. */
export function resealedWebhook(
  webhook: Webhook,
  sealer: { seal(plaintext: string, place: string): Uint8Array; open(sealed: Uint8Array, place: string): string },
  isCurrent: (sealed: Uint8Array) => boolean,
): Webhook {
  const again = (sealed: Uint8Array, what: 'url' | 'secret') => {
    const place = webhookPlace(webhook.id, what);
    return isCurrent(sealed) ? sealed : sealer.seal(sealer.open(sealed, place), place);
  };
  return {
    ...webhook,
    sealedURL: again(webhook.sealedURL, 'url'),
    sealedSecret: again(webhook.sealedSecret, 'secret'),
    previous: webhook.previous && {
      ...webhook.previous,
      sealedSecret: again(webhook.previous.sealedSecret, 'secret'),
    },
  };
}

/** All that is sealed in a webhook, with the places it is sealed for. */
export function sealedInWebhook({ id, sealedURL, sealedSecret, previous }: Webhook) {
  return [
    { name: 'URL', sealed: sealedURL, place: webhookPlace(id, 'url') },
    { name: 'secret', sealed: sealedSecret, place: webhookPlace(id, 'secret') },
    ...(previous
      ? [{ name: 'previous secret', sealed: previous.sealedSecret, place: webhookPlace(id, 'secret') }]
      : []),
  ] as const;
}

export function notThere(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no webhook ${id}.`);
}

import { version } from '../lib/version.js';
import { webhookAAD, type Webhook } from './webhook.js';
import type { WebhookMessage } from './event.js';
import type { AttemptControl } from './http-client.js';
import { createWebhookClient, type AttemptOutcome } from './http-client.js';
import { signedHeaders } from './signature.js';
import type { AddressKind } from './address-policy.js';

/** Signs a message and sends it once. Never throws. */
export interface SignedSender {
  (message: WebhookMessage, control: AttemptControl): Promise<AttemptOutcome>;
  readonly close: () => void;
}

/** Limits and functions of a sender. */
export interface SignedSenderOptions {
  readonly allowed: AddressKind;
  readonly timeoutMs: number;
  readonly clockMs: () => number;
  /** Decrypts a sealed text. `aad` is its associated data. */
  readonly open: (sealed: Uint8Array, aad: string) => string;
}

/**
 * Creates the sender of one webhook.
 *
 * @throws {AppError} INTERNAL when the URL or a secret cannot be decrypted.
 */
export function createSignedSender(
  webhook: Webhook,
  { allowed, timeoutMs, clockMs, open }: SignedSenderOptions,
): SignedSender {
  const { id, previous } = webhook;
  const url = new URL(open(webhook.sealedURL, webhookAAD(id, 'url')));
  const secret = open(webhook.sealedSecret, webhookAAD(id, 'secret'));
  const older = previous && { secret: open(previous.sealedSecret, webhookAAD(id, 'secret')), until: previous.until };
  const sender = createWebhookClient(url, { allowed, timeoutMs, userAgent: `Keyfront/${version}` });
  const signAndSend = ({ id: eventID, body }: WebhookMessage, control: AttemptControl) => {
    const nowMs = clockMs();
    const secrets = older && older.until.getTime() > nowMs ? [secret, older.secret] : [secret];
    const head = { id: eventID, timestamp: Math.floor(nowMs / 1000) };
    return sender.send(signedHeaders(secrets, head, body), body, control);
  };
  return Object.assign(signAndSend, { close: sender.close });
}

import { createHmac, randomBytes } from 'node:crypto';
import { version } from '../lib/version.js';
import type { WebhookMessage } from './event.js';
import {
  createWebhookClient,
  type AttemptControl,
  type AttemptOutcome,
  type WebhookClientOptions,
} from './http-client.js';
import { webhookAAD, type Webhook } from './webhook.js';

const prefix = 'whsec_';
/** Standard Webhooks requires 24 to 64. */
const secretBytes = 32;

/** Creates a secret in the format of the Standard Webhooks libraries. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`;
}

/**
 * Returns the headers of a message by Standard Webhooks 1.0.0: an HMAC-SHA256 over `id.timestamp.body` with each secret. `id` and
 * `timestamp` contain no full stop.
 *
 * @param timestamp Unix seconds of this attempt
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, body }: WebhookMessage,
  timestamp: number,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}

/** Signs messages and sends them to one webhook. */
export interface SignedSender {
  /** Sends a message once. Never throws. */
  readonly send: (message: WebhookMessage, control: AttemptControl) => Promise<AttemptOutcome>;
  readonly close: () => void;
}

/** Limits and functions of a sender. */
export interface SignedSenderOptions extends Omit<WebhookClientOptions, 'userAgent'> {
  /** Decrypts a sealed text. `aad` is its associated data. */
  readonly open: (sealed: Uint8Array, aad: string) => string;
}

/**
 * Creates the sender of one webhook.
 *
 * @throws {AppError} INTERNAL when the URL or a secret cannot be decrypted.
 */
export function createSignedSender(
  { id, sealedURL, sealedSecret, previous }: Webhook,
  { allowed, timeoutMs, open }: SignedSenderOptions,
): SignedSender {
  const url = new URL(open(sealedURL, webhookAAD(id, 'url')));
  const secret = open(sealedSecret, webhookAAD(id, 'secret'));
  const older = previous && { secret: open(previous.sealedSecret, webhookAAD(id, 'secret')), until: previous.until };
  const client = createWebhookClient(url, { allowed, timeoutMs, userAgent: `Keyfront/${version}` });
  return {
    send(message, control) {
      const nowMs = Date.now();
      const secrets = older && older.until.getTime() > nowMs ? [secret, older.secret] : [secret];
      return client.send(signedHeaders(secrets, message, Math.floor(nowMs / 1000)), message.body, control);
    },
    close: client.close,
  };
}

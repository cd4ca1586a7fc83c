import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookMessage } from './event.js';

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
 * @param timestamp - Unix seconds of this attempt
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

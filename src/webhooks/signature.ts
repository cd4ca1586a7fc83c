import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
/** Standard Webhooks requires 24 to 64. */
const secretBytes = 32;

/** Creates a secret in the format of the Standard Webhooks libraries. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** Signed metadata of a message. */
export interface MessageMetadata {
  readonly id: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
}

/**
 * Returns the headers of a message by Standard Webhooks 1.0.0: an HMAC-SHA256 over `id.timestamp.body` with each secret. `id` and
 * `timestamp` contain no full stop.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, timestamp }: MessageMetadata,
  body: string,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}

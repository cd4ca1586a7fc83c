import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
/** The specification asks for 24 to 64. */
const secretBytes = 32;

/** A new secret, in the form in which the libraries of Standard Webhooks take it. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`;
}

/** What a message says beside its body. */
export interface MessageHead {
  readonly id: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
}

/**
 * The headers of a message as Standard Webhooks 1.0.0 has them: an HMAC-SHA256 over `id.timestamp.body` under each of the
 * secrets. `id` and `timestamp` hold no full stop.
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, timestamp }: MessageHead,
  body: string,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}

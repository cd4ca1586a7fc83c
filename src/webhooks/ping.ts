import { randomBytes } from 'node:crypto';
import { stringifyJSON } from '../lib/json.js';
import type { WebhookMessage } from './message.js';

/** A message about nothing, by which somebody can try a receiver. */
export function pingMessage(webhookID: string, now: Date): WebhookMessage {
  const id = `ping_${randomBytes(16).toString('hex')}`;
  const body = stringifyJSON({
    type: 'webhook.ping',
    timestamp: now.toISOString(),
    data: { id, webhook_id: webhookID },
  });
  return { id, body };
}

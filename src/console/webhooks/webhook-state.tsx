import { webhooksText as texts } from './strings.js';
import type { Webhook } from './read-webhooks.js';

/** Whether a webhook delivers: paused, failing or active. */
export function WebhookState({ pausedAt, failingKeys, deadLetterCount, receiver }: Webhook) {
  if (pausedAt !== null) return <span class="state off">{texts.paused}</span>;
  const isFailing = receiver === null || (failingKeys ?? 0) > 0 || (deadLetterCount ?? 0) > 0;
  return <span class={isFailing ? 'state bad' : 'state ok'}>{isFailing ? texts.failing : texts.active}</span>;
}

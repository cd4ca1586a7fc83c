import { printable } from '../../../lib/text.js';
import type { Services } from '../../../storage/open-storage.js';
import { webhookNotFound } from '../../../webhooks/manage.js';
import type { Webhook } from '../../../webhooks/webhook.js';
import type { Option } from '../../command.js';

/** Exit codes of the commands that take the ID of a webhook. */
export const webhookExitCodes = { 1: 'there is no such webhook' } as const;

/** Exit codes of the commands that take a dead letter. */
export const deadLetterExitCodes = { 1: 'there is no such webhook, or no such dead letter' } as const;

/** The option that selects one dead letter. */
export const eventOption: Option = {
  value: 'ID',
  description: 'Select the dead letter with this event ID (default: all of the webhook)',
};

/**
 * Finds a webhook by its ID.
 *
 * @throws {AppError} NOT_FOUND
 * @throws {Error} if its row fails the integrity check
 */
export async function findWebhook({ webhooks }: Services, id: string): Promise<Webhook> {
  const { intact, damaged } = await webhooks.list();
  const webhook = intact.find((candidate) => candidate.id === id);
  if (webhook) return webhook;
  throw damaged.includes(id) ? new Error(damagedWebhookMessage(id)) : webhookNotFound(id);
}

/** Explains that a webhook is damaged, and what to do. */
export function damagedWebhookMessage(id: string): string {
  return `The row of the webhook ${printable(id)} fails the integrity check. Remove it with \`keyfront webhooks remove ID\`.`;
}

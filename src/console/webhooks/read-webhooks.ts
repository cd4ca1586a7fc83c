import {
  KeyWebhookDocument,
  KeyWebhooksDocument,
  RotateKeyWebhookDocument,
  type Client,
  type KeyWebhookQuery,
  type KeyWebhooksQueryVariables,
  type WebhookFieldsFragment,
} from '../../client/client.js';
import { nodesOf, required, type NodeOf } from '../results.js';
import { webhooksText } from './strings.js';

/** A webhook of the list. */
export type Webhook = WebhookFieldsFragment;

/** A webhook with the deliveries that fail and a page of its dead letters. */
export type WebhookDetails = NonNullable<KeyWebhookQuery['keyWebhook']>;

/** A delivery that is tried again. */
export type Retry = NonNullable<WebhookDetails['retries']>[number];

/** An event that was given up. */
export type DeadLetter = NodeOf<WebhookDetails['deadLetters']>;

/** Reads a page of webhooks, the oldest first. */
export async function readWebhooks(client: Client, variables: KeyWebhooksQueryVariables, signal: AbortSignal) {
  const { data, errors } = await client.send(KeyWebhooksDocument, variables, { signal });
  const connection = required(data.keyWebhooks, errors, webhooksText.notFound);
  const { pageInfo, damagedIDs } = connection;
  return { webhooks: nodesOf(connection), pageInfo, damagedIDs };
}

/** How many dead letters a page shows. */
const pageSize = 20;

/** Reads a webhook, and a page of its dead letters, the oldest first. */
export async function readWebhook(client: Client, id: string, after: string | null, signal: AbortSignal) {
  const { data, errors } = await client.send(KeyWebhookDocument, { id, first: pageSize, after }, { signal });
  const webhook = required(data.keyWebhook, errors, webhooksText.notFound);
  // A part that cannot be read is null: the others are shown.
  return { webhook, problem: errors[0] };
}

/** Replaces the signing secret, and returns the new one. */
export async function rotate(client: Client, id: string, overlapHours: number) {
  const { data, errors } = await client.send(RotateKeyWebhookDocument, { id, overlapHours });
  return required(data.rotateKeyWebhook, errors, webhooksText.notFound);
}

/** The name of a webhook for people. */
export function nameOfWebhook({ label, receiver, id }: Pick<Webhook, 'label' | 'receiver' | 'id'>): string {
  return label || (receiver ?? webhooksText.unnamed(id));
}

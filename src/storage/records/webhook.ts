import type { Delivery, Webhook } from '../../webhooks/webhook.js';
import { dateOf, defineTable, millisecondsOf, type Columns, type RowOf } from './signed.js';

const columns = {
  id: 'text',
  label: 'text',
  org_id: 'text?',
  sealed_url: 'bytes',
  sealed_secret: 'bytes',
  previous_secret: 'bytes?',
  previous_until: 'integer?',
  created: 'integer',
  paused: 'integer?',
  paused_why: 'text?',
} as const satisfies Columns;

/** The columns of a webhook that receives some types of events. */
const filteredColumns = { ...columns, event_types: 'text?' } as const satisfies Columns;

/** A webhook row. */
export type WebhookRow = RowOf<typeof filteredColumns>;

/** The table of webhooks. */
export const webhookTable = defineTable<WebhookRow>('webhooks', columns, filteredColumns);

/** Returns the webhook of a row that passed its integrity check. */
export function webhookFromRow(row: WebhookRow): Webhook {
  const { previous_secret: previousSecret, previous_until: until, paused } = row;
  return {
    id: row.id,
    label: row.label,
    orgID: row.org_id ?? undefined,
    eventTypes: row.event_types?.split(','),
    sealedURL: row.sealed_url,
    sealedSecret: row.sealed_secret,
    previous:
      previousSecret === null || until === null
        ? undefined
        : { sealedSecret: previousSecret, until: new Date(Number(until)) },
    created: new Date(Number(row.created)),
    paused: paused === null ? undefined : { at: new Date(Number(paused)), why: row.paused_why ?? '' },
  };
}

/** Returns the row of a webhook. */
export function webhookToRow(webhook: Webhook): WebhookRow {
  const { previous, paused } = webhook;
  return {
    id: webhook.id,
    label: webhook.label,
    org_id: webhook.orgID ?? null,
    event_types: webhook.eventTypes?.join(',') ?? null,
    sealed_url: webhook.sealedURL,
    sealed_secret: webhook.sealedSecret,
    previous_secret: previous?.sealedSecret ?? null,
    previous_until: millisecondsOf(previous?.until),
    created: BigInt(webhook.created.getTime()),
    paused: millisecondsOf(paused?.at),
    paused_why: paused?.why ?? null,
  };
}

/** The columns of a delivery. The first three are its primary key. */
export const deliveryColumns = {
  webhook_id: 'text',
  key_hash: 'text',
  event_id: 'text',
  state: 'text',
  version: 'integer',
  last_version: 'integer',
  attempts: 'integer',
  due: 'integer?',
  failed_at: 'integer?',
  last_error: 'text',
} as const satisfies Columns;

/** A row of `webhook_deliveries`. */
export type DeliveryRow = RowOf<typeof deliveryColumns> & { state: Delivery['state'] };

/** Returns the delivery of a row. */
export function deliveryFromRow(row: DeliveryRow): Delivery {
  return {
    state: row.state,
    keyHash: row.key_hash,
    eventID: row.event_id,
    version: Number(row.version),
    lastVersion: Number(row.last_version),
    attempts: Number(row.attempts),
    dueMs: row.due === null ? undefined : Number(row.due),
    failedAt: dateOf(row.failed_at),
    lastError: row.last_error,
  };
}

/** Returns the row of a delivery. */
export function deliveryToRow(webhookID: string, delivery: Delivery): DeliveryRow {
  const { dueMs, failedAt } = delivery;
  return {
    webhook_id: webhookID,
    key_hash: delivery.keyHash,
    event_id: delivery.eventID,
    state: delivery.state,
    version: BigInt(delivery.version),
    last_version: BigInt(delivery.lastVersion),
    attempts: BigInt(delivery.attempts),
    due: dueMs === undefined ? null : BigInt(dueMs),
    failed_at: millisecondsOf(failedAt),
    last_error: delivery.lastError,
  };
}

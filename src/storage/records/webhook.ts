import type { Delivery, Webhook } from '../../webhooks/webhook.js';
import type { Layouts } from './signed.js';

/** A webhook as every engine keeps it. */
export interface WebhookRow {
  id: string;
  label: string;
  org_id: string | null;
  sealed_url: Uint8Array;
  sealed_secret: Uint8Array;
  previous_secret: Uint8Array | null;
  previous_until: bigint | null;
  created: bigint;
  paused: bigint | null;
  paused_why: string | null;
}

/** All of a webhook but its signature, which is made over these. */
export const webhookColumns = [
  'id',
  'label',
  'org_id',
  'sealed_url',
  'sealed_secret',
  'previous_secret',
  'previous_until',
  'created',
  'paused',
  'paused_why',
] as const satisfies readonly (keyof WebhookRow)[];

/** The layouts that rows of webhooks were signed with, the newest last. */
export const webhookLayouts: Layouts<WebhookRow> = [webhookColumns];

/** Returns the webhook of a row that passed its integrity check. */
export function webhookFromRow(row: WebhookRow): Webhook {
  const { previous_secret: previousSecret, previous_until: until, paused } = row;
  return {
    id: row.id,
    label: row.label,
    orgID: row.org_id ?? undefined,
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
    sealed_url: webhook.sealedURL,
    sealed_secret: webhook.sealedSecret,
    previous_secret: previous?.sealedSecret ?? null,
    previous_until: previous ? BigInt(previous.until.getTime()) : null,
    created: BigInt(webhook.created.getTime()),
    paused: paused ? BigInt(paused.at.getTime()) : null,
    paused_why: paused?.why ?? null,
  };
}

/** A row of `webhook_deliveries`. */
export interface DeliveryRow {
  webhook_id: string;
  key_hash: string;
  event_id: string;
  state: 'pending' | 'dead';
  version: bigint;
  last_version: bigint;
  attempts: bigint;
  due: bigint | null;
  failed_at: bigint | null;
  last_error: string;
}

/** The columns of a delivery. The first three are its primary key. */
export const deliveryColumns = [
  'webhook_id',
  'key_hash',
  'event_id',
  'state',
  'version',
  'last_version',
  'attempts',
  'due',
  'failed_at',
  'last_error',
] as const satisfies readonly (keyof DeliveryRow)[];

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
    failedAt: row.failed_at === null ? undefined : new Date(Number(row.failed_at)),
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
    failed_at: failedAt === undefined ? null : BigInt(failedAt.getTime()),
    last_error: delivery.lastError,
  };
}

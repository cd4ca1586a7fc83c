import type { DeadLetter, RetryState, Webhook } from '../../webhooks/webhook.js';
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

/** A row of the keys whose deliveries are retried. */
export interface RetryStateRow {
  webhook_id: string;
  key_hash: string;
  next_version: bigint;
  last_version: bigint;
  attempts: bigint;
  due: bigint;
  why: string;
}

/** The columns of a retry state. */
export const retryStateColumns = [
  'webhook_id',
  'key_hash',
  'next_version',
  'last_version',
  'attempts',
  'due',
  'why',
] as const satisfies readonly (keyof RetryStateRow)[];

/** Returns the retry state of a row. */
export function retryStateFromRow(row: RetryStateRow): RetryState {
  return {
    keyHash: row.key_hash,
    nextVersion: Number(row.next_version),
    lastVersion: Number(row.last_version),
    attempts: Number(row.attempts),
    dueMs: Number(row.due),
    lastError: row.why,
  };
}

/** Returns the row of a retry state. */
export function retryStateToRow(webhookID: string, key: RetryState): RetryStateRow {
  return {
    webhook_id: webhookID,
    key_hash: key.keyHash,
    next_version: BigInt(key.nextVersion),
    last_version: BigInt(key.lastVersion),
    attempts: BigInt(key.attempts),
    due: BigInt(key.dueMs),
    why: key.lastError,
  };
}

/** A row of the dead letters. */
export interface DeadRow {
  webhook_id: string;
  event_id: string;
  key_hash: string;
  version: bigint;
  died: bigint;
  attempts: bigint;
  why: string;
  due: bigint | null;
}

/** The columns of a dead letter. */
export const deadColumns = [
  'webhook_id',
  'event_id',
  'key_hash',
  'version',
  'died',
  'attempts',
  'why',
  'due',
] as const satisfies readonly (keyof DeadRow)[];

/** Returns the dead letter of a row. */
export function deadLetterFromRow(row: DeadRow): DeadLetter {
  return {
    eventID: row.event_id,
    webhookID: row.webhook_id,
    keyHash: row.key_hash,
    version: Number(row.version),
    diedAt: new Date(Number(row.died)),
    attempts: Number(row.attempts),
    lastError: row.why,
    dueMs: row.due === null ? undefined : Number(row.due),
  };
}

/** Returns the row of a dead letter. */
export function deadLetterToRow(letter: DeadLetter): DeadRow {
  return {
    webhook_id: letter.webhookID,
    event_id: letter.eventID,
    key_hash: letter.keyHash,
    version: BigInt(letter.version),
    died: BigInt(letter.diedAt.getTime()),
    attempts: BigInt(letter.attempts),
    why: letter.lastError,
    due: letter.dueMs === undefined ? null : BigInt(letter.dueMs),
  };
}

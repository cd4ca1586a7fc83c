import { deliveryColumns, webhookColumns } from '../records/webhook.js';
import type { Dialect } from './dialect.js';
import { insertInto, prepared, updateByID } from './session.js';

/**
 * Precedes the holder of a lease that was recalled: a command has changed the webhook, and the holder may still act on
 * the state before. Such a lease cannot be renewed; it ends when its holder releases it or when it expires.
 */
export const recalled = 'recalled ';

/** The columns of a webhook and its MAC. */
export const signedWebhookColumns = [...webhookColumns, 'mac'] as const;
/** The dead letter `$2`, or all if it is NULL. */
const isSelected = `webhook_id = $1 AND state = 'dead' AND (CAST($2 AS text) IS NULL OR event_id = $2)`;
/** The delivery as it was read: it may have been discarded, or its key purged and created again. */
const isSameDelivery = 'webhook_id = $1 AND key_hash = $2 AND event_id = $3 AND version = $4';
const nextDeliveries = (condition: string) =>
  prepared(
    `SELECT * FROM webhook_deliveries WHERE webhook_id = $1 AND due IS NOT NULL ${condition} ORDER BY due LIMIT $2`,
  );
/** Versions that do not follow those in the table are of a key that was created again after a purge. */
const ifFollowing = (column: string) =>
  `${column} = CASE WHEN excluded.version > webhook_deliveries.last_version THEN webhook_deliveries.${column} ELSE excluded.${column} END`;

/** The statements of the webhook store. `$1` is the webhook, except where the statement has another. */
export function webhookStatements({ name, nowMs, inList, forUpdate, historySpans }: Dialect) {
  const isHeldBy = `holder IN ($2, '${recalled}' || CAST($2 AS text))`;
  return {
    lockTable: name === 'postgres' ? prepared('LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE') : undefined,
    count: prepared('SELECT count(*) AS count FROM webhooks'),
    insert: prepared(insertInto('webhooks', signedWebhookColumns)),
    insertProgress: prepared('INSERT INTO webhook_progress (webhook_id, cursor, held_until) VALUES ($1, $2, 0)'),
    all: prepared('SELECT * FROM webhooks ORDER BY created, id'),
    byIDs: prepared(`SELECT * FROM webhooks WHERE id ${inList('$1', 'text')}`),
    byIDForUpdate: prepared(`SELECT * FROM webhooks WHERE id = $1 ${forUpdate}`),
    replace: prepared(updateByID('webhooks', signedWebhookColumns)),
    remove: prepared('DELETE FROM webhooks WHERE id = $1 RETURNING id'),
    removeDeliveries: prepared('DELETE FROM webhook_deliveries WHERE webhook_id = $1'),
    // No condition on the lease, so that it waits for a process that is acquiring the lease, and recalls it then.
    recall: prepared(
      `UPDATE webhook_progress SET holder = CASE
         WHEN held_until > ${nowMs} AND holder NOT LIKE '${recalled}%' THEN '${recalled}' || holder ELSE holder END
       WHERE webhook_id = $1`,
    ),
    isRecalled: prepared(
      `SELECT 1 FROM webhook_progress WHERE webhook_id = $1 AND held_until > ${nowMs} AND holder LIKE '${recalled}%'`,
    ),
    releaseRecalled: prepared(
      `UPDATE webhook_progress SET held_until = 0
       WHERE webhook_id = $1 AND holder = '${recalled}' || CAST($2 AS text)`,
    ),
    // The row of a removed webhook stays until its lease has ended.
    dropProgress: prepared(
      `DELETE FROM webhook_progress WHERE held_until <= ${nowMs} AND webhook_id NOT IN (SELECT id FROM webhooks)`,
    ),
    lockProgress: prepared(`SELECT webhook_id FROM webhook_progress WHERE webhook_id = $1 ${forUpdate}`),
    leases: prepared(
      `SELECT w.*, p.cursor, p.holder, p.held_until - ${nowMs} AS remaining_ms
       FROM webhooks w JOIN webhook_progress p ON p.webhook_id = w.id ORDER BY w.created, w.id`,
    ),
    /** `$1` is a list of webhooks. */
    acquire: prepared(
      `UPDATE webhook_progress SET holder = $2, held_until = ${nowMs} + $3
       WHERE webhook_id ${inList('$1', 'text')} AND (holder = $2 OR held_until <= ${nowMs})
       RETURNING webhook_id, cursor`,
    ),
    /** `$1` is the holder. */
    releaseLeases: prepared(
      `UPDATE webhook_progress SET held_until = 0
       WHERE holder IN ($1, '${recalled}' || CAST($1 AS text)) AND held_until > 0`,
    ),
    hasLease: prepared(
      `SELECT 1 FROM webhook_progress WHERE webhook_id = $1 AND holder = $2 AND held_until > ${nowMs}`,
    ),
    // Locks the row until the results are written: a process that acquires the lease waits for it.
    saveCursor: prepared(
      `UPDATE webhook_progress SET cursor = coalesce($3, cursor)
       WHERE webhook_id = $1 AND ${isHeldBy} AND held_until > ${nowMs}
         AND EXISTS (SELECT 1 FROM webhooks WHERE id = $1) RETURNING webhook_id`,
    ),
    deliveryStats: prepared(
      `SELECT id,
         (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = id AND state = 'pending' AND attempts > 0) AS failing,
         (SELECT count(*) FROM webhook_deliveries WHERE webhook_id = id AND state = 'dead') AS dead FROM webhooks`,
    ),
    nextDeliveries: {
      any: nextDeliveries(''),
      first: nextDeliveries(`AND attempts = 0 AND state = 'pending'`),
      retry: nextDeliveries(`AND (attempts > 0 OR state = 'dead')`),
    },
    /** `$2` is a list of spans. */
    enqueue: prepared(
      `INSERT INTO webhook_deliveries (${deliveryColumns.join(', ')})
       SELECT CAST($1 AS text), hash, '', 'pending', first, newest, 0, CAST($3 AS bigint), NULL, ''
       FROM ${historySpans('$2')} AS spans WHERE true
       ON CONFLICT (webhook_id, key_hash, event_id) DO UPDATE SET last_version = excluded.last_version,
         ${['version', 'attempts', 'due', 'failed_at', 'last_error'].map(ifFollowing).join(', ')}`,
    ),
    completeLast: prepared(`DELETE FROM webhook_deliveries WHERE ${isSameDelivery} AND last_version = version`),
    advance: prepared(
      `UPDATE webhook_deliveries SET version = version + 1, attempts = 0, due = $5, failed_at = NULL, last_error = ''
       WHERE ${isSameDelivery}`,
    ),
    recordFailure: prepared(
      `UPDATE webhook_deliveries SET attempts = $5, due = $6, failed_at = $7, last_error = $8 WHERE ${isSameDelivery}`,
    ),
    removeDelivery: prepared(`DELETE FROM webhook_deliveries WHERE ${isSameDelivery}`),
    insertDead: prepared(`${insertInto('webhook_deliveries', deliveryColumns)} ON CONFLICT DO NOTHING`),
    retryAll: prepared('UPDATE webhook_deliveries SET due = $2 WHERE webhook_id = $1 AND due > $2'),
    deadLetters: prepared(`SELECT * FROM webhook_deliveries WHERE ${isSelected} ORDER BY failed_at, event_id LIMIT $3`),
    replay: prepared(
      `UPDATE webhook_deliveries SET due = $3, attempts = 0 WHERE ${isSelected} AND due IS NULL RETURNING event_id`,
    ),
    discard: prepared(`DELETE FROM webhook_deliveries WHERE ${isSelected} RETURNING event_id`),
  };
}

import { deadColumns, retryStateColumns, webhookColumns } from '../records/webhook.js';
import type { Dialect } from './dialect.js';
import { insertInto, prepared, updateByID } from './session.js';

/**
 * Precedes the holder of a lease that was recalled: a command has changed the webhook, and the holder may still act on
 * the state before. Such a lease cannot be renewed; it ends when its holder releases it or when it expires.
 */
export const recalled = 'recalled ';

/** The columns of a webhook and its MAC. */
export const signedWebhookColumns = [...webhookColumns, 'mac'] as const;
const matchesFilter = 'webhook_id = $1 AND (CAST($2 AS text) IS NULL OR event_id = $2)';
const updateFrom = (names: readonly string[]) => names.map((name) => `${name} = excluded.${name}`).join(', ');

/** The statements of the webhook store. `$1` is the webhook, except where the statement has another. */
export function webhookStatements({ name, nowMs, inList, forUpdate }: Dialect) {
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
    removeDeliveries: ['webhook_failing', 'webhook_dead'].map((table) =>
      prepared(`DELETE FROM ${table} WHERE webhook_id = $1`),
    ),
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
    // Locks the row until the settlement is written: a process that acquires the lease waits for it.
    advance: prepared(
      `UPDATE webhook_progress SET cursor = coalesce($3, cursor)
       WHERE webhook_id = $1 AND ${isHeldBy} AND held_until > ${nowMs}
         AND EXISTS (SELECT 1 FROM webhooks WHERE id = $1) RETURNING webhook_id`,
    ),
    deliveryStats: prepared(
      `SELECT id, (SELECT count(*) FROM webhook_failing WHERE webhook_id = id) AS failing,
         (SELECT count(*) FROM webhook_dead WHERE webhook_id = id) AS dead FROM webhooks`,
    ),
    retryStates: prepared('SELECT * FROM webhook_failing WHERE webhook_id = $1 ORDER BY due, key_hash'),
    putRetryState: prepared(
      `${insertInto('webhook_failing', retryStateColumns)} ON CONFLICT (webhook_id, key_hash)
       DO UPDATE SET ${updateFrom(['next_version', 'last_version', 'attempts', 'due', 'why'])}`,
    ),
    dropRetryStates: prepared(`DELETE FROM webhook_failing WHERE webhook_id = $1 AND key_hash ${inList('$2', 'text')}`),
    deadLetters: prepared(`SELECT * FROM webhook_dead WHERE ${matchesFilter} ORDER BY died, event_id LIMIT $3`),
    dueReplays: prepared(
      'SELECT * FROM webhook_dead WHERE webhook_id = $1 AND due <= $2 ORDER BY due, event_id LIMIT $3',
    ),
    deadLetterForUpdate: prepared(
      `SELECT event_id FROM webhook_dead WHERE webhook_id = $1 AND event_id = $2 ${forUpdate}`,
    ),
    putDead: prepared(
      `${insertInto('webhook_dead', deadColumns)} ON CONFLICT (webhook_id, event_id)
       DO UPDATE SET ${updateFrom(['died', 'attempts', 'why', 'due'])}`,
    ),
    replay: prepared(
      `UPDATE webhook_dead SET due = $3, attempts = 0 WHERE ${matchesFilter} AND due IS NULL RETURNING event_id`,
    ),
    discard: prepared(`DELETE FROM webhook_dead WHERE ${matchesFilter} RETURNING event_id`),
  };
}

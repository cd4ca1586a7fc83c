import {
  maxWebhooks,
  tooManyWebhooks,
  type DeadLetterFilter,
  type LeasedWebhook,
  type Webhook,
  type WebhookStore,
} from '../../webhooks/webhook.js';
import type { Authenticity } from '../records/authenticity.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import {
  recalled,
  deadLetterFromRow,
  deadLetterToRow,
  retryStateFromRow,
  retryStateToRow,
  webhookColumns,
  webhookLayouts,
  webhookFromRow,
  webhookToRow,
  type DeadRow,
  type RetryStateRow,
  type WebhookRow,
} from '../records/webhook.js';
import { inTransaction, prepared, type PgPool, type Session } from './pool.js';
import { isValidPgText } from './sought.js';

type HeldRow = SignedRow<WebhookRow> & { cursor: string; holder: string | null; left: bigint };

const names = [...webhookColumns, 'mac'] as const;
const kept = ['webhook_failing', 'webhook_dead'];
const meant = 'webhook_id = $1 AND ($2::text IS NULL OR event_id = $2)';
/** The clock of the server, which all processes share. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const insert = prepared(
  `INSERT INTO webhooks (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
);
const replace = prepared(
  `UPDATE webhooks SET ${names.map((column, index) => `${column} = $${index + 1}`).join(', ')}
   WHERE id = $1`,
);
// Without a condition on the lease: it waits for a process that acquires the lease just now, and then recalls it.
const recall = prepared(
  `UPDATE webhook_progress SET holder = CASE
     WHEN held_until > ${now} AND holder NOT LIKE '${recalled}%' THEN '${recalled}' || holder ELSE holder END
   WHERE webhook_id = $1`,
);
const lockProgress = prepared('SELECT FROM webhook_progress WHERE webhook_id = $1 FOR UPDATE');
const isRecalled = prepared(
  `SELECT 1 FROM webhook_progress WHERE webhook_id = $1 AND held_until > ${now} AND holder LIKE '${recalled}%'`,
);
const releaseRecalled = prepared(
  `UPDATE webhook_progress SET held_until = 0 WHERE webhook_id = $1 AND holder = '${recalled}' || $2::text`,
);
// Kept for the lease of a webhook that was removed, until that lease has ended.
const dropProgress = prepared(
  `DELETE FROM webhook_progress WHERE held_until <= ${now} AND webhook_id NOT IN (SELECT id FROM webhooks)`,
);
const all = prepared('SELECT * FROM webhooks ORDER BY created, id');
const byID = prepared('SELECT * FROM webhooks WHERE id = $1 FOR UPDATE');
const byIDs = prepared('SELECT * FROM webhooks WHERE id = ANY ($1::text[])');
const standings = prepared(
  `SELECT id, (SELECT count(*) FROM webhook_failing WHERE webhook_id = id) AS failing,
     (SELECT count(*) FROM webhook_dead WHERE webhook_id = id) AS dead FROM webhooks`,
);
const deadLetters = prepared(`SELECT * FROM webhook_dead WHERE ${meant} ORDER BY died, event_id LIMIT $3`);
const replay = prepared(
  `UPDATE webhook_dead SET due = $3, attempts = 0 WHERE ${meant} AND due IS NULL RETURNING event_id`,
);
const discard = prepared(`DELETE FROM webhook_dead WHERE ${meant} RETURNING event_id`);
const holdable = prepared(
  `SELECT w.*, p.cursor, p.holder, p.held_until - ${now} AS left FROM webhooks w JOIN webhook_progress p ON p.webhook_id = w.id
   ORDER BY w.created, w.id`,
);
const hold = prepared(
  `UPDATE webhook_progress SET holder = $2, held_until = ${now} + $3
   WHERE webhook_id = ANY ($1::text[]) AND (holder = $2 OR held_until <= ${now}) RETURNING webhook_id, cursor`,
);
const letGo = prepared(
  `UPDATE webhook_progress SET held_until = 0 WHERE holder IN ($1::text, '${recalled}' || $1::text) AND held_until > 0`,
);
const isHeld = prepared(`SELECT 1 FROM webhook_progress WHERE webhook_id = $1 AND holder = $2 AND held_until > ${now}`);
const failing = prepared('SELECT * FROM webhook_failing WHERE webhook_id = $1 ORDER BY due, key_hash');
const replayed = prepared(
  'SELECT * FROM webhook_dead WHERE webhook_id = $1 AND due <= $2 ORDER BY due, event_id LIMIT $3',
);
// The row stays locked until what follows is written: whoever takes the webhook over waits for that, and then reads it.
const advance = prepared(
  `UPDATE webhook_progress SET cursor = coalesce($3, cursor)
   WHERE webhook_id = $1 AND holder IN ($2::text, '${recalled}' || $2::text) AND held_until > ${now}
     AND EXISTS (SELECT FROM webhooks WHERE id = $1) RETURNING webhook_id`,
);
const putFailing = prepared(
  `INSERT INTO webhook_failing (webhook_id, key_hash, next_version, last_version, attempts, due, why)
   SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
   ON CONFLICT (webhook_id, key_hash) DO UPDATE SET next_version = excluded.next_version,
     last_version = excluded.last_version, attempts = excluded.attempts, due = excluded.due, why = excluded.why`,
);
const dropFailing = prepared('DELETE FROM webhook_failing WHERE webhook_id = $1 AND key_hash = ANY ($2::text[])');
const updateDead = prepared(
  `UPDATE webhook_dead SET died = $3, attempts = $4, why = $5, due = $6 WHERE webhook_id = $1 AND event_id = $2`,
);
const putDead = prepared(
  `INSERT INTO webhook_dead (webhook_id, event_id, key_hash, version, died, attempts, why, due)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (webhook_id, event_id) DO UPDATE SET died = excluded.died,
     attempts = excluded.attempts, why = excluded.why, due = excluded.due`,
);

/** Webhooks in the same database as the keys. */
export function createWebhookStore({ run }: PgPool, authenticity: Authenticity): WebhookStore {
  const table = createSignedTable<WebhookRow>(authenticity, 'webhooks', webhookLayouts);

  function authentic(row: SignedRow<WebhookRow>): Webhook {
    if (!table.isAuthentic(row)) throw table.integrityError(`The webhook ${row.id}`, row);
    return webhookFromRow(row);
  }

  const valuesOf = (row: SignedRow<WebhookRow>) => names.map((column) => row[column]);
  const meaning = ({ webhookID, eventID }: DeadLetterFilter) => [webhookID, eventID ?? null];
  const isSought = ({ webhookID, eventID = '' }: DeadLetterFilter) =>
    isValidPgText(webhookID) && isValidPgText(eventID);
  const atOnce = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
    run((session) => inTransaction(session, () => work(session)));

  return {
    add: (webhook, cursor) =>
      atOnce(async (session) => {
        // Two that are added at once are counted one after the other.
        await session.query('LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE');
        const [found] = await session.query<{ count: bigint }>('SELECT count(*) AS count FROM webhooks');
        if (Number(found?.count ?? 0n) >= maxWebhooks) throw tooManyWebhooks();
        await session.query(insert, valuesOf(table.signed(webhookToRow(webhook))));
        await session.query('INSERT INTO webhook_progress (webhook_id, cursor, held_until) VALUES ($1, $2, 0)', [
          webhook.id,
          cursor,
        ]);
      }),
    list: () =>
      run(async (session) =>
        (await session.query<SignedRow<WebhookRow>>(all)).filter((row) => table.isAuthentic(row)).map(webhookFromRow),
      ),
    change: (id, change) =>
      atOnce(async (session) => {
        const [row] = isValidPgText(id) ? await session.query<SignedRow<WebhookRow>>(byID, [id]) : [];
        if (!row) return undefined;
        const next = change(authentic(row));
        const signed = table.signed(webhookToRow(next));
        if (Buffer.compare(signed.mac, row.mac) === 0) return next;
        await session.query(replace, valuesOf(signed));
        await session.query(recall, [id]);
        return next;
      }),
    remove: (id) =>
      atOnce(async (session) => {
        if (!isValidPgText(id)) return false;
        const removed = await session.query('DELETE FROM webhooks WHERE id = $1 RETURNING id', [id]);
        await session.query(recall, [id]);
        for (const name of kept) await session.query(`DELETE FROM ${name} WHERE webhook_id = $1`, [id]);
        await session.query(dropProgress);
        return removed.length > 0;
      }),
    isRecalled: (id) => run(async (session) => (await session.query(isRecalled, [id])).length > 0),
    damaged: () =>
      run(async (session) =>
        (await session.query<SignedRow<WebhookRow>>(all)).filter((row) => !table.isAuthentic(row)).map(({ id }) => id),
      ),
    deliveryStats: () =>
      run(async (session) => {
        const rows = await session.query<{ id: string; failing: bigint; dead: bigint }>(standings);
        return rows.map((row) => ({
          webhookID: row.id,
          retryingKeys: Number(row.failing),
          deadLetters: Number(row.dead),
        }));
      }),
    deadLetters: (query, limit) =>
      run(async (session) =>
        isSought(query)
          ? (await session.query<DeadRow>(deadLetters, [...meaning(query), limit])).map(deadLetterFromRow)
          : [],
      ),
    replay: (query, dueMs) =>
      run(async (session) =>
        isSought(query) ? (await session.write(replay, [...meaning(query), BigInt(dueMs)])).length : 0,
      ),
    discard: (query) =>
      atOnce(async (session) => {
        if (!isSought(query)) return 0;
        // The lease first, as a settlement locks it: the two wait for each other in one order.
        await session.query(lockProgress, [query.webhookID]);
        const { length } = await session.query(discard, meaning(query));
        if (length > 0) await session.query(recall, [query.webhookID]);
        return length;
      }),
    async acquireLeases(holder, forMs) {
      const found = await run((session) => session.query<HeldRow>(holdable));
      const damaged = found.filter((row) => !table.isAuthentic(row)).map(({ id }) => id);
      const rows = found.filter((row) => row.paused === null && !damaged.includes(row.id));
      const recalledIDs = found
        .filter((row) => row.holder === `${recalled}${holder}` && row.left > 0n)
        .map(({ id }) => id);
      const isMine = (row: HeldRow) => row.holder === holder && Number(row.left) > forMs / 2;
      const free = rows.filter((row) => !isMine(row) && (row.holder === holder || row.left <= 0n));
      const held = rows.filter(isMine).map((row) => heldOf(row, row.cursor, Number(row.left)));
      // Most of the time there is nothing to be taken, and nothing to be written.
      if (free.length === 0) return { held, recalled: recalledIDs, damaged };
      const taken = await run((session) =>
        session.write<{ webhook_id: string; cursor: string }>(hold, [free.map(({ id }) => id), holder, BigInt(forMs)]),
      );
      const cursors = new Map(taken.map((row) => [row.webhook_id, row.cursor]));
      // As they are now: the rows above may have been changed before their leases were acquired.
      const current = await run((session) => session.query<SignedRow<WebhookRow>>(byIDs, [[...cursors.keys()]]));
      const acquired = current.flatMap((row) => {
        const cursor = cursors.get(row.id);
        const isGood = cursor !== undefined && row.paused === null && table.isAuthentic(row);
        return isGood ? [heldOf(row, cursor, forMs)] : [];
      });
      return { held: [...held, ...acquired], recalled: recalledIDs, damaged };
    },
    releaseLeases: (holder) =>
      run(async (session) => {
        await session.write(letGo, [holder]);
      }),
    hasLease: (holder, id) => run(async (session) => (await session.query(isHeld, [id, holder])).length > 0),
    releaseRecalled: (holder, id) =>
      atOnce(async (session) => {
        await session.query(releaseRecalled, [id, holder]);
        await session.query(dropProgress);
      }),
    retryStates: (webhookID) =>
      run(async (session) => (await session.query<RetryStateRow>(failing, [webhookID])).map(retryStateFromRow)),
    dueReplays: (webhookID, nowMs, limit) =>
      run(async (session) =>
        (await session.query<DeadRow>(replayed, [webhookID, BigInt(nowMs), limit])).map(deadLetterFromRow),
      ),
    settle: (holder, webhookID, settlement) =>
      atOnce(async (session) => {
        const {
          cursor = null,
          failing: keys = [],
          done = [],
          dead = [],
          replayFailed = [],
          redriven: revived = [],
        } = settlement;
        if ((await session.query(advance, [webhookID, holder, cursor])).length === 0) return false;
        if (keys.length > 0) {
          const rows = keys.map((key) => retryStateToRow(webhookID, key));
          const columns = ['key_hash', 'next_version', 'last_version', 'attempts', 'due', 'why'] as const;
          await session.query(putFailing, [webhookID, ...columns.map((column) => rows.map((row) => row[column]))]);
        }
        if (done.length > 0) await session.query(dropFailing, [webhookID, done]);
        for (const letter of dead) {
          const row = deadLetterToRow(letter);
          const columns = ['webhook_id', 'event_id', 'key_hash', 'version', 'died', 'attempts', 'why', 'due'] as const;
          await session.query(
            putDead,
            columns.map((column) => row[column]),
          );
        }
        for (const letter of replayFailed) {
          const { webhook_id, event_id, died, attempts, why, due } = deadLetterToRow(letter);
          await session.query(updateDead, [webhook_id, event_id, died, attempts, why, due]);
        }
        for (const event of revived) await session.query(discard, [webhookID, event]);
        return true;
      }),
  };
}

function heldOf(row: WebhookRow, cursor: string, leftMs: number): LeasedWebhook {
  return { webhook: webhookFromRow(row), cursor, remainingMs: leftMs };
}

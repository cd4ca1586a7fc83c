import type { Database } from 'better-sqlite3';
import {
  maxWebhooks,
  tooManyWebhooks,
  type DeadLetterFilter,
  type LeasedWebhook,
  type DeliveryStats,
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
import type { WriteGate } from './write-gate.js';

type HeldRow = SignedRow<WebhookRow> & { cursor: string; holder: string | null; held_until: bigint; now: bigint };
type Dead = { id: string; event: string | null };

const kept = ['webhook_failing', 'webhook_dead'];
const meant = 'webhook_id = @id AND (@event IS NULL OR event_id = @event)';
/** The clock of the machine, which all processes at a file share. */
const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`;

/** Webhooks in the same file as the keys. */
export function createWebhookStore(
  database: Database,
  authenticity: Authenticity,
  { read, write }: WriteGate,
): WebhookStore {
  const table = createSignedTable<WebhookRow>(authenticity, 'webhooks', webhookLayouts);
  const names = [...webhookColumns, 'mac'] as const;
  const count = database.prepare<[], bigint>('SELECT count(*) FROM webhooks').pluck();
  const insert = database.prepare<[SignedRow<WebhookRow>]>(
    `INSERT INTO webhooks (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const begin = database.prepare<[string, string]>(
    'INSERT INTO webhook_progress (webhook_id, cursor, held_until) VALUES (?, ?, 0)',
  );
  const recall = database.prepare<[string]>(
    `UPDATE webhook_progress SET holder = '${recalled}' || holder
     WHERE webhook_id = ? AND held_until > ${now} AND holder NOT LIKE '${recalled}%'`,
  );
  const isRecalled = database.prepare<[string], object>(
    `SELECT 1 FROM webhook_progress WHERE webhook_id = ? AND held_until > ${now} AND holder LIKE '${recalled}%'`,
  );
  const releaseRecalled = database.prepare<[string, string]>(
    `UPDATE webhook_progress SET held_until = 0 WHERE webhook_id = ? AND holder = '${recalled}' || ?`,
  );
  // Kept for the lease of a webhook that was removed, until that lease has ended.
  const dropProgress = database.prepare<[]>(
    `DELETE FROM webhook_progress WHERE held_until <= ${now} AND webhook_id NOT IN (SELECT id FROM webhooks)`,
  );
  const all = database.prepare<[], SignedRow<WebhookRow>>('SELECT * FROM webhooks ORDER BY created, id');
  const byID = database.prepare<[string], SignedRow<WebhookRow>>('SELECT * FROM webhooks WHERE id = ?');
  const replace = database.prepare<[SignedRow<WebhookRow>]>(
    `UPDATE webhooks SET ${names.map((column) => `${column} = @${column}`).join(', ')} WHERE id = @id`,
  );
  const drop = database.prepare<[string]>('DELETE FROM webhooks WHERE id = ?');
  const dropKept = kept.map((name) => database.prepare<[string]>(`DELETE FROM ${name} WHERE webhook_id = ?`));
  const standings = database.prepare<[], { id: string; failing: bigint; dead: bigint }>(
    `SELECT id, (SELECT count(*) FROM webhook_failing WHERE webhook_id = id) AS failing,
       (SELECT count(*) FROM webhook_dead WHERE webhook_id = id) AS dead FROM webhooks`,
  );
  const deadLetters = database.prepare<[Dead & { limit: number }], DeadRow>(
    `SELECT * FROM webhook_dead WHERE ${meant} ORDER BY died, event_id LIMIT @limit`,
  );
  const replay = database.prepare<[Dead & { due: bigint }]>(
    `UPDATE webhook_dead SET due = @due, attempts = 0 WHERE ${meant} AND due IS NULL`,
  );
  const discard = database.prepare<[Dead]>(`DELETE FROM webhook_dead WHERE ${meant}`);
  const holdable = database.prepare<[], HeldRow>(
    `SELECT w.*, p.cursor, p.holder, p.held_until, ${now} AS now FROM webhooks w JOIN webhook_progress p ON p.webhook_id = w.id
     ORDER BY w.created, w.id`,
  );
  const hold = database.prepare<[{ id: string; holder: string; for: bigint }], { cursor: string }>(
    `UPDATE webhook_progress SET holder = @holder, held_until = ${now} + @for
     WHERE webhook_id = @id AND (holder = @holder OR held_until <= ${now}) RETURNING cursor`,
  );
  const letGo = database.prepare<[{ holder: string }]>(
    `UPDATE webhook_progress SET held_until = 0 WHERE holder IN (@holder, '${recalled}' || @holder) AND held_until > 0`,
  );
  const failing = database.prepare<[string], RetryStateRow>(
    'SELECT * FROM webhook_failing WHERE webhook_id = ? ORDER BY due, key_hash',
  );
  const replayed = database.prepare<[string, bigint, number], DeadRow>(
    'SELECT * FROM webhook_dead WHERE webhook_id = ? AND due <= ? ORDER BY due, event_id LIMIT ?',
  );
  const isHeld = database.prepare<[string, string], object>(
    `SELECT 1 FROM webhook_progress WHERE webhook_id = ? AND holder = ? AND held_until > ${now}`,
  );
  const maySettle = database.prepare<[{ id: string; holder: string }], object>(
    `SELECT 1 FROM webhook_progress JOIN webhooks ON id = webhook_id
     WHERE webhook_id = @id AND holder IN (@holder, '${recalled}' || @holder) AND held_until > ${now}`,
  );
  const advance = database.prepare<[string, string]>('UPDATE webhook_progress SET cursor = ? WHERE webhook_id = ?');
  const putFailing = database.prepare<[RetryStateRow]>(
    `INSERT OR REPLACE INTO webhook_failing (webhook_id, key_hash, next_version, last_version, attempts, due, why)
     VALUES (@webhook_id, @key_hash, @next_version, @last_version, @attempts, @due, @why)`,
  );
  const dropFailing = database.prepare<[string, string]>(
    'DELETE FROM webhook_failing WHERE webhook_id = ? AND key_hash = ?',
  );
  const putDead = database.prepare<[DeadRow]>(
    `INSERT OR REPLACE INTO webhook_dead (webhook_id, event_id, key_hash, version, died, attempts, why, due)
     VALUES (@webhook_id, @event_id, @key_hash, @version, @died, @attempts, @why, @due)`,
  );

  const isDead = database.prepare<[string, string], object>(
    'SELECT 1 FROM webhook_dead WHERE webhook_id = ? AND event_id = ?',
  );

  const meaning = ({ webhookID, eventID }: DeadLetterFilter): Dead => ({ id: webhookID, event: eventID ?? null });

  function authentic(row: SignedRow<WebhookRow>): Webhook {
    if (!table.isAuthentic(row)) throw table.integrityError(`The webhook ${row.id}`, row);
    return webhookFromRow(row);
  }

  return {
    add: (webhook, cursor) =>
      write(() => {
        if (Number(count.get() ?? 0n) >= maxWebhooks) throw tooManyWebhooks();
        insert.run(table.signed(webhookToRow(webhook)));
        begin.run(webhook.id, cursor);
      }),
    list: () => read(() => all.all().filter(table.isAuthentic).map(webhookFromRow)),
    change: (id, change) =>
      write(() => {
        const row = byID.get(id);
        if (!row) return undefined;
        const next = change(authentic(row));
        const signed = table.signed(webhookToRow(next));
        if (Buffer.compare(signed.mac, row.mac) === 0) return next;
        replace.run(signed);
        recall.run(id);
        return next;
      }),
    remove: (id) =>
      write(() => {
        const isRemoved = drop.run(id).changes > 0;
        for (const statement of dropKept) statement.run(id);
        recall.run(id);
        dropProgress.run();
        return isRemoved;
      }),
    isRecalled: (id) => read(() => isRecalled.get(id) !== undefined),
    damaged: () =>
      read(() =>
        all
          .all()
          .filter((row) => !table.isAuthentic(row))
          .map(({ id }) => id),
      ),
    deliveryStats: () =>
      read(() =>
        standings.all().map((row): DeliveryStats => ({
          webhookID: row.id,
          retryingKeys: Number(row.failing),
          deadLetters: Number(row.dead),
        })),
      ),
    deadLetters: (query, limit) => read(() => deadLetters.all({ ...meaning(query), limit }).map(deadLetterFromRow)),
    replay: (query, dueMs) => write(() => replay.run({ ...meaning(query), due: BigInt(dueMs) }).changes),
    discard: (query) =>
      write(() => {
        const { changes } = discard.run(meaning(query));
        if (changes > 0) recall.run(query.webhookID);
        return changes;
      }),
    async acquireLeases(holder, forMs) {
      const found = await read(() => holdable.all());
      const damaged = found.filter((row) => !table.isAuthentic(row)).map(({ id }) => id);
      const rows = found.filter((row) => row.paused === null && !damaged.includes(row.id));
      const leftMs = (row: HeldRow) => Number(row.held_until - row.now);
      const recalledIDs = found
        .filter((row) => row.holder === `${recalled}${holder}` && leftMs(row) > 0)
        .map(({ id }) => id);
      const isMine = (row: HeldRow) => row.holder === holder && leftMs(row) > forMs / 2;
      const free = rows.filter((row) => !isMine(row) && (row.holder === holder || leftMs(row) <= 0));
      const held = rows.filter(isMine).map((row) => heldOf(row, row.cursor, leftMs(row)));
      // Most of the time there is nothing to be taken, and nothing to be written.
      if (free.length === 0) return { held, recalled: recalledIDs, damaged };
      const taken = await write(() =>
        free.flatMap(({ id }) => {
          // As it is now: the row above may have been changed before its lease was acquired.
          const row = byID.get(id);
          if (!row || row.paused !== null || !table.isAuthentic(row)) return [];
          const lease = hold.get({ id, holder, for: BigInt(forMs) });
          return lease ? [heldOf(row, lease.cursor, forMs)] : [];
        }),
      );
      return { held: [...held, ...taken], recalled: recalledIDs, damaged };
    },
    releaseLeases: (holder) => write(() => void letGo.run({ holder })),
    hasLease: (holder, id) => read(() => isHeld.get(id, holder) !== undefined),
    releaseRecalled: (holder, id) =>
      write(() => {
        releaseRecalled.run(id, holder);
        dropProgress.run();
      }),
    retryStates: (webhookID) => read(() => failing.all(webhookID).map(retryStateFromRow)),
    dueReplays: (webhookID, nowMs, limit) =>
      read(() => replayed.all(webhookID, BigInt(nowMs), limit).map(deadLetterFromRow)),
    settle: (holder, webhookID, settlement) =>
      write(() => {
        if (!maySettle.get({ id: webhookID, holder })) return false;
        if (settlement.cursor !== undefined) advance.run(settlement.cursor, webhookID);
        for (const key of settlement.failing ?? []) putFailing.run(retryStateToRow(webhookID, key));
        for (const keyHash of settlement.done ?? []) dropFailing.run(webhookID, keyHash);
        for (const letter of settlement.dead ?? []) putDead.run(deadLetterToRow(letter));
        for (const letter of settlement.replayFailed ?? []) {
          if (isDead.get(webhookID, letter.eventID)) putDead.run(deadLetterToRow(letter));
        }
        for (const event of settlement.redriven ?? []) discard.run({ id: webhookID, event });
        return true;
      }),
  };
}

function heldOf(row: WebhookRow, cursor: string, leftMs: number): LeasedWebhook {
  return { webhook: webhookFromRow(row), cursor, remainingMs: leftMs };
}

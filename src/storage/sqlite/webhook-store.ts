import type { Database } from 'better-sqlite3';
import {
  mostWebhooks,
  tooManyWebhooks,
  type DeadQuery,
  type HeldWebhook,
  type Standing,
  type Webhook,
  type WebhookStore,
} from '../../webhook.js';
import type { Authenticity } from '../authenticity.js';
import { createSignedTable, damaged, type Signed } from '../signed-table.js';
import {
  deadLetterOf,
  deadRowOf,
  failingOf,
  failingRowOf,
  webhookColumns,
  webhookOf,
  webhookRowOf,
  type DeadRow,
  type FailingRow,
  type WebhookRow,
} from '../webhook-row.js';
import type { Guard } from './guard.js';

type HeldRow = Signed<WebhookRow> & { cursor: string; holder: string | null; held_until: bigint; now: bigint };
type Dead = { id: string; event: string | null };

const kept = ['webhook_progress', 'webhook_failing', 'webhook_dead'];
const meant = 'webhook_id = @id AND (@event IS NULL OR event_id = @event)';
/** The clock of the machine, which all processes at a file share. */
const now = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`;

/** Webhooks in the same file as the keys. */
export function createWebhookStore(
  database: Database,
  authenticity: Authenticity,
  { read, write }: Guard,
): WebhookStore {
  const table = createSignedTable<WebhookRow>(authenticity, 'webhooks', webhookColumns);
  const names = [...webhookColumns, 'mac'] as const;
  const count = database.prepare<[], bigint>('SELECT count(*) FROM webhooks').pluck();
  const insert = database.prepare<[Signed<WebhookRow>]>(
    `INSERT INTO webhooks (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const begin = database.prepare<[string, string]>(
    'INSERT INTO webhook_progress (webhook_id, cursor, held_until) VALUES (?, ?, 0)',
  );
  const all = database.prepare<[], Signed<WebhookRow>>('SELECT * FROM webhooks ORDER BY created, id');
  const byID = database.prepare<[string], Signed<WebhookRow>>('SELECT * FROM webhooks WHERE id = ?');
  const replace = database.prepare<[Signed<WebhookRow>]>(
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
     WHERE w.paused IS NULL ORDER BY w.created, w.id`,
  );
  const hold = database.prepare<[{ id: string; holder: string; for: bigint }], { cursor: string }>(
    `UPDATE webhook_progress SET holder = @holder, held_until = ${now} + @for
     WHERE webhook_id = @id AND (holder = @holder OR held_until <= ${now}) RETURNING cursor`,
  );
  const letGo = database.prepare<[string]>(
    'UPDATE webhook_progress SET held_until = 0 WHERE holder = ? AND held_until > 0',
  );
  const failing = database.prepare<[string], FailingRow>(
    'SELECT * FROM webhook_failing WHERE webhook_id = ? ORDER BY due, key_hash',
  );
  const replayed = database.prepare<[string, bigint, number], DeadRow>(
    'SELECT * FROM webhook_dead WHERE webhook_id = ? AND due <= ? ORDER BY due, event_id LIMIT ?',
  );
  const isHeld = database.prepare<[string, string], object>(
    `SELECT 1 FROM webhook_progress WHERE webhook_id = ? AND holder = ? AND held_until > ${now}`,
  );
  const advance = database.prepare<[string, string]>('UPDATE webhook_progress SET cursor = ? WHERE webhook_id = ?');
  const putFailing = database.prepare<[FailingRow]>(
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

  const meaning = ({ webhookID, eventID }: DeadQuery): Dead => ({ id: webhookID, event: eventID ?? null });

  function authentic(row: Signed<WebhookRow>): Webhook {
    if (!table.isAuthentic(row)) throw damaged(`The webhook ${row.id}`);
    return webhookOf(row);
  }

  return {
    add: (webhook, cursor) =>
      write(() => {
        if (Number(count.get() ?? 0n) >= mostWebhooks) throw tooManyWebhooks();
        insert.run(table.signed(webhookRowOf(webhook)));
        begin.run(webhook.id, cursor);
      }),
    list: () => read(() => all.all().map(authentic)),
    change: (id, change) =>
      write(() => {
        const row = byID.get(id);
        if (!row) return undefined;
        const next = change(authentic(row));
        const signed = table.signed(webhookRowOf(next));
        if (Buffer.compare(signed.mac, row.mac) !== 0) replace.run(signed);
        return next;
      }),
    remove: (id) =>
      write(() => {
        for (const statement of dropKept) statement.run(id);
        return drop.run(id).changes > 0;
      }),
    damaged: () =>
      read(() =>
        all
          .all()
          .filter((row) => !table.isAuthentic(row))
          .map(({ id }) => id),
      ),
    standings: () =>
      read(() =>
        standings.all().map((row): Standing => ({
          webhookID: row.id,
          failingKeys: Number(row.failing),
          deadLetters: Number(row.dead),
        })),
      ),
    deadLetters: (query, limit) => read(() => deadLetters.all({ ...meaning(query), limit }).map(deadLetterOf)),
    replay: (query, dueMs) => write(() => replay.run({ ...meaning(query), due: BigInt(dueMs) }).changes),
    discard: (query) => write(() => discard.run(meaning(query)).changes),
    async hold(holder, forMs) {
      const rows = await read(() => holdable.all().filter(table.isAuthentic));
      const leftMs = (row: HeldRow) => Number(row.held_until - row.now);
      const isMine = (row: HeldRow) => row.holder === holder && leftMs(row) > forMs / 2;
      const free = rows.filter((row) => !isMine(row) && (row.holder === holder || leftMs(row) <= 0));
      const held = rows.filter(isMine).map((row) => heldOf(row, row.cursor, leftMs(row)));
      // Most of the time there is nothing to be taken, and nothing to be written.
      if (free.length === 0) return held;
      const taken = await write(() =>
        free.flatMap((row) => {
          const found = hold.get({ id: row.id, holder, for: BigInt(forMs) });
          return found ? [heldOf(row, found.cursor, forMs)] : [];
        }),
      );
      return [...held, ...taken];
    },
    letGo: (holder) => write(() => void letGo.run(holder)),
    failing: (webhookID) => read(() => failing.all(webhookID).map(failingOf)),
    replayed: (webhookID, nowMs, limit) => read(() => replayed.all(webhookID, BigInt(nowMs), limit).map(deadLetterOf)),
    settle: (holder, webhookID, settlement) =>
      write(() => {
        if (!isHeld.get(webhookID, holder)) return false;
        if (settlement.cursor !== undefined) advance.run(settlement.cursor, webhookID);
        for (const key of settlement.failing ?? []) putFailing.run(failingRowOf(webhookID, key));
        for (const keyHash of settlement.done ?? []) dropFailing.run(webhookID, keyHash);
        for (const letter of settlement.dead ?? []) putDead.run(deadRowOf(letter));
        for (const event of settlement.revived ?? []) discard.run({ id: webhookID, event });
        return true;
      }),
  };
}

function heldOf(row: HeldRow, cursor: string, leftMs: number): HeldWebhook {
  return { webhook: webhookOf(row), cursor, leftMs };
}

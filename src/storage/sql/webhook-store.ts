import {
  maxCounted,
  maxWebhooks,
  type DeadLetterFilter,
  type Delivery,
  type LeasedWebhook,
  type Webhook,
  type WebhookStore,
} from '../../webhooks/webhook.js';
import { AppError } from '../../lib/errors.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { createSignedTable, isSameRow, millisecondsOf, namesOf, type SignedRow } from '../records/signed.js';
import {
  deliveryColumns,
  deliveryFromRow,
  deliveryToRow,
  webhookFromRow,
  webhookTable,
  webhookToRow,
  type DeliveryRow,
  type WebhookRow,
} from '../records/webhook.js';
import { isBindableText, type Dialect } from './dialect.js';
import { deliveryKinds, isDead } from './schema.js';
import { insertInto, prepared, query, updateByID, valuesOf, type SqlSession } from './session.js';

/**
 * Precedes the holder of a lease that was recalled: a command has changed the webhook, and the holder may still act on
 * the state before. Such a lease cannot be renewed; it ends when its holder releases it or when it expires.
 */
const recalled = 'recalled ';

/** A lease that lasts longer has ended: the clock was ahead when it was acquired. */
const maxLeaseMs = 7_200_000;

const deliveryNames = namesOf(deliveryColumns);
const signedWebhookColumns = webhookTable.columnNames;
/** The dead letter `$2`, or all if it is NULL. */
const isSelected = `webhook_id = $1 AND ${isDead} AND (CAST($2 AS text) IS NULL OR event_id = $2)`;
/** The delivery with the version that was read; it may have been discarded, or its key purged and created again. */
const isSameDelivery = 'webhook_id = $1 AND key_hash = $2 AND event_id = $3 AND version = $4';
const nextOf = (condition: string) =>
  `SELECT * FROM webhook_deliveries WHERE webhook_id = $1 AND ${condition} ORDER BY due LIMIT $2`;
const dueAfter = (condition: string) =>
  prepared(
    `SELECT key_hash FROM webhook_deliveries WHERE webhook_id = $1 AND ${condition} AND due > $3 ORDER BY due LIMIT $2`,
  );
/** The delivery of a notice. */
const newNotice = {
  state: 'pending',
  version: 0,
  lastVersion: 0,
  attempts: 0,
  failedAt: undefined,
  lastError: '',
} as const;
/** The number of deliveries that one transaction brings forward, while other statements wait. */
const batchSize = 500;
/** The identifier of a webhook, and the numbers of its failing keys and dead letters. */
const counts = `id,
  (SELECT count(*) FROM (
     SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhooks.id AND ${deliveryKinds.retry} AND state = 'pending'
     LIMIT ${maxCounted}) AS failing) AS failing,
  (SELECT count(*) FROM (
     SELECT 1 FROM webhook_deliveries WHERE webhook_id = webhooks.id AND ${isDead} LIMIT ${maxCounted}) AS dead) AS dead`;
/** Versions that do not follow those in the table are of a key that was created again after a purge. */
const ifFollowing = (column: string) =>
  `${column} = CASE WHEN excluded.version > webhook_deliveries.last_version THEN webhook_deliveries.${column} ELSE excluded.${column} END`;

/** The statements of the webhook store. `$1` is the webhook, except where the statement has another. */
function webhookStatements({ name, nowMs, inList, forUpdate, historySpans }: Dialect) {
  const isHeldBy = `holder IN ($2, '${recalled}' || CAST($2 AS text))`;
  return {
    lockTable: name === 'postgres' ? prepared('LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE') : undefined,
    insert: prepared(insertInto('webhooks', signedWebhookColumns)),
    insertProgress: prepared('INSERT INTO webhook_progress (webhook_id, cursor, held_until) VALUES ($1, $2, 0)'),
    all: prepared('SELECT * FROM webhooks ORDER BY created, id'),
    /** `$1` is the organization. */
    ofOrg: prepared('SELECT * FROM webhooks WHERE org_id = $1 ORDER BY created, id'),
    byIDForUpdate: prepared(`SELECT * FROM webhooks WHERE id = $1 ${forUpdate()}`),
    replace: prepared(updateByID('webhooks', signedWebhookColumns)),
    remove: prepared('DELETE FROM webhooks WHERE id = $1 RETURNING org_id'),
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
    /** `$1` is the holder. Also those of webhooks that were removed. */
    recalledOf: prepared(
      `SELECT webhook_id FROM webhook_progress
       WHERE holder = '${recalled}' || CAST($1 AS text) AND held_until > ${nowMs}`,
    ),
    releaseRecalled: prepared(
      `UPDATE webhook_progress SET held_until = 0
       WHERE webhook_id = $1 AND holder = '${recalled}' || CAST($2 AS text)`,
    ),
    // The row of a removed webhook stays until its lease has ended.
    dropProgress: prepared(
      `DELETE FROM webhook_progress WHERE held_until <= ${nowMs} AND webhook_id NOT IN (SELECT id FROM webhooks)`,
    ),
    lockProgress: prepared(`SELECT webhook_id FROM webhook_progress WHERE webhook_id = $1 ${forUpdate()}`),
    leases: prepared(
      `SELECT w.*, p.cursor, p.holder, p.held_until - ${nowMs} AS remaining_ms
       FROM webhooks w JOIN webhook_progress p ON p.webhook_id = w.id ORDER BY w.created, w.id`,
    ),
    /** `$1` is a list of webhooks. */
    acquire: prepared(
      `UPDATE webhook_progress SET holder = $2, held_until = ${nowMs} + $3
       WHERE webhook_id ${inList('$1', 'text')}
         AND (holder = $2 OR held_until <= ${nowMs} OR held_until > ${nowMs} + ${maxLeaseMs})
       RETURNING webhook_id, cursor`,
    ),
    /** `$1` is a list of webhooks, `$2` the holder. */
    held: prepared(
      `SELECT w.* FROM webhooks w JOIN webhook_progress p ON p.webhook_id = w.id
       WHERE w.id ${inList('$1', 'text')} AND p.holder = $2`,
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
    deliveryStats: prepared(`SELECT ${counts} FROM webhooks`),
    /** `$1` is a list of webhooks. */
    deliveryStatsOf: prepared(`SELECT ${counts} FROM webhooks WHERE id ${inList('$1', 'text')}`),
    countDead: prepared(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM webhook_deliveries WHERE webhook_id = $1 AND ${isDead} LIMIT $2) AS dead`,
    ),
    nextDeliveries: {
      any: prepared(
        `SELECT * FROM (${nextOf(deliveryKinds.first)}) AS first
         UNION ALL SELECT * FROM (${nextOf(deliveryKinds.retry)}) AS retried ORDER BY due LIMIT $2`,
      ),
      first: prepared(nextOf(deliveryKinds.first)),
      retry: prepared(nextOf(deliveryKinds.retry)),
    },
    dueAfter: { first: dueAfter(deliveryKinds.first), retry: dueAfter(deliveryKinds.retry) },
    /** `$2` is a list of keys. */
    bringForward: prepared(
      `UPDATE webhook_deliveries SET due = $4 WHERE webhook_id = $1 AND key_hash ${inList('$2', 'text')} AND due > $3`,
    ),
    /** `$2` is a list of spans. */
    enqueue: prepared(
      `INSERT INTO webhook_deliveries (${deliveryNames.join(', ')})
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
    insertEvent: prepared(`${insertInto('webhook_deliveries', deliveryNames)} ON CONFLICT DO NOTHING`),
    deadLetters: prepared(
      `SELECT * FROM webhook_deliveries WHERE ${isSelected} AND (failed_at, event_id) > ($4, $5)
       ORDER BY failed_at, event_id LIMIT $3`,
    ),
    replay: prepared(
      `UPDATE webhook_deliveries SET due = $3, attempts = 0 WHERE ${isSelected} AND due IS NULL RETURNING event_id`,
    ),
    discard: prepared(`DELETE FROM webhook_deliveries WHERE ${isSelected} RETURNING event_id`),
  };
}

/** Before each time that is stored. */
const beforeAll = new Date(-1);

interface StatsRow {
  readonly id: string;
  readonly failing: bigint;
  readonly dead: bigint;
}

type LeaseRow = SignedRow<WebhookRow> & { cursor: string; holder: string | null; remaining_ms: bigint };

/** Webhooks and the state of their deliveries, in the database of the keys. */
export function createWebhookStore({ dialect, all, run, transaction }: SqlSession, signer: RowSigner): WebhookStore {
  const sql = webhookStatements(dialect);
  const table = createSignedTable(signer, webhookTable);
  const signedValues = (webhook: Webhook) => valuesOf(table.signed(webhookToRow(webhook)), signedWebhookColumns);

  function verified(row: SignedRow<WebhookRow>): Webhook {
    if (!table.isAuthentic(row)) throw table.integrityError(`The webhook ${row.id}`, row);
    return webhookFromRow(row);
  }

  const filterValues = ({ webhookID, eventID }: DeadLetterFilter) => [webhookID, eventID ?? null] as const;
  const canMatch = ({ webhookID, eventID = '' }: DeadLetterFilter) =>
    isBindableText(webhookID) && isBindableText(eventID);

  /** The values that identify a delivery with the version that was read. */
  const sameDelivery = (id: string, { keyHash, eventID, version }: Delivery) => [id, keyHash, eventID, version];
  const bigintOrNull = (value: number | undefined) => (value === undefined ? null : BigInt(value));

  return {
    add: (webhook, cursor, permit) =>
      transaction(function* () {
        // Transactions that add webhooks count them one after the other.
        if (sql.lockTable) yield* query(sql.lockTable);
        const rows = yield* query<SignedRow<WebhookRow>>(sql.all);
        const existing = rows.find(({ id }) => id === webhook.id);
        if (existing) return verified(existing);
        const orgID = webhook.orgID ?? null;
        permit?.(rows.filter((row) => row.org_id === orgID).length);
        if (rows.length >= maxWebhooks) {
          throw new AppError('CONFLICT', `There are ${maxWebhooks} webhooks already, which is the maximum.`);
        }
        yield* query(sql.insert, signedValues(webhook));
        yield* query(sql.insertProgress, [webhook.id, cursor]);
        return webhook;
      }),
    async list(orgID) {
      if (orgID !== undefined && !isBindableText(orgID)) return { intact: [], damaged: [] };
      const rows = await (orgID === undefined
        ? all<SignedRow<WebhookRow>>(sql.all)
        : all<SignedRow<WebhookRow>>(sql.ofOrg, [orgID]));
      return {
        intact: rows.filter(table.isAuthentic).map(webhookFromRow),
        damaged: rows.filter((row) => !table.isAuthentic(row)).map(({ id }) => id),
      };
    },
    change: (id, change, permit) =>
      transaction(function* () {
        const [row] = isBindableText(id) ? yield* query<SignedRow<WebhookRow>>(sql.byIDForUpdate, [id]) : [];
        if (!row) return undefined;
        permit?.(row.org_id ?? undefined);
        const next = change(verified(row));
        const signed = table.signed(webhookToRow(next));
        if (isSameRow(signed, row)) return next;
        yield* query(sql.replace, valuesOf(signed, signedWebhookColumns));
        yield* query(sql.recall, [id]);
        return next;
      }),
    remove: (id, permit) =>
      transaction(function* () {
        if (!isBindableText(id)) return false;
        const removed = yield* query<Pick<WebhookRow, 'org_id'>>(sql.remove, [id]);
        for (const row of removed) permit?.(row.org_id ?? undefined);
        yield* query(sql.recall, [id]);
        yield* query(sql.removeDeliveries, [id]);
        yield* query(sql.dropProgress);
        return removed.length > 0;
      }),
    isRecalled: async (id) => (await all(sql.isRecalled, [id])).length > 0,
    deliveryStats: async (ids) => {
      const rows = await (ids === undefined
        ? all<StatsRow>(sql.deliveryStats)
        : all<StatsRow>(sql.deliveryStatsOf, [ids.filter(isBindableText)]));
      return rows.map((row) => ({
        webhookID: row.id,
        retryingKeys: Number(row.failing),
        deadLetters: Number(row.dead),
      }));
    },
    countDeadLetters: async (id, limit) => {
      const [found] = await all<{ count: bigint }>(sql.countDead, [id, limit]);
      return Number(found?.count ?? 0n);
    },
    async deadLetters(filter, limit, after) {
      const { failedAt = beforeAll, eventID = '' } = after ?? {};
      if (!canMatch(filter) || !isBindableText(eventID)) return [];
      const values = [...filterValues(filter), limit, BigInt(failedAt.getTime()), eventID];
      return (await all<DeliveryRow>(sql.deadLetters, values)).map(deliveryFromRow);
    },
    replay: async (filter, dueMs) =>
      canMatch(filter) ? (await run(sql.replay, [...filterValues(filter), BigInt(dueMs)])).length : 0,
    discard: (filter) =>
      transaction(function* () {
        if (!canMatch(filter)) return 0;
        // Locked first, as by `recordResults`, so that the two wait for each other in one order.
        yield* query(sql.lockProgress, [filter.webhookID]);
        const { length } = yield* query(sql.discard, filterValues(filter));
        if (length > 0) yield* query(sql.recall, [filter.webhookID]);
        return length;
      }),
    async acquireLeases(holder, forMs) {
      const found = await all<LeaseRow>(sql.leases);
      const damaged = found.filter((row) => !table.isAuthentic(row)).map(({ id }) => id);
      const active = found.filter((row) => row.paused === null && !damaged.includes(row.id));
      const ofHolder = await all<{ webhook_id: string }>(sql.recalledOf, [holder]);
      const recalledIDs = ofHolder.map((row) => row.webhook_id);
      const isOver = (row: LeaseRow) => row.remaining_ms <= 0n || row.remaining_ms > BigInt(maxLeaseMs);
      const isHeld = (row: LeaseRow) => row.holder === holder && !isOver(row) && Number(row.remaining_ms) > forMs / 2;
      const held = active.filter(isHeld).map((row) => leaseOf(row, row.cursor, Number(row.remaining_ms)));
      const free = active.filter((row) => !isHeld(row) && (row.holder === holder || isOver(row)));
      // Common case: nothing is written.
      if (free.length === 0) return { held, recalled: recalledIDs, damaged };
      const ids = free.map(({ id }) => id);
      const acquired = await run<{ webhook_id: string; cursor: string }>(sql.acquire, [ids, holder, BigInt(forMs)]);
      const cursors = new Map(acquired.map((row) => [row.webhook_id, row.cursor]));
      // Read again: a webhook may have been changed before its lease was acquired, or after, which recalls the lease.
      const current = await all<SignedRow<WebhookRow>>(sql.held, [[...cursors.keys()], holder]);
      const taken = current.flatMap((row) => {
        const cursor = cursors.get(row.id);
        const isUsable = cursor !== undefined && row.paused === null && table.isAuthentic(row);
        return isUsable ? [leaseOf(row, cursor, forMs)] : [];
      });
      return { held: [...held, ...taken], recalled: recalledIDs, damaged };
    },
    releaseLeases: async (holder) => void (await run(sql.releaseLeases, [holder])),
    hasLease: async (holder, id) => (await all(sql.hasLease, [id, holder])).length > 0,
    releaseRecalled: (holder, id) =>
      transaction(function* () {
        yield* query(sql.releaseRecalled, [id, holder]);
        yield* query(sql.dropProgress);
      }),
    nextDeliveries: async (id, limit, kind) => {
      const rows = await all<DeliveryRow>(sql.nextDeliveries[kind], [id, limit]);
      return rows.map(deliveryFromRow);
    },
    recordResults: (holder, id, { cursor = null, enqueued, advanced, failed, removed, dead }) =>
      transaction(function* () {
        if ((yield* query(sql.saveCursor, [id, holder, cursor])).length === 0) return false;
        if (enqueued) {
          const spans = enqueued.spans.map(({ keyHash, version, lastVersion }) => [keyHash, version, lastVersion]);
          const dueMs = BigInt(enqueued.dueMs);
          if (spans.length > 0) yield* query(sql.enqueue, [id, JSON.stringify(spans), dueMs]);
          for (const notice of enqueued.notices ?? []) {
            const pending = deliveryToRow(id, { ...newNotice, ...notice, dueMs: enqueued.dueMs });
            yield* query(sql.insertEvent, valuesOf(pending, deliveryNames));
          }
        }
        if (advanced) {
          yield* query(sql.completeLast, sameDelivery(id, advanced));
          yield* query(sql.advance, [...sameDelivery(id, advanced), bigintOrNull(advanced.dueMs)]);
        }
        if (failed) {
          const { attempts, dueMs, failedAt, lastError } = failed;
          const values = [attempts, bigintOrNull(dueMs), millisecondsOf(failedAt), lastError];
          yield* query(sql.recordFailure, [...sameDelivery(id, failed), ...values]);
        }
        if (removed) yield* query(sql.removeDelivery, sameDelivery(id, removed));
        if (dead) yield* query(sql.insertEvent, valuesOf(deliveryToRow(id, dead), deliveryNames));
        return true;
      }),
    async bringForward(id, kind, afterMs, dueMs) {
      const bringBatch = () =>
        transaction(function* () {
          // Locked first, as by `recordResults`, so that the two wait for each other in one order.
          yield* query(sql.lockProgress, [id]);
          const late = yield* query<DeliveryRow>(sql.dueAfter[kind], [id, batchSize, BigInt(afterMs)]);
          const keyHashes = late.map((row) => row.key_hash);
          if (late.length > 0) yield* query(sql.bringForward, [id, keyHashes, BigInt(afterMs), BigInt(dueMs)]);
          return late.length;
        });
      let total = 0;
      for (let count = batchSize; count === batchSize; total += count) count = await bringBatch();
      return total;
    },
  };
}

function leaseOf(row: WebhookRow, cursor: string, remainingMs: number): LeasedWebhook {
  return { webhook: webhookFromRow(row), cursor, remainingMs };
}

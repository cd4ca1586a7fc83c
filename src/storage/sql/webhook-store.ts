import {
  maxWebhooks,
  tooManyWebhooks,
  type DeadLetterFilter,
  type Delivery,
  type LeasedWebhook,
  type Webhook,
  type WebhookStore,
} from '../../webhooks/webhook.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import {
  deliveryColumns,
  deliveryFromRow,
  deliveryToRow,
  webhookFromRow,
  webhookLayouts,
  webhookToRow,
  type DeliveryRow,
  type WebhookRow,
} from '../records/webhook.js';
import { isBindableText } from './dialect.js';
import { query, valuesOf, type SqlSession } from './session.js';
import { recalled, signedWebhookColumns, webhookStatements } from './webhook-statements.js';

type LeaseRow = SignedRow<WebhookRow> & { cursor: string; holder: string | null; remaining_ms: bigint };

/** Webhooks and the state of their deliveries, in the database of the keys. */
export function createWebhookStore({ dialect, all, run, transaction }: SqlSession, signer: RowSigner): WebhookStore {
  const sql = webhookStatements(dialect);
  const table = createSignedTable<WebhookRow>(signer, 'webhooks', webhookLayouts);
  const signedValues = (webhook: Webhook) => valuesOf(table.signed(webhookToRow(webhook)), signedWebhookColumns);

  function verified(row: SignedRow<WebhookRow>): Webhook {
    if (!table.isAuthentic(row)) throw table.integrityError(`The webhook ${row.id}`, row);
    return webhookFromRow(row);
  }
  const allRows = () => all<SignedRow<WebhookRow>>(sql.all);

  const filterValues = ({ webhookID, eventID }: DeadLetterFilter) => [webhookID, eventID ?? null] as const;
  const canMatch = ({ webhookID, eventID = '' }: DeadLetterFilter) =>
    isBindableText(webhookID) && isBindableText(eventID);

  /** The values that identify a delivery as it was read. */
  const sameDelivery = (id: string, { keyHash, eventID, version }: Delivery) => [id, keyHash, eventID, version];
  const bigintOrNull = (value: number | undefined) => (value === undefined ? null : BigInt(value));

  return {
    add: (webhook, cursor) =>
      transaction(function* () {
        // Transactions that add webhooks count them one after the other.
        if (sql.lockTable) yield* query(sql.lockTable);
        const [found] = yield* query<{ count: bigint }>(sql.count);
        if (Number(found?.count ?? 0n) >= maxWebhooks) throw tooManyWebhooks();
        yield* query(sql.insert, signedValues(webhook));
        yield* query(sql.insertProgress, [webhook.id, cursor]);
      }),
    list: async () => (await allRows()).filter(table.isAuthentic).map(webhookFromRow),
    change: (id, change) =>
      transaction(function* () {
        const [row] = isBindableText(id) ? yield* query<SignedRow<WebhookRow>>(sql.byIDForUpdate, [id]) : [];
        if (!row) return undefined;
        const next = change(verified(row));
        const signed = table.signed(webhookToRow(next));
        if (Buffer.compare(signed.mac, row.mac) === 0) return next;
        yield* query(sql.replace, valuesOf(signed, signedWebhookColumns));
        yield* query(sql.recall, [id]);
        return next;
      }),
    remove: (id) =>
      transaction(function* () {
        if (!isBindableText(id)) return false;
        const removed = yield* query(sql.remove, [id]);
        yield* query(sql.recall, [id]);
        yield* query(sql.removeDeliveries, [id]);
        yield* query(sql.dropProgress);
        return removed.length > 0;
      }),
    isRecalled: async (id) => (await all(sql.isRecalled, [id])).length > 0,
    damaged: async () => (await allRows()).filter((row) => !table.isAuthentic(row)).map(({ id }) => id),
    deliveryStats: async () => {
      const rows = await all<{ id: string; failing: bigint; dead: bigint }>(sql.deliveryStats);
      return rows.map((row) => ({
        webhookID: row.id,
        retryingKeys: Number(row.failing),
        deadLetters: Number(row.dead),
      }));
    },
    deadLetters: async (filter, limit) =>
      canMatch(filter)
        ? (await all<DeliveryRow>(sql.deadLetters, [...filterValues(filter), limit])).map(deliveryFromRow)
        : [],
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
      const recalledIDs = found
        .filter((row) => row.holder === `${recalled}${holder}` && row.remaining_ms > 0n)
        .map(({ id }) => id);
      const isHeld = (row: LeaseRow) => row.holder === holder && Number(row.remaining_ms) > forMs / 2;
      const held = active.filter(isHeld).map((row) => leaseOf(row, row.cursor, Number(row.remaining_ms)));
      const free = active.filter((row) => !isHeld(row) && (row.holder === holder || row.remaining_ms <= 0n));
      // The usual case, in which nothing is written.
      if (free.length === 0) return { held, recalled: recalledIDs, damaged };
      const ids = free.map(({ id }) => id);
      const acquired = await run<{ webhook_id: string; cursor: string }>(sql.acquire, [ids, holder, BigInt(forMs)]);
      const cursors = new Map(acquired.map((row) => [row.webhook_id, row.cursor]));
      // Read again: a webhook may have been changed before its lease was acquired.
      const current = await all<SignedRow<WebhookRow>>(sql.byIDs, [[...cursors.keys()]]);
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
    recordResults: (holder, id, { cursor = null, enqueued, advanced, failed, removed, dead, retryAllMs }) =>
      transaction(function* () {
        if ((yield* query(sql.saveCursor, [id, holder, cursor])).length === 0) return false;
        if (enqueued) {
          const spans = enqueued.spans.map(({ keyHash, version, lastVersion }) => [keyHash, version, lastVersion]);
          yield* query(sql.enqueue, [id, JSON.stringify(spans), BigInt(enqueued.dueMs)]);
        }
        if (advanced) {
          yield* query(sql.completeLast, sameDelivery(id, advanced));
          yield* query(sql.advance, [...sameDelivery(id, advanced), bigintOrNull(advanced.dueMs)]);
        }
        if (failed) {
          const { attempts, dueMs, failedAt, lastError } = failed;
          const values = [attempts, bigintOrNull(dueMs), bigintOrNull(failedAt?.getTime()), lastError];
          yield* query(sql.recordFailure, [...sameDelivery(id, failed), ...values]);
        }
        if (removed) yield* query(sql.removeDelivery, sameDelivery(id, removed));
        if (dead) yield* query(sql.insertDead, valuesOf(deliveryToRow(id, dead), deliveryColumns));
        if (retryAllMs !== undefined) yield* query(sql.retryAll, [id, BigInt(retryAllMs)]);
        return true;
      }),
  };
}

function leaseOf(row: WebhookRow, cursor: string, remainingMs: number): LeasedWebhook {
  return { webhook: webhookFromRow(row), cursor, remainingMs };
}

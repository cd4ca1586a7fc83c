import {
  maxWebhooks,
  tooManyWebhooks,
  type DeadLetter,
  type DeadLetterFilter,
  type LeasedWebhook,
  type Webhook,
  type WebhookStore,
} from '../../webhooks/webhook.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import {
  deadColumns,
  deadLetterFromRow,
  deadLetterToRow,
  retryStateColumns,
  retryStateFromRow,
  retryStateToRow,
  webhookFromRow,
  webhookLayouts,
  webhookToRow,
  type DeadRow,
  type RetryStateRow,
  type WebhookRow,
} from '../records/webhook.js';
import { isBindableText } from './dialect.js';
import { query, valuesOf, type SqlSession, type Work } from './session.js';
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

  function* putDeadLetter(letter: DeadLetter): Work<void> {
    yield* query(sql.putDead, valuesOf(deadLetterToRow(letter), deadColumns));
  }

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
        for (const statement of sql.removeDeliveries) yield* query(statement, [id]);
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
        ? (await all<DeadRow>(sql.deadLetters, [...filterValues(filter), limit])).map(deadLetterFromRow)
        : [],
    replay: async (filter, dueMs) =>
      canMatch(filter) ? (await run(sql.replay, [...filterValues(filter), BigInt(dueMs)])).length : 0,
    discard: (filter) =>
      transaction(function* () {
        if (!canMatch(filter)) return 0;
        // Locked first, as by a settlement, so that the two wait for each other in one order.
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
    retryStates: async (id) => (await all<RetryStateRow>(sql.retryStates, [id])).map(retryStateFromRow),
    dueReplays: async (id, nowMs, limit) =>
      (await all<DeadRow>(sql.dueReplays, [id, BigInt(nowMs), limit])).map(deadLetterFromRow),
    recordResults: (
      holder,
      id,
      { cursor = null, failing = [], done = [], dead = [], replayFailed = [], redriven = [] },
    ) =>
      transaction(function* () {
        if ((yield* query(sql.advance, [id, holder, cursor])).length === 0) return false;
        for (const key of failing) {
          yield* query(sql.putRetryState, valuesOf(retryStateToRow(id, key), retryStateColumns));
        }
        if (done.length > 0) yield* query(sql.dropRetryStates, [id, done]);
        for (const letter of dead) yield* putDeadLetter(letter);
        for (const letter of replayFailed) {
          const isThere = (yield* query(sql.deadLetterForUpdate, [id, letter.eventID])).length > 0;
          if (isThere) yield* putDeadLetter(letter);
        }
        for (const eventID of redriven) yield* query(sql.discard, [id, eventID]);
        return true;
      }),
  };
}

function leaseOf(row: WebhookRow, cursor: string, remainingMs: number): LeasedWebhook {
  return { webhook: webhookFromRow(row), cursor, remainingMs };
}

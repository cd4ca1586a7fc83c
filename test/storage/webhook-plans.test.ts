import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPgPool, type PgPool } from '../../src/storage/postgres/pool.js';
import { createPgSession } from '../../src/storage/postgres/session.js';
import { parametersOf } from '../../src/storage/sqlite/session.js';
import type { SqlSession, Value, Work } from '../../src/storage/sql/session.js';
import { createWebhookStore } from '../../src/storage/sql/webhook-store.js';
import type { WebhookStore } from '../../src/webhooks/webhook.js';
import { postgres, type EnginePlace } from '../support/engines.js';
import { vacuum } from '../support/postgres.js';
import { openPlans, recordStatements } from '../support/postgres-plans.js';
import { signer } from '../support/signer.js';
import { openOwnSession } from '../support/storage.js';

/** A receiver has rejected half of 20,000 changed keys. All events are overdue, and 1,000 are given up. */
const fill = (numbers: string) => `
  INSERT INTO webhook_deliveries SELECT 'a', 'hash ' || n, '', 'pending', 1, 1, CASE WHEN n <= 10000 THEN 1 ELSE 0 END, n, NULL, '' FROM ${numbers};
  INSERT INTO webhook_deliveries SELECT 'a', 'hash ' || n, 'event ' || n, 'dead', 1, 1, 30, NULL, n, ''
    FROM ${numbers} WHERE n <= 1000`;

/** What a worker does for each attempt. */
const uses: readonly [string, (store: WebhookStore) => Promise<unknown>][] = [
  ['the next events', (store) => store.nextDeliveries('a', 8, 'any')],
  ['the next new events', (store) => store.nextDeliveries('a', 8, 'first')],
  ['the next retries', (store) => store.nextDeliveries('a', 8, 'retry')],
  ['whether there are too many dead letters', (store) => store.countDeadLetters('a', 1_000)],
  ['whether a new event is due too late', (store) => store.bringForward('a', 'first', 1e12, 1e12)],
  ['some retries to bring forward', (store) => store.bringForward('a', 'retry', 9_990, 9_990)],
];

describe('the plan on SQLite', () => {
  const numbers =
    '(WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count LIMIT 20000) SELECT n FROM count)';

  it.each(uses)('enters an index of %s alone, and sorts nothing but what it returns', async (_, use) => {
    const { database, session } = openOwnSession();
    database.exec(fill(numbers));
    const sent: { text: string; values: readonly Value[] }[] = [];
    function* heard<T>(work: Work<T>): Work<T> {
      let step = work.next();
      while (!step.done) {
        sent.push({ text: step.value.statement.text, values: step.value.values });
        step = work.next(yield step.value);
      }
      return step.value;
    }
    const recording: SqlSession = {
      ...session,
      all: (statement, values = []) => {
        sent.push({ text: statement.text, values });
        return session.all(statement, values);
      },
      transaction: (work) => session.transaction(() => heard(work())),
    };
    await use(createWebhookStore(recording, signer));
    const steps = sent
      .filter(({ text }) => text.includes('webhook_deliveries'))
      .flatMap(({ text, values }) =>
        database
          .prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
          .all(parametersOf(values))
          .map(({ detail }) => detail)
          .filter((detail) => detail.includes('webhook_deliveries')),
      );
    expect(steps.length).toBeGreaterThan(0);
    for (const step of steps) {
      expect(step).toMatch(
        /^SEARCH webhook_deliveries USING (COVERING )?INDEX (first|retried|dead)_webhook_deliveries |^SEARCH webhook_deliveries USING PRIMARY KEY \(webhook_id=\? AND key_hash=\?\)$/,
      );
    }
  });
});

describe.skipIf(postgres.isMissing)(`the plan on ${postgres.name}`, () => {
  let place: EnginePlace;
  let connections: PgPool;
  let plans: Awaited<ReturnType<typeof openPlans>>;
  beforeAll(async () => {
    place = await postgres.make({ isSeparate: true });
    const url = place.database?.url ?? '';
    await place.database?.run(fill('generate_series(1, 20000) AS numbers (n)'));
    if (place.database) await vacuum(place.database);
    connections = createPgPool(url, 'plans');
    plans = await openPlans(url);
  });
  afterAll(async () => {
    await plans.close();
    await connections.close();
    await place.remove();
  });

  it.each(uses)('reads few rows for %s, with either kind of plan', async (name, use) => {
    const { connections: heard, sent } = recordStatements(connections);
    await use(createWebhookStore(createPgSession(heard), signer));
    const maxRows = name.includes('dead') ? 1_000 : 16;
    for (const one of sent) {
      const text = typeof one.statement === 'string' ? one.statement : one.statement.text;
      if (!text.includes('webhook_deliveries')) continue;
      for (const { scannedTables, rowsRead } of await plans.of(one)) {
        expect(scannedTables).toStrictEqual([]);
        expect(rowsRead).toBeLessThanOrEqual(maxRows);
      }
    }
  });
});

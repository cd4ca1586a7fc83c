import type { ChangeEvent } from '../../src/keys/change-feed.js';
import type { TestApp } from './app.js';
import type { EnginePlace } from './engines.js';
import { until } from './until.js';

/**
 * Returns all events of the change feed of a service, at most 1,000. Waits until it has all of the history: PostgreSQL
 * delivers a change when every transaction of the server that began earlier has ended, and suites share the server.
 */
export async function allEvents({ app }: TestApp, place: EnginePlace): Promise<readonly ChangeEvent[]> {
  let events: readonly ChangeEvent[] = [];
  await until(async () => {
    const [row] = await place.rows<{ count: bigint | string }>('SELECT count(*) AS count FROM history');
    ({ events } = await app.services.feed.read({ after: undefined, limit: 1_000 }));
    return events.length === Number(row?.count);
  }, 'The feed of the whole history');
  return events;
}

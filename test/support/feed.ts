import { readConfig } from '../../src/config/config.js';
import type { ChangeEvent } from '../../src/keys/change-feed.js';
import type { KeyNotice } from '../../src/keys/notices.js';
import { openServices } from '../../src/storage/open-storage.js';
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

/** The cursor of the newest change, once the feed has the whole history: see {@link allEvents}. */
export async function newestCursor(t: TestApp, place: EnginePlace): Promise<string> {
  await allEvents(t, place);
  return t.app.services.feed.latestCursor();
}

/** Returns all notices, in the order of the feed. */
export async function allNotices({ env }: EnginePlace): Promise<readonly KeyNotice[]> {
  const { config, secrets } = readConfig(env);
  const services = await openServices(config, secrets);
  try {
    const notices: KeyNotice[] = [];
    for (let after: string | undefined, hasMore = true; hasMore;) {
      const page = await services.feed.read({ after, limit: 1_000 });
      notices.push(...page.events.flatMap(({ notice }) => notice ?? []));
      ({ cursor: after, hasMore } = page);
    }
    return notices;
  } finally {
    await services.close();
  }
}

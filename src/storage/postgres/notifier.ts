import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';

/** One for each schema: a database may hold several installations, and knows channels by name alone. */
const channel = `'keyfront_' || md5(current_schema())`;
const tell = prepared(`SELECT pg_notify(${channel}, '')`);

/** As many milliseconds pass between two tellings, however many changes there are. */
const tellEveryMs = 25;
const againAfterMs = 1_000;
const deadAfterMs = 10_000;

export type PgNotifier = ReturnType<typeof createPgNotifier>;

/** How processes on one database tell each other that there is a change. What is told may be lost; nothing depends on it. */
export function createPgNotifier(url: string, { run }: PgPool) {
  let isTelling = false;
  let isWanted = false;

  async function tellWhileWanted(): Promise<void> {
    isTelling = true;
    while (isWanted) {
      isWanted = false;
      await run((session) => session.query(tell)).catch(() => undefined);
      await wait(tellEveryMs, undefined, { ref: false });
    }
    isTelling = false;
  }

  return {
    /**
     * Tells the others, after a commit and not within it: a transaction that notifies holds up the commits of all others
     * that do.
     */
    tell: (): void => {
      isWanted = true;
      if (!isTelling) void tellWhileWanted();
    },
    /** Calls back when another process, or this one, has told. Returns what ends it. */
    listen: (onTold: () => void): (() => void) => {
      let isOver = false;
      let client: Client | undefined;
      void (async () => {
        while (!isOver) {
          client = new Client({
            connectionString: url,
            application_name: 'keyfront changes',
            keepAlive: true,
            connectionTimeoutMillis: deadAfterMs,
          });
          await listenUntilLost(client, onTold);
          if (!isOver) await wait(againAfterMs, undefined, { ref: false });
        }
      })();
      return () => {
        isOver = true;
        void client?.end().catch(() => undefined);
      };
    },
  };
}

/** Resolves when the connection is gone. */
async function listenUntilLost(client: Client, onTold: () => void): Promise<void> {
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  client.on('notification', onTold);
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>(`SELECT ${channel} AS name`);
    await client.query(`LISTEN ${client.escapeIdentifier(rows[0]?.name ?? '')}`);
    // What was told before now was not heard.
    onTold();
    await lost;
  } catch {
    await client.end().catch(() => undefined);
  }
}

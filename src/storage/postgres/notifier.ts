import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { urlsOfHosts } from '../../lib/postgres-hosts.js';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';

/** One channel per schema: a database may hold several installations, and channels belong to no schema. */
const channel = `'keyfront_' || md5(current_schema())`;
const notify = prepared(`SELECT pg_notify(${channel}, '')`);

/** The time between two notifications, however many changes there are. */
const minIntervalMs = 25;
const reconnectDelayMs = 1_000;
const connectTimeoutMs = 10_000;

/** Sends and receives the notifications of one database. */
export type PgNotifier = ReturnType<typeof createPgNotifier>;

/** Notifies the processes on one database of changes. Notifications may be lost; polling finds their changes too. */
export function createPgNotifier(url: string, { run }: PgPool) {
  let isNotifying = false;
  let isWanted = false;

  async function notifyWhileWanted(): Promise<void> {
    isNotifying = true;
    while (isWanted) {
      isWanted = false;
      await run((session) => session.query(notify)).catch(() => undefined);
      await wait(minIntervalMs, undefined, { ref: false });
    }
    isNotifying = false;
  }

  return {
    /** Called after a commit and not within it: transactions that notify commit one after the other. */
    notify: (): void => {
      isWanted = true;
      if (!isNotifying) void notifyWhileWanted();
    },
    /** Calls back after a notification by any process, this one included. Returns the function that ends it. */
    listen: (onNotify: () => void): (() => void) => {
      let isEnded = false;
      let client: Client | undefined;
      void (async () => {
        const urls = urlsOfHosts(url);
        // A standby rejects LISTEN.
        for (let index = 0; !isEnded; index += 1) {
          client = new Client({
            connectionString: urls[index % urls.length],
            application_name: 'keyfront changes',
            keepAlive: true,
            connectionTimeoutMillis: connectTimeoutMs,
          });
          await listenUntilLost(client, onNotify);
          if (!isEnded) await wait(reconnectDelayMs, undefined, { ref: false });
        }
      })();
      return () => {
        isEnded = true;
        void client?.end().catch(() => undefined);
      };
    },
  };
}

/** Resolves when the connection is gone. */
async function listenUntilLost(client: Client, onNotify: () => void): Promise<void> {
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  client.on('notification', onNotify);
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>(`SELECT ${channel} AS name`);
    await client.query(`LISTEN ${client.escapeIdentifier(rows[0]?.name ?? '')}`);
    // Earlier notifications have been missed.
    onNotify();
    await lost;
  } catch {
    await client.end().catch(() => undefined);
  }
}

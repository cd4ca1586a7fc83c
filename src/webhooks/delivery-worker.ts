import { deliverNewEvents } from './deliver-new-events.js';
import { createDeliverySession, type DeliveryWorkerDeps } from './delivery-session.js';
import { deliverRequestedReplays } from './deliver-replays.js';
import { retryKeys } from './retry-keys.js';
import type { SignedSender } from './sign-and-send.js';
import type { LeasedWebhook } from './webhook.js';

/** Delivers events to one receiver while this process holds the lease of its webhook. */
export interface DeliveryWorker {
  /** Reads the change feed again. */
  readonly notifyOfChanges: () => void;
  /** Looks for requested replays. */
  readonly notifyOfReplays: () => void;
  /** Starts no further attempt. Resolves when the attempts in flight have ended or, after `withinMs`, were aborted. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Set when the worker has stopped by itself: `failed` after a storage error. */
  readonly endState: () => 'failed' | 'over' | undefined;
}

/** Starts the worker. It delivers new events, retries failed ones and replays dead letters at the same time. */
export function createDeliveryWorker(
  leased: LeasedWebhook,
  send: SignedSender,
  deps: DeliveryWorkerDeps,
): DeliveryWorker {
  const session = createDeliverySession(leased, send, deps);
  const { end, fail, hasFailed, hasEnded, feedEvent, replayEvent } = session;

  async function run(): Promise<void> {
    await session.load();
    await Promise.all([
      deliverNewEvents(session, leased.cursor).catch(fail),
      retryKeys(session).catch(fail),
      deliverRequestedReplays(session).catch(fail),
    ]);
    await session.written();
  }

  const over = run()
    .catch(fail)
    .finally(() => {
      session.close();
      send.close();
    });

  return {
    notifyOfChanges: feedEvent.set,
    notifyOfReplays: replayEvent.set,
    endState: () => (hasFailed() ? 'failed' : hasEnded() ? 'over' : undefined),
    async stop(withinMs) {
      end();
      const timer = setTimeout(session.abort, withinMs);
      await over;
      clearTimeout(timer);
    },
  };
}

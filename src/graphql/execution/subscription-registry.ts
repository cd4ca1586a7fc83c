import { AppError } from '../../lib/errors.js';
import type { Telemetry } from '../../telemetry/ports.js';

/** Maximum numbers of open subscriptions. Each holds a connection and up to a page of changes in memory. */
export interface SubscriptionLimits {
  readonly ofProcess: number;
  readonly ofCredential: number;
}

/** Counts the open subscriptions of a process, and ends them. */
export interface SubscriptionRegistry {
  /**
   * Registers a subscription.
   *
   * @throws {AppError} RATE_LIMITED when the credential has the maximum number of subscriptions; UNAVAILABLE when the
   * process has the maximum, or is stopping.
   */
  readonly open: (credentialID: string) => OpenSubscription;
  /** Ends all subscriptions and rejects new ones. */
  readonly drain: () => void;
}

/** One open subscription. */
export interface OpenSubscription {
  /** Aborted when the subscription ends; the reason is the AppError to send to the client, if any. */
  readonly signal: AbortSignal;
  readonly end: (reason?: unknown) => void;
}

/** Creates an empty registry. */
export function createSubscriptionRegistry(
  { meter }: Telemetry = {},
  { ofProcess = 1_000, ofCredential = 100 }: Partial<SubscriptionLimits> = {},
): SubscriptionRegistry {
  const openSubscriptions = new Set<OpenSubscription>();
  const counts = new Map<string, number>();
  let isDraining = false;
  meter?.registerGauge('streams', () => openSubscriptions.size);

  return {
    open(credentialID) {
      const count = counts.get(credentialID) ?? 0;
      if (isDraining) throw stoppingError();
      if (count >= ofCredential) {
        const message = `The credential already has ${count} open subscriptions, which is the maximum.`;
        throw new AppError('RATE_LIMITED', message, { retryAfterSeconds: 10 });
      }
      if (openSubscriptions.size >= ofProcess) {
        throw new AppError('UNAVAILABLE', 'The maximum number of open subscriptions is reached.', {
          retryAfterSeconds: 10,
        });
      }
      const controller = new AbortController();
      const subscription: OpenSubscription = {
        signal: controller.signal,
        end: (reason) => {
          if (!openSubscriptions.delete(subscription)) return;
          const left = (counts.get(credentialID) ?? 1) - 1;
          if (left > 0) counts.set(credentialID, left);
          else counts.delete(credentialID);
          controller.abort(reason);
        },
      };
      openSubscriptions.add(subscription);
      counts.set(credentialID, count + 1);
      return subscription;
    },
    drain() {
      isDraining = true;
      for (const subscription of openSubscriptions) subscription.end(stoppingError());
    },
  };
}

function stoppingError(): AppError {
  const message = 'The service is stopping. Subscribe again with the last cursor as `after`.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

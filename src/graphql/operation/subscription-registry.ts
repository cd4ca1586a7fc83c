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
  readonly open: (credentialID: string) => Stream;
  /** Ends all subscriptions and rejects new ones. */
  readonly drain: () => void;
}

/** One open subscription. */
export interface Stream {
  /** Aborted when the subscription ends; the reason is the AppError to send to the client, if any. */
  readonly signal: AbortSignal;
  readonly end: (reason?: unknown) => void;
}

/** Creates an empty registry. */
export function createSubscriptionRegistry(
  { meter }: Telemetry = {},
  { ofProcess = 1_000, ofCredential = 100 }: Partial<SubscriptionLimits> = {},
): SubscriptionRegistry {
  const open = new Set<Stream>();
  const counts = new Map<string, number>();
  let isDraining = false;
  meter?.registerGauge('streams', () => open.size);

  return {
    open(credentialID) {
      const count = counts.get(credentialID) ?? 0;
      if (isDraining) throw stopping();
      if (count >= ofCredential) {
        const message = `The credential already has ${count} open subscriptions, which is the maximum.`;
        throw new AppError('RATE_LIMITED', message, { retryAfterSeconds: 10 });
      }
      if (open.size >= ofProcess) {
        throw new AppError('UNAVAILABLE', 'The maximum number of open subscriptions is reached.', {
          retryAfterSeconds: 10,
        });
      }
      const controller = new AbortController();
      const stream: Stream = {
        signal: controller.signal,
        end: (reason) => {
          if (!open.delete(stream)) return;
          const left = (counts.get(credentialID) ?? 1) - 1;
          if (left > 0) counts.set(credentialID, left);
          else counts.delete(credentialID);
          controller.abort(reason);
        },
      };
      open.add(stream);
      counts.set(credentialID, count + 1);
      return stream;
    },
    drain() {
      isDraining = true;
      for (const stream of open) stream.end(stopping());
    },
  };
}

function stopping(): AppError {
  const message = 'The service is stopping. Subscribe again with the last cursor as `after`.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

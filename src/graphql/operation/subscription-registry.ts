import { AppError } from '../../lib/errors.js';
import type { Telemetry } from '../../telemetry/ports.js';

/** How many may follow at a time. Each holds a connection, and up to a page of changes. */
export const mostStreams = { ofProcess: 1_000, ofCredential: 100 } as const;

/** Answers that go on until somebody ends them. */
export interface Streams {
  /** Throws RATE_LIMITED where the credential has as many as it may, UNAVAILABLE where the process has, or is stopping. */
  readonly open: (credentialID: string) => Stream;
  /** Ends all, and opens none any more. */
  readonly drain: () => void;
}

export interface Stream {
  /** Aborted when it ends, for an AppError where its reader is to be told of one. */
  readonly signal: AbortSignal;
  readonly end: (reason?: unknown) => void;
}

export function createStreams(
  { meter }: Telemetry = {},
  most: Record<keyof typeof mostStreams, number> = mostStreams,
): Streams {
  const open = new Set<Stream>();
  const counts = new Map<string, number>();
  let isDraining = false;
  meter?.registerGauge('streams', () => open.size);

  return {
    open(credentialID) {
      const count = counts.get(credentialID) ?? 0;
      if (isDraining) throw stopping();
      if (count >= most.ofCredential) {
        const message = `The credential has ${count} subscriptions already, and no more are kept for one.`;
        throw new AppError('RATE_LIMITED', message, { retryAfterSeconds: 10 });
      }
      if (open.size >= most.ofProcess) {
        throw new AppError('UNAVAILABLE', 'There are as many subscriptions as are kept.', { retryAfterSeconds: 10 });
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
  const message = 'The service is stopping. Subscribe again, with the last cursor as `after`.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

import type { KeyRevision } from '../keys/key.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { messageOf, type RenderChange } from './event.js';
import type { AttemptControl, AttemptOutcome } from './http-client.js';
import { parseRetryAfterMs } from './retry-policy.js';
import type { SignedSender } from './sign-and-send.js';

/** Result of one attempt. */
export interface AttemptResult {
  /** `gone`: the receiver returned 410. */
  readonly status: 'delivered' | 'failed' | 'gone';
  /** Contains no text from the receiver. */
  readonly detail: string;
  /** The `Retry-After` of the response; undefined without one. */
  readonly retryAfterMs: number | undefined;
}

/** What an attempt needs. */
export interface AttemptDeps {
  readonly send: SignedSender;
  readonly control: AttemptControl;
  readonly breaker: CircuitBreaker;
  readonly log: Logger;
  readonly meter: Meter | undefined;
  readonly renderChange: RenderChange;
  readonly clockMs: () => number;
}

/** Sends the event of a history entry once, and records the result in the circuit breaker; undefined if it was aborted. */
export async function attemptDelivery(entry: KeyRevision, deps: AttemptDeps): Promise<AttemptResult | undefined> {
  const { send, control, breaker, log, meter, renderChange, clockMs } = deps;
  const message = messageOf(entry, renderChange);
  const outcome = await send(message, control);
  if (control.abort.aborted) return undefined;
  const status = 'status' in outcome ? outcome.status : 0;
  const isDelivered = status >= 200 && status < 300;
  const detail = describeOutcome(outcome);
  const { keyHash, versionAfter: version } = entry;
  meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
  log[isDelivered ? 'debug' : 'warn']({ event: message.id, keyHash, version, why: detail }, 'webhook attempt');
  if (isDelivered) {
    breaker.recordSuccess();
    return { status: 'delivered', detail, retryAfterMs: undefined };
  }
  const retryAfterMs = 'status' in outcome ? parseRetryAfterMs(outcome.retryAfter, clockMs()) : undefined;
  breaker.recordFailure(keyHash, [429, 503].includes(status) ? retryAfterMs : undefined);
  return { status: status === 410 ? 'gone' : 'failed', detail, retryAfterMs };
}

function describeOutcome(outcome: AttemptOutcome): string {
  if ('error' in outcome) return outcome.error;
  const { status } = outcome;
  return status >= 300 && status < 400 ? `returned ${status}; redirects are not followed` : `returned ${status}`;
}

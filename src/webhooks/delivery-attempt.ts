import type { LimitFunction } from 'p-limit';
import type { KeyRevision } from '../keys/key.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { messageOf, type RenderChange } from './event.js';
import type { AttemptOutcome } from './http-client.js';
import { parseRetryAfterMs } from './retry-policy.js';
import type { SignedSender } from './sign-and-send.js';
import type { Webhook, WebhookStore } from './webhook.js';

/** `gone`: the receiver returned 410, and the webhook is paused. `none`: no attempt was made. */
export type AttemptStatus = 'delivered' | 'failed' | 'gone' | 'none';

/** Result of one attempt, as the delivery session records it. */
export interface AttemptResult {
  readonly status: AttemptStatus;
  /** Contains no text from the receiver. */
  readonly detail: string;
  /** The `Retry-After` of the response; undefined without one. */
  readonly retryAfterMs: number | undefined;
}

/** What the attempts of one delivery session need. */
export interface AttemptDeps {
  readonly webhook: Webhook;
  readonly send: SignedSender;
  readonly store: Pick<WebhookStore, 'hasLease' | 'change'>;
  readonly holder: string;
  /** False after the lease has ended. */
  readonly maySend: () => boolean;
  readonly breaker: CircuitBreaker;
  readonly log: Logger;
  readonly meter: Meter | undefined;
  readonly renderChange: RenderChange;
  readonly storage: LimitFunction;
  readonly clockMs: () => number;
  /** Aborted when the attempts in flight must end. */
  readonly abort: AbortSignal;
  readonly isStopping: () => boolean;
  /** Starts no further attempt. */
  readonly end: () => void;
  /** Is called after every success. */
  readonly onSuccess: () => void;
}

/** Delivers single events of one webhook. */
export interface DeliveryAttempts {
  /**
   * Makes one attempt to deliver the event of a history entry.
   *
   * @throws {AppError} when the store fails.
   */
  readonly attempt: (entry: KeyRevision) => Promise<AttemptResult>;
  /** Pauses the webhook in storage and ends its worker. */
  readonly pause: (reason: string) => Promise<void>;
}

const notAttempted: AttemptResult = { status: 'none', detail: '', retryAfterMs: undefined };

/** Creates the attempts of one delivery session. */
export function createDeliveryAttempts(deps: AttemptDeps): DeliveryAttempts {
  const { webhook, send, store, holder, breaker, log, storage, clockMs, abort, isStopping, end } = deps;

  async function pause(reason: string): Promise<void> {
    log.error({ why: reason }, 'webhook paused');
    const paused = { at: new Date(clockMs()), why: reason };
    await storage(() => store.change(webhook.id, (found) => (found.paused ? found : { ...found, paused })));
    end();
  }

  async function attempt(entry: KeyRevision): Promise<AttemptResult> {
    // Defence in depth: storage returns only events of this organisation.
    if (webhook.orgID !== undefined && entry.orgID !== webhook.orgID) {
      throw new Error('The event belongs to another organisation.');
    }
    const message = messageOf(entry, deps.renderChange);
    // A command that changes the webhook recalls the lease, so that no later attempt uses the old state.
    if (!(await storage(() => store.hasLease(holder, webhook.id)))) end();
    if (isStopping()) return notAttempted;
    const outcome = await send(message, { abort, maySend: deps.maySend });
    if (isStopping() && abort.aborted) return notAttempted;
    const isDelivered = 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
    const detail = describeOutcome(outcome);
    const { keyHash, versionAfter: version } = entry;
    deps.meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
    log[isDelivered ? 'debug' : 'warn']({ event: message.id, keyHash, version, why: detail }, 'webhook attempt');
    if (isDelivered) {
      breaker.recordSuccess();
      deps.onSuccess();
      return { status: 'delivered', detail, retryAfterMs: undefined };
    }
    const retryAfterMs = 'status' in outcome ? parseRetryAfterMs(outcome.retryAfter, clockMs()) : undefined;
    const requestsPause = 'status' in outcome && [429, 503].includes(outcome.status);
    breaker.recordFailure(keyHash, requestsPause ? retryAfterMs : undefined);
    if ('status' in outcome && outcome.status === 410) {
      await pause('the receiver returned 410 Gone');
      return { status: 'gone', detail, retryAfterMs };
    }
    return { status: 'failed', detail, retryAfterMs };
  }

  return { attempt, pause };
}

function describeOutcome(outcome: AttemptOutcome): string {
  if ('error' in outcome) return outcome.error;
  const { status } = outcome;
  return status >= 300 && status < 400 ? `returned ${status}; redirects are not followed` : `returned ${status}`;
}

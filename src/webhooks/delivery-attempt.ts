import type { LimitFunction } from 'p-limit';
import type { KeyRevision } from '../keys/key.js';
import type { KeyStore } from '../keys/ports.js';
import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { eventIDOf, messageOf, unverifiedEventIDOf, type RenderChange } from './event.js';
import type { AttemptControl, AttemptOutcome, WebhookClient } from './http-client.js';
import { parseRetryAfterMs, retryDelayMs, type RetryPolicy } from './retry-policy.js';
import type { Delivery, DeliveryResults, Webhook } from './webhook.js';

/** What the attempts of one delivery worker need. */
export interface AttemptDeps {
  readonly webhook: Webhook;
  readonly client: WebhookClient;
  readonly history: Pick<KeyStore, 'historyOf'>;
  readonly renderChange: RenderChange;
  readonly log: Logger;
  readonly meter?: Meter | undefined;
  readonly retryPolicy: RetryPolicy;
  /** Limits the concurrent storage calls of all delivery workers. */
  readonly storage: LimitFunction;
  readonly control: AttemptControl;
  /** Whether the lease is still held. Called before an attempt. */
  readonly mayAttempt: () => Promise<boolean>;
  /** Pauses the webhook. */
  readonly pause: (reason: string) => Promise<void>;
  readonly breaker: CircuitBreaker;
}

const integrityError = 'its history entry fails the integrity check';

/**
 * Makes one attempt to deliver the next event of a delivery, and returns what to record. Returns undefined if no attempt was made, or if
 * it has no result.
 *
 * @throws {AppError} when the store fails.
 */
export async function attemptDelivery(delivery: Delivery, deps: AttemptDeps): Promise<DeliveryResults | undefined> {
  const { client, control, breaker, log, meter } = deps;
  const { keyHash, version } = delivery;
  const entry = await readEntry(delivery, deps);
  if (entry === 'purged') {
    log.warn({ keyHash, version }, 'the key has been purged with its undelivered events');
    return { removed: delivery };
  }
  if (entry === 'damaged') {
    log.error({ keyHash, version, why: integrityError }, 'webhook event cannot be sent');
    const eventID = unverifiedEventIDOf(keyHash, version);
    return failureOf(delivery, { eventID, detail: integrityError }, deps);
  }
  if (!(await deps.mayAttempt())) return undefined;
  const wasOpen = breaker.isOpen();
  const message = messageOf(entry, deps.renderChange);
  const outcome = await client.send(message, control);
  if (control.abort.aborted) return undefined;
  const status = 'status' in outcome ? outcome.status : 0;
  const isDelivered = status >= 200 && status < 300;
  const detail = describeOutcome(outcome);
  meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
  log[isDelivered ? 'debug' : 'warn']({ event: message.id, keyHash, version, why: detail }, 'webhook attempt');
  if (isDelivered) {
    breaker.recordSuccess();
    const dueMs = Date.now();
    return { advanced: { ...delivery, dueMs }, ...(wasOpen && { retryAllMs: dueMs }) };
  }
  const retryAfterMs = 'status' in outcome ? parseRetryAfterMs(outcome.retryAfter, Date.now()) : undefined;
  breaker.recordFailure(keyHash, [429, 503].includes(status) ? retryAfterMs : undefined);
  if (status !== 410) return failureOf(delivery, { eventID: message.id, detail, retryAfterMs }, deps);
  await deps.pause('the receiver returned 410 Gone');
  return undefined;
}

/** Reads the history entry of the next event of a delivery. */
async function readEntry(
  { keyHash, eventID, version }: Delivery,
  { webhook, history, storage }: AttemptDeps,
): Promise<KeyRevision | 'damaged' | 'purged'> {
  try {
    const [entry] = await storage(() => history.historyOf(keyHash, { after: version - 1, limit: 1 }));
    // After a purge, the identifier may belong to another key, even of another organisation.
    if (entry?.versionAfter !== version) return 'purged';
    if (webhook.orgID !== undefined && entry.orgID !== webhook.orgID) return 'purged';
    const isSame = eventID === '' || [eventIDOf(entry), unverifiedEventIDOf(keyHash, version)].includes(eventID);
    return isSame ? entry : 'purged';
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return 'damaged';
  }
}

/** Schedules the next attempt, or makes the event a dead letter. */
function failureOf(
  delivery: Delivery,
  { eventID, detail, retryAfterMs }: { eventID: string; detail: string; retryAfterMs?: number | undefined },
  { retryPolicy, log, meter }: AttemptDeps,
): DeliveryResults {
  const { keyHash, version } = delivery;
  const nowMs = Date.now();
  const attempts = delivery.attempts + 1;
  const failed = { ...delivery, attempts, lastError: detail, failedAt: new Date(nowMs), dueMs: undefined };
  if (attempts < retryPolicy.maxAttempts) {
    return { failed: { ...failed, dueMs: nowMs + retryDelayMs(retryPolicy, attempts, retryAfterMs) } };
  }
  log.error({ event: eventID, keyHash, version, why: detail }, 'webhook event given up');
  if (delivery.state === 'dead') return { failed };
  meter?.webhookAttempted('dead');
  const advanced = { ...delivery, dueMs: nowMs };
  return { advanced, dead: { ...failed, state: 'dead', eventID, lastVersion: version } };
}

function describeOutcome(outcome: AttemptOutcome): string {
  if ('error' in outcome) return outcome.error;
  const { status } = outcome;
  return status >= 300 && status < 400 ? `returned ${status}; redirects are not followed` : `returned ${status}`;
}

import { failedIntegrityCheck, type DeliverySession } from './delivery-session.js';
import { eventIDOf, unverifiedEventIDOf } from './event.js';
import { retryDelayMs } from './retry-policy.js';
import type { DeadLetter } from './webhook.js';

const pageSize = 20;

/**
 * Sends dead letters whose replay was requested, in no order with other events: receivers compare the versions. Resolves
 * when the session is stopping.
 */
export async function deliverRequestedReplays(session: DeliverySession): Promise<void> {
  const { webhook, deps, breaker, replayEvent, isStopping } = session;
  const { store, storage, clockMs } = deps;
  while (!isStopping()) {
    const changed = replayEvent.wait(undefined);
    const letters = await storage(() => store.dueReplays(webhook.id, clockMs(), pageSize));
    for (const letter of letters) if (!isStopping() && breaker.remainingPauseMs() === 0) await redrive(session, letter);
    if (letters.length < pageSize || breaker.remainingPauseMs() > 0) await changed;
  }
}

async function redrive(session: DeliverySession, letter: DeadLetter): Promise<void> {
  const { log, recordResults, deps } = session;
  const { retryPolicy, clockMs, random } = deps;
  const { keyHash, version, eventID } = letter;
  const entries = await session.readEntries(keyHash, version, 1);
  const entry = entries?.[0];
  const isSame = entry && [eventIDOf(entry), unverifiedEventIDOf(keyHash, version)].includes(eventID);
  if (entries && !isSame) {
    log.warn({ event: eventID, keyHash, version }, 'the key has been purged with the content of a dead letter');
    return recordResults([], { redriven: [eventID] });
  }
  const { status, detail, retryAfterMs } = entry ? await session.attempt(entry) : failedIntegrityCheck;
  if (status === 'delivered') return recordResults([], { redriven: [eventID] });
  if (status !== 'failed') return;
  const attempts = letter.attempts + 1;
  const isExhausted = attempts >= retryPolicy.maxAttempts;
  const dueMs = isExhausted ? undefined : clockMs() + retryDelayMs(retryPolicy, attempts, retryAfterMs, random);
  const diedAt = new Date(clockMs());
  return recordResults([], { replayFailed: [{ ...letter, attempts, lastError: detail, diedAt, dueMs }] });
}

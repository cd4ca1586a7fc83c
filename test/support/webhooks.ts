import { vi } from 'vitest';
import { addWebhook } from '../../src/webhooks/manage.js';
import type { DispatcherOptions } from '../../src/webhooks/dispatcher.js';
import type { TestApp } from './app.js';
import { aDeadLetter } from './factories.js';
import { until } from './until.js';

/** Short delays between attempts, and limits that a busy machine does not reach. */
export const quick: DispatcherOptions = {
  retryPolicy: { delaysMs: [20, 40, 80], maxAttempts: 6 },
  timeoutMs: 60_000,
  pollIntervalMs: 25,
  leaseDurationMs: 60_000,
};

/** Waits until the dispatcher of a service has polled several times, and has sent all events that were due. */
export async function untilPolled({ app }: TestApp): Promise<void> {
  const { mock } = vi.spyOn(app.services.webhooks, 'acquireLeases');
  const before = mock.calls.length;
  await until(() => mock.calls.length > before + 3, 'A poll');
}

/** Adds a webhook to a service in this process. */
export async function hookTo(
  { app }: Pick<TestApp, 'app'>,
  url: string,
  { orgID, label = 'test', eventTypes = [] }: { orgID?: string; label?: string; eventTypes?: readonly string[] } = {},
): Promise<{ id: string; secret: string }> {
  const { webhook, secret } = await addWebhook(app.services, { url: new URL(url), label, orgID, eventTypes });
  return { id: webhook.id, secret };
}

/** Gives up events of a webhook in a service that delivers nothing, two at each time. */
export async function giveUp(
  { app, clock }: Pick<TestApp, 'app' | 'clock'>,
  id: string,
  ...events: readonly string[]
): Promise<void> {
  const { webhooks } = app.services;
  await until(async () => {
    await webhooks.acquireLeases('a test', 60_000);
    return webhooks.hasLease('a test', id);
  });
  for (const [index, event] of events.entries()) {
    const failedAt = new Date(clock.now.getTime() + Math.floor(index / 2));
    await webhooks.recordResults('a test', id, { dead: aDeadLetter(event, { keyHash: `h-${event}`, failedAt }) });
  }
}

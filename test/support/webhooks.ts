import { addWebhook } from '../../src/webhooks/manage.js';
import type { Pace } from '../../src/webhooks/deliverer.js';
import type { TestApp } from './app.js';

/** As quick as a test wants it, with the same kinds of waits. */
export const quick: Pace = {
  schedule: { waitsMs: [20, 40, 80], mostAttempts: 6 },
  answerWithinMs: 400,
  lookEveryMs: 25,
  holdForMs: 2_000,
};

/** Adds a webhook to a service that runs in this process. */
export async function hookTo(
  { app }: TestApp,
  url: string,
  { orgID, label = 'test' }: { orgID?: string; label?: string } = {},
): Promise<{ id: string; secret: string }> {
  const { webhook, secret } = await addWebhook(app.installation, { url: new URL(url), label, orgID });
  return { id: webhook.id, secret };
}

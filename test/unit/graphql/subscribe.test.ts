import { parse } from 'graphql';
import { expect, it } from 'vitest';
import { createContext } from '../../../src/graphql/context.js';
import { executeCompiled } from '../../../src/graphql/execution/executor/execute.js';
import { createOperationCache } from '../../../src/graphql/execution/operation-cache.js';
import { subscribe } from '../../../src/graphql/execution/subscribe.js';
import { createSubscriptionRegistry } from '../../../src/graphql/execution/subscription-registry.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import type { CredentialService } from '../../../src/credentials/credential-service.js';
import type { WebhookService } from '../../../src/webhooks/webhook-service.js';
import type { KeyService } from '../../../src/keys/key-service.js';
import { createLogger } from '../../../src/lib/log.js';
import { requestContextOf } from '../../support/request-context.js';

const service = { credentialID: 's', label: 's', orgID: undefined };

it('leaves no slot of the registry to a subscription that registers after the deadline of its start', async () => {
  const subscriptions = createSubscriptionRegistry({}, { ofProcess: 1, ofCredential: 1 });
  const prepared = createOperationCache(servedSchema).prepare(
    parse('subscription { orgKeyChanged { cursor } }'),
    undefined,
  );
  if (!prepared) throw new Error('The document has no operation.');
  // The root field waits for this time slice before it registers.
  const slice = Promise.withResolvers<void>();
  const nothing = async function* () {
    // No event.
  };
  const keys = new Proxy({} as KeyService, { get: () => () => Promise.resolve(nothing()) });
  const credentials = {} as CredentialService;
  const webhooks = {} as WebhookService;
  const deps = { deadlineMs: 1, log: createLogger('silent'), nextSlice: () => undefined };
  const context = createContext(
    {
      keys,
      credentials,
      webhooks,
      audit: () => undefined,
      revalidate: () => Promise.resolve(),
      nextSlice: () => slice.promise,
      // Longer than the start, so that the budget of reads does not end the root field first.
      deadlineMs: 60_000,
    },
    requestContextOf(new Request('http://keyfront.test', { headers: { accept: 'text/event-stream' } })),
    { service },
  );
  const started = subscribe({ ...deps, subscriptions, execute: executeCompiled }, prepared, {}, context);
  await expect(started).rejects.toThrow();

  slice.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => subscriptions.open('s')).not.toThrow();
});

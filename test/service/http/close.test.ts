import { expect, it } from 'vitest';
import { followQuery } from '../../support/event-stream.js';
import { startApp, startOwnApp } from '../../support/app.js';
import { eventLoopTurns } from '../../support/until.js';

it('closes storage after the requests that it still serves, whose clients may be gone', async () => {
  const t = await startApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
  const { promise: sent, resolve: send } = Promise.withResolvers<void>();
  const body = new ReadableStream({
    pull: async (to) => {
      await sent;
      to.enqueue(new TextEncoder().encode('{"org_id":"acme"}'));
      to.close();
    },
  });
  const headers = { ...t.credentials, 'content-type': 'application/json' };
  const response = t.send('/svc/org/keys/k1', { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
  const closing = t.close();
  await eventLoopTurns();
  send();
  expect((await response).status).toBe(200);
  await closing;
  expect(t.logs()).not.toContain('internal error');
});

it('ends event streams that are never read', async () => {
  const t = await startApp();
  const response = await t.app.fetch(
    new Request('http://keyfront.test/graphql', {
      method: 'POST',
      headers: { ...t.credentials, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: followQuery }),
    }),
  );
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  await t.close();
  expect(t.logs()).toContain('subscription ended');
});

it('survives event streams that are cancelled before they are read', async () => {
  const t = await startOwnApp();
  for (const query of ['{ __typename }', followQuery]) {
    for (let times = 0; times < 20; times += 1) {
      const response = await t.app.fetch(
        new Request('http://keyfront.test/graphql', {
          method: 'POST',
          headers: { ...t.credentials, 'content-type': 'application/json', accept: 'text/event-stream' },
          body: JSON.stringify({ query }),
        }),
      );
      await response.body?.cancel();
    }
  }
  expect(t.logs()).not.toContain('internal error');
});

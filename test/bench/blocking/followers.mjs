// Subscriptions that stay open: the service looks for changes while there is one.
import { setTimeout as wait } from 'node:timers/promises';

/** @returns {import('./websocket-floods.mjs').Flood[]} */
export function followers() {
  return [{ name: 'Subscriptions: 10 clients follow all changes', flood: followAll }];
}

/** @type {import('./websocket-floods.mjs').Flood['flood']} */
async function followAll(origin, seconds, headers) {
  const responses = await Promise.all(
    Array.from({ length: 10 }, () =>
      fetch(`${origin}/graphql`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
        body: JSON.stringify({ query: 'subscription { orgKeyChanged { cursor } }' }),
      }),
    ),
  );
  for (const { status } of responses) if (status !== 200) throw new Error(`A subscription ended with ${status}.`);
  await wait(seconds * 1_000);
  await Promise.all(responses.map(({ body }) => body?.cancel()));
}

// Subscriptions that stay open: the service looks for changes while there is one.

/** @returns {import('./websocket-floods.mjs').Flood[]} */
export function followers() {
  return [{ name: 'Subscriptions: 10 clients follow all changes', flood: followAll }];
}

/** @type {import('./websocket-floods.mjs').Flood['flood']} */
async function followAll(origin, seconds, headers) {
  const signal = AbortSignal.timeout(seconds * 1_000);
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const response = await fetch(`${origin}/graphql`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
        body: JSON.stringify({ query: 'subscription { orgKeyChanged { cursor } }' }),
        signal,
      });
      if (response.status !== 200) throw new Error(`A subscription ended with ${response.status}.`);
      // Ends with the time.
      await response.text().catch(() => undefined);
    }),
  );
}

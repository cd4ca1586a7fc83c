import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../support/garbage.js';
import { requestContextOf } from '../../support/request-context.js';
import { eventLoopTurns } from '../../support/until.js';

const request = () => new Request('http://keyfront.test/graphql?a=b', { headers: { authorization: 'Bearer wrong' } });

describe('a request context', () => {
  it('has the path and query as they were sent', () => {
    expect(requestContextOf(request()).target).toBe('/graphql?a=b');
  });

  it('authenticates the request once, on first use', async () => {
    const seen: string[] = [];
    const context = requestContextOf(request(), {
      id: 'request-7',
      authenticate: async ({ headers, requestID }) => {
        seen.push(`${requestID} ${headers.get('authorization')}`);
        return {};
      },
    });
    expect(seen).toEqual([]);
    expect(await context.principal()).toBe(await context.principal());
    expect(seen).toEqual(['request-7 Bearer wrong']);
  });

  it('has a signal that follows that of the request, also after a garbage collection', async () => {
    const client = new AbortController();
    const context = requestContextOf(new Request('http://keyfront.test/graphql', { signal: client.signal }));
    const signal = context.signal();
    for (let round = 0; round < 3; round += 1) {
      await eventLoopTurns(2);
      collectGarbage();
    }
    client.abort();
    expect(signal.aborted).toBe(true);
    // The context is alive until here, as it is while its request is served.
    expect(context.target).toBe('/graphql');
  });
});

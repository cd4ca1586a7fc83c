import { describe, expect, it } from 'vitest';
import { requestContextOf } from '../../support/request-context.js';

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
});

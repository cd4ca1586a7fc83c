import { describe, expect, it } from 'vitest';
import { clientAddressOf } from '../../../src/http/request-handler.js';

describe('the client address', () => {
  it.each<[string, string | undefined, number, string]>([
    ['192.0.2.1', undefined, 0, '192.0.2.1'],
    ['192.0.2.1', '203.0.113.1', 0, '192.0.2.1'],
    ['192.0.2.1', undefined, 1, '192.0.2.1'],
    ['192.0.2.1', '', 1, '192.0.2.1'],
    ['192.0.2.1', '203.0.113.1', 1, '203.0.113.1'],
    ['192.0.2.1', '203.0.113.9, 203.0.113.1', 1, '203.0.113.1'],
    ['192.0.2.1', '203.0.113.9,203.0.113.2,203.0.113.1', 2, '203.0.113.2'],
    ['192.0.2.1', '203.0.113.1', 2, '203.0.113.1'],
    ['192.0.2.1', 'nonsense', 1, '192.0.2.1'],
    ['192.0.2.1', '203.0.113.9, nonsense, 203.0.113.1', 3, '203.0.113.1'],
    ['192.0.2.1', '203.0.113.1:4711', 1, '203.0.113.1'],
    ['192.0.2.1', '[2001:DB8::1]:4711', 1, '2001:db8::1'],
    ['192.0.2.1', '[2001:db8::1]', 1, '2001:db8::1'],
    ['192.0.2.1', '2001:db8::1', 1, '2001:db8::1'],
    ['192.0.2.1', '::ffff:203.0.113.1', 1, '203.0.113.1'],
    ['::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['::1', undefined, 0, '::1'],
  ])(
    'is, for the socket %s with X-Forwarded-For %j behind %i trusted proxies, %s',
    (socket, forwarded, hops, expected) => {
      expect(clientAddressOf(socket, forwarded, hops)).toBe(expected);
    },
  );

  it('is undefined for a request without a connection, for every header', () => {
    expect(clientAddressOf(undefined, '203.0.113.1', 1)).toBeUndefined();
  });
});

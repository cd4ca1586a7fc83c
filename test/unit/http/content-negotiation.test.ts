import { describe, expect, it } from 'vitest';
import { acceptedCoding, preferredType } from '../../../src/http/content-negotiation.js';

const json = 'application/json';
const html = 'text/html';

describe('content negotiation', () => {
  it.each<[string | null, string | undefined]>([
    [null, json],
    ['', json],
    ['*/*', json],
    ['application/*', json],
    ['APPLICATION/JSON', json],
    ['text/html,application/xhtml+xml,*/*;q=0.8', html],
    ['text/html;q=0.5, application/json;q=0.9', json],
    ['application/json;q=0', undefined],
    ['application/json;q=0, */*', html],
    ['application/json; charset=UTF-8', json],
    ['application/json; charset=latin1', undefined],
    ['application/json; charset=latin1, text/html', html],
    ['image/png', undefined],
    [',;=', undefined],
  ])('prefers the type for Accept: %s', (accept, type) => {
    expect(preferredType(accept, [json, html])).toBe(type);
  });

  it.each<[string | null, string | undefined]>([
    [null, 'identity'],
    ['gzip, br', 'br'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.1, identity', 'gzip'],
    ['deflate', 'identity'],
    ['deflate, identity;q=0', undefined],
  ])('accepts the content coding for Accept-Encoding: %s', (accepted, coding) => {
    expect(acceptedCoding(accepted, ['br', 'gzip', 'identity'])).toBe(coding);
  });
});

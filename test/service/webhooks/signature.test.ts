import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWebhookSecret, signedHeaders } from '../../../src/webhooks/signature.js';
import { verificationErrorOf } from '../../support/receiver.js';

const nowMs = Date.parse('2026-01-31T12:00:00Z');
const timestamp = nowMs / 1000;
const body = '{"type":"orgKey.updated","data":{"alias":"Bücher"}}';
const message = { id: 'evt_1', body };

// The library that verifies takes the time of the system.
beforeEach(() => void vi.useFakeTimers({ now: nowMs, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('the signature of a webhook', () => {
  it('equals the reference vector of Standard Webhooks', () => {
    const headers = signedHeaders(
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' },
      1614265330,
    );
    expect(headers).toStrictEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('is verified by a receiver, which rejects a changed body, identifier, timestamp or secret, and an old message', () => {
    const secret = createWebhookSecret();
    const headers = signedHeaders([secret], message, timestamp);
    const believed = (received: { headers: Record<string, string>; body: string }, by = secret) =>
      verificationErrorOf(by, received);
    expect(believed({ headers, body })).toBeUndefined();
    expect(believed({ headers, body: body.replace('Bücher', 'Bucher') })).toBe('No matching signature found');
    expect(believed({ headers: { ...headers, 'webhook-id': 'evt_2' }, body })).toBe('No matching signature found');
    const later = { ...headers, 'webhook-timestamp': String(timestamp + 1) };
    expect(believed({ headers: later, body })).toBe('No matching signature found');
    expect(believed({ headers, body }, createWebhookSecret())).toBe('No matching signature found');
    vi.setSystemTime(nowMs + 301_000);
    expect(believed({ headers, body })).toBe('Message timestamp too old');
  });

  it('contains one value per secret during an overlap, each of which is sufficient', () => {
    const [before, after] = [createWebhookSecret(), createWebhookSecret()];
    const headers = signedHeaders([after, before], message, timestamp);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [before, after]) expect(verificationErrorOf(secret, { headers, body })).toBeUndefined();
  });

  it('uses secrets of 32 random bytes in the format of the libraries', () => {
    const secrets = Array.from({ length: 20 }, createWebhookSecret);
    expect(new Set(secrets).size).toBe(20);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });
});

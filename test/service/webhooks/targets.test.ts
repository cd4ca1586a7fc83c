import type { lookup } from 'node:dns';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWebhookClient } from '../../../src/webhooks/http-client.js';
import { createLookup, addressKindOf, parseReceiverURL, redactedURL } from '../../../src/webhooks/address-policy.js';
import { createWebhookSecret } from '../../../src/webhooks/signature.js';
import { aWebhook } from '../../support/factories.js';
import { startOwnReceiver, type Receiver } from '../../support/receiver.js';

describe('the kind of an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1111', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12:3456::1', 'private'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:10.1.2.3', 'private'],
    ['64:ff9b::10.1.2.3', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    // Nothing is ever sent to these: no host, or the metadata of a cloud.
    ['0.0.0.0', undefined],
    ['::', undefined],
    ['169.254.169.254', undefined],
    ['::ffff:169.254.169.254', undefined],
    ['64:ff9b::a9fe:a9fe', undefined],
    ['100.100.100.200', undefined],
    ['fd00:ec2::254', undefined],
    ['fe80::1', undefined],
    ['fe80::1%eth0', undefined],
    ['224.0.0.1', undefined],
    ['255.255.255.255', undefined],
    ['ff02::1', undefined],
    ['2002:7f00:1::', undefined],
    ['2001:0:7f00:1::', undefined],
    ['::127.0.0.1', undefined],
    ['192.0.2.1', undefined],
    ['not an address', undefined],
  ])('of %s is %s', (address, kind) => {
    expect(addressKindOf(address)).toBe(kind);
  });
});

describe('the URL of a receiver', () => {
  it.each([
    ['https://hooks.example.com/a?b=c', 'public'],
    ['https://8.8.8.8/', 'public'],
    ['http://localhost:3000/', 'loopback'],
    ['http://127.0.0.1:3000/', 'loopback'],
    ['https://[::1]/', 'loopback'],
    ['http://gateway.internal/', 'private'],
    ['http://192.168.1.1/', 'private'],
  ] as const)('accepts %s if %s addresses are permitted', (url, allowed) => {
    expect(parseReceiverURL(url, allowed).href).toBe(new URL(url).href);
  });

  it.each([
    ['ftp://example.com/', 'private', 'it must be an https or http URL of up to 2000 characters'],
    ['nothing', 'public', 'it must be an https URL of up to 2000 characters'],
    ['nothing', 'private', 'it must be an https or http URL of up to 2000 characters'],
    [`https://example.com/${'x'.repeat(2_000)}`, 'private', 'it must be an https or http URL of up to 2000 characters'],
    ['https://user:word@example.com/', 'private', 'it must contain no user name and no password'],
    ['http://example.com/', 'public', 'it must be https'],
    ['http://localhost/', 'public', 'it must be https'],
    ['http://example.com/', 'loopback', 'it must be https'],
    ['https://127.0.0.1/', 'public', 'the address is loopback'],
    // All of these are ways to write 127.0.0.1.
    ['https://2130706433/', 'public', 'the address is loopback'],
    ['https://0x7f.1/', 'public', 'the address is loopback'],
    ['https://0177.0.0.1/', 'public', 'the address is loopback'],
    ['https://[::ffff:127.0.0.1]/', 'public', 'the address is loopback'],
    ['https://10.0.0.1/', 'loopback', 'the address is private'],
    ['http://169.254.169.254/latest/meta-data/', 'private', 'the address is reserved'],
    ['http://8.8.8.8/', 'private', 'plain HTTP to a public address is not permitted'],
  ] as const)('rejects %s if %s addresses are allowed', (url, allowed, reason) => {
    expect(() => parseReceiverURL(url, allowed)).toThrow(reason);
  });

  it('is printed without its path and query, which may contain a token', () => {
    expect(redactedURL(new URL('https://hooks.example.com:8443/services/T0KEN?key=T0KEN'))).toBe(
      'https://hooks.example.com:8443/…?…',
    );
    expect(redactedURL(new URL('https://hooks.example.com/'))).toBe('https://hooks.example.com');
  });
});

describe('the name of a receiver', () => {
  /** A resolver that returns the given addresses for every name. */
  const resolved = (...addresses: string[]) =>
    ((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as unknown as typeof lookup;
  const look = (protocol: string, allowed: 'public' | 'loopback' | 'private', ...addresses: string[]) =>
    new Promise((resolve) => {
      createLookup(protocol, allowed, resolved(...addresses))('name.test', { all: true }, (error, found) =>
        resolve(error?.message ?? found),
      );
    });

  it('is connected to at the checked addresses, and rejected if one of them is not permitted', async () => {
    expect(await look('https:', 'public', '8.8.8.8')).toStrictEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await look('https:', 'public', '8.8.8.8', '127.0.0.1')).toMatch('the address is loopback');
    expect(await look('https:', 'public', '10.0.0.1')).toMatch('the address is private');
    expect(await look('https:', 'private', '169.254.169.254')).toMatch('the address is reserved');
    expect(await look('https:', 'loopback', '::1')).toStrictEqual([{ address: '::1', family: 6 }]);
    expect(await look('http:', 'private', '8.8.8.8')).toMatch('plain HTTP to a public address is not permitted');
    expect(await look('https:', 'public')).toMatch('the name has no address');
  });
});

describe('a message to a receiver', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startOwnReceiver();
  });

  const message = { id: 'x', body: '{"type":"t","data":{}}' };
  const secret = createWebhookSecret();
  const clientOf = (url: string, allowed: 'public' | 'loopback' | 'private', timeoutMs = 5_000) =>
    createWebhookClient(aWebhook('a'), {
      allowed,
      timeoutMs,
      sealer: { open: (_sealed, aad) => (aad === 'webhooks|a|url' ? url : secret) },
    });
  const send = async (url: string, allowed: 'public' | 'loopback' | 'private') => {
    const client = clientOf(url, allowed);
    try {
      return await client.send(message, { abort: new AbortController().signal, maySend: () => true });
    } finally {
      client.close();
    }
  };

  const withoutResponse = (description: unknown) => ({ status: 0, isDelivered: false, description });

  it('rejects private addresses, literal and by name, without a connection', async () => {
    const rejection = withoutResponse('the address is loopback, which KEYFRONT_WEBHOOKS_TO does not permit');
    expect(await send(`http://127.0.0.1:${receiver.port}/`, 'public')).toStrictEqual(rejection);
    expect(await send(`http://[::ffff:127.0.0.1]:${receiver.port}/`, 'public')).toStrictEqual(rejection);
    expect(await send(`http://localhost:${receiver.port}/`, 'public')).toStrictEqual(rejection);
    expect(await send(`https://localhost:${receiver.port}/`, 'public')).toStrictEqual(rejection);
    expect(receiver.received).toHaveLength(0);
    expect(await send(`http://127.0.0.1:${receiver.port}/`, 'loopback')).toMatchObject({ status: 204 });
    expect(receiver.received).toHaveLength(1);
  });

  it('reports a failed attempt by a code, without text from the address or the receiver', async () => {
    expect(await send(`https://127.0.0.1:${receiver.port}/CANARY`, 'loopback')).toStrictEqual(
      withoutResponse(expect.stringMatching(/^failed with E\w+$/) as string),
    );
    expect(await send('http://127.0.0.1:1/CANARY', 'loopback')).toStrictEqual(withoutResponse('connection refused'));
  });

  it('ends an attempt that is aborted', async () => {
    receiver.behavior = () => undefined;
    const client = clientOf(receiver.url, 'loopback');
    const abort = new AbortController();
    const sent = client.send(message, { abort: abort.signal, maySend: () => true });
    abort.abort();
    expect(await sent).toStrictEqual(withoutResponse('aborted'));
    client.close();
  });

  it('fails at once if the response switches protocols', async () => {
    receiver.behavior = (_message, response) => {
      response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end();
      return undefined;
    };
    expect(await send(receiver.url, 'loopback')).toStrictEqual(withoutResponse('no response'));
  });

  it('closes the connection when a body is not complete in time', async () => {
    // The attempt has no end before the headers have arrived.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const client = clientOf(receiver.url, 'loopback', 5_000);
    const closed = new Promise((resolve) => {
      receiver.behavior = (_message, response) => {
        response.on('close', resolve).writeHead(200).write('x');
        return undefined;
      };
    });
    const { signal: abort } = new AbortController();
    expect(await client.send(message, { abort, maySend: () => true })).toMatchObject({ status: 200 });
    vi.advanceTimersByTime(5_000);
    await closed;
    client.close();
  });

  it('sends nothing over a new or kept connection after the lease has ended', async () => {
    const client = clientOf(receiver.url, 'loopback');
    const { signal: abort } = new AbortController();
    const attempt = (maySend: boolean) => client.send(message, { abort, maySend: () => maySend });
    expect(await attempt(false)).toStrictEqual(withoutResponse('aborted'));
    expect(await attempt(true)).toMatchObject({ status: 204 });
    expect(await attempt(false)).toStrictEqual(withoutResponse('aborted'));
    expect(receiver.received).toHaveLength(1);
    client.close();
  });
});

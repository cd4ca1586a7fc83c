import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { fromFetchResponse, sendResponse, toFetchResponse, type HTTPResponse } from '../../../src/http/response.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Sends a request to a server that sends the response. */
async function receive(response: HTTPResponse, method = 'GET'): Promise<IncomingMessage> {
  const created = createServer((_request, to) => sendResponse(to, response));
  server = created;
  await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve));
  const sent = request({ port: (created.address() as AddressInfo).port, host: '127.0.0.1', method });
  sent.end();
  const [received] = (await once(sent, 'response')) as [IncomingMessage];
  return received;
}

const textOf = async (received: IncomingMessage) => Buffer.concat(await received.toArray()).toString('utf8');

describe('sendResponse', () => {
  it('sends a text with its length in bytes', async () => {
    const received = await receive({ status: 200, headers: { etag: '"1"' }, body: 'é' });
    expect(received.headers).toMatchObject({ 'content-length': '2', etag: '"1"' });
    expect(received.headers).not.toHaveProperty('transfer-encoding');
    expect(await textOf(received)).toBe('é');
  });

  it.each([
    [302, 'GET', '0'],
    [204, 'GET', undefined],
    [304, 'GET', undefined],
    [200, 'HEAD', undefined],
  ])('sends %i without a body to %s with the length %s', async (status, method, length) => {
    const received = await receive({ status, headers: {}, body: null }, method);
    expect(received.statusCode).toBe(status);
    expect(received.headers['content-length']).toBe(length);
    expect(await textOf(received)).toBe('');
  });

  it('sends a stream as it arrives', async () => {
    const received = await receive({
      status: 200,
      headers: {},
      body: Readable.from([Buffer.from('a'), Buffer.from('b')]),
    });
    expect(received.headers['transfer-encoding']).toBe('chunked');
    expect(await textOf(received)).toBe('ab');
  });

  it('destroys a stream when the client disconnects', async () => {
    const stream = new Readable({ read: () => undefined });
    stream.push('a');
    const received = await receive({ status: 200, headers: {}, body: stream });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    received.destroy();
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  it('destroys a stream whose client has disconnected before', async () => {
    const stream = new Readable({ read: () => undefined });
    const { promise: sent, resolve, reject } = Promise.withResolvers<void>();
    const created = createServer((_request, to) => {
      to.once('close', () => {
        try {
          sendResponse(to, { status: 200, headers: {}, body: stream });
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      client.destroy();
    });
    server = created;
    await new Promise<void>((listening) => created.listen(0, '127.0.0.1', listening));
    const client = request({ port: (created.address() as AddressInfo).port, host: '127.0.0.1' });
    client.on('error', () => undefined).end();
    await sent;
    expect(stream.destroyed).toBe(true);
  });

  it('closes the connection when a stream fails', async () => {
    const stream = new Readable({ read: () => undefined });
    stream.push('a');
    const received = await receive({ status: 200, headers: {}, body: stream });
    stream.destroy(new Error('inner'));
    await expect(textOf(received)).rejects.toThrow('aborted');
  });
});

describe('a response of fetch', () => {
  it('is converted and back with its status, headers and text', async () => {
    const converted = await fromFetchResponse(new Response('a', { status: 201, headers: { 'X-A': 'b' } }));
    expect(converted).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: 'a' });
    const back = toFetchResponse(converted);
    expect([back.status, back.headers.get('x-a'), await back.text()]).toEqual([201, 'b', 'a']);
  });

  it('loses the header Connection, which belongs to the server', async () => {
    const converted = await fromFetchResponse(new Response('', { headers: { connection: 'keep-alive' } }));
    expect(converted.headers).not.toHaveProperty('connection');
  });

  it('starts its stream before it can be cancelled, as streams of Yoga require', async () => {
    const calls: string[] = [];
    // Without the queue of the standard, which starts a stream when it is created.
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => void calls.push('next')),
        return: () => Promise.resolve({ done: true, value: void calls.push('return') }),
      }),
    };
    const response = { status: 200, headers: new Headers({ 'content-type': 'text/event-stream' }), body: source };
    const { body } = await fromFetchResponse(response as unknown as Response);
    (body as Readable).destroy();
    await once(body as Readable, 'close');
    expect(calls).toEqual(['next', 'return']);
  });

  it('has a listener for errors of its stream from the start', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const { body } = await fromFetchResponse(new Response(new ReadableStream(), { headers }));
    expect(() => (body as Readable).emit('error', new Error('inner'))).not.toThrow();
  });

  it('is cancelled when its converted stream is destroyed', async () => {
    const cancelled = new Promise<void>((resolve) => {
      const source = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1)), cancel: () => resolve() });
      void fromFetchResponse(new Response(source, { headers: { 'content-type': 'text/event-stream' } })).then(
        ({ body }) => {
          (body as Readable).once('data', () => (body as Readable).destroy());
        },
      );
    });
    await cancelled;
  });
});

import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { serveConnections } from '../../../src/http/server/server.js';
import { createLogger } from '../../../src/lib/log.js';
import { createScheduler } from '../../../src/lib/scheduler.js';
import { readResponse } from '../../support/process.js';

it.each([
  ['headers', 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  ['a body', 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'],
])('closes a dispatched connection that never completes %s', async (_name, text) => {
  // As in a worker: the server never listens, which is when Node itself begins to look for requests that take too long.
  const timeouts = { headersMs: 200, requestMs: 400, responseMs: 60_000, idleMs: 60_000 };
  const server = serveConnections((request) => void request.resume(), {
    log: createLogger('fatal'),
    scheduler: createScheduler(),
    timeouts,
  });
  const acceptor = createServer({ pauseOnConnect: true }, server.accept).listen(0, '127.0.0.1');
  await once(acceptor, 'listening');
  const socket = connect((acceptor.address() as AddressInfo).port, '127.0.0.1');
  try {
    socket.write(text);
    expect(await readResponse(socket)).toMatch(/^HTTP\/1\.1 408 /);
  } finally {
    socket.destroy();
    acceptor.close();
    await server.stop();
  }
});

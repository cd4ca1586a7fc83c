import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listenAt } from '../../../src/http/server/listen-at.js';

/** A server whose `listen` fails with the code, as the operating system would make it fail. */
function failing(code: string) {
  const server = createServer();
  server.listen = () => {
    queueMicrotask(() => server.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
    return server;
  };
  return server;
}

describe('listenAt', () => {
  it('returns the address and the port that the system chose', async () => {
    const server = createServer();
    expect(await listenAt(server, { host: '127.0.0.1', port: 0 })).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    server.close();
  });

  it('continues after connections that could not be accepted', async () => {
    const server = createServer();
    await listenAt(server, { host: '127.0.0.1', port: 0 });
    for (let times = 0; times < 3; times += 1) {
      // An error without a listener is thrown here.
      expect(() => server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))).not.toThrow();
    }
    server.close();
  });

  it('names the address, the port and the setting when the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await expect(listenAt(createServer(), { host: '127.0.0.1', port })).rejects.toThrow(
      new Error(
        `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set PORT to another port.`,
      ),
    );
    taken.close();
  });

  it.each([
    [
      'EACCES',
      '0.0.0.0',
      'Cannot listen on 0.0.0.0:80: this user may not use the port. Set PORT to a port from 1024 on.',
    ],
    [
      'EADDRNOTAVAIL',
      '2001:db8::1',
      'Cannot listen on [2001:db8::1]:80: this machine does not have the address. Set HOST to one of its addresses.',
    ],
    [
      'ENOTFOUND',
      'keys.invalid',
      'Cannot listen on keys.invalid:80: the name is unknown. Set HOST to an address of this machine.',
    ],
    ['EOTHER', '127.0.0.1', 'Cannot listen on 127.0.0.1:80: listen EOTHER'],
  ])('describes %s', async (code, host, message) => {
    await expect(listenAt(failing(code), { host, port: 80 })).rejects.toThrow(new Error(message));
  });

  it('names the settings of its address', async () => {
    const settings = { host: 'KEYFRONT_METRICS_HOST', port: 'KEYFRONT_METRICS_PORT' };
    await expect(listenAt(failing('EACCES'), { host: '127.0.0.1', port: 9 }, settings)).rejects.toThrow(
      'Set KEYFRONT_METRICS_PORT to',
    );
  });
});

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that operating systems assign to listeners on port 0 and to clients, which take any port that is free at
 * the moment. Above 10080, which fetch rejects.
 */
const [first, count] = [11_000, 20_000];
/** Random, so that processes that run at the same time rarely choose the same port. */
let next = randomInt(count);

/**
 * Resolves to a free port of loopback, another one for each call. A server can be started on it later, and again.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let tried = 0; tried < count; tried += 1) {
    const port = first + next;
    next = (next + 1) % count;
    if (await isFree(port)) return port;
  }
  throw new Error('There is no free port.');
}

/**
 * Resolves to whether no server listens on a port of loopback.
 *
 * @type {(port: number) => Promise<boolean>}
 */
export function isFree(port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

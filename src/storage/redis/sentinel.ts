import { createClient } from '@redis/client';
import type { Sentinels } from '../../config/redis-sentinels.js';
import { withTimeout } from '../../lib/timeout.js';

/**
 * Returns the URL of the primary that the first Sentinel which responds names.
 *
 * @throws {Error} if no Sentinel names a primary
 */
export async function findPrimary({ urls, name, primaryURL }: Sentinels, timeoutMs: number): Promise<string> {
  let problem = '';
  for (const url of urls) {
    try {
      const found = await requestPrimary(url, name, timeoutMs);
      if (found) return primaryURL(...found);
      problem = `Sentinel does not know the primary ${name}`;
    } catch (error) {
      problem ||= `Sentinel: ${error instanceof Error ? error.message : 'it failed for an unknown reason'}`;
    }
  }
  throw new Error(problem);
}

async function requestPrimary(
  url: string,
  name: string,
  timeoutMs: number,
): Promise<[host: string, port: string] | null> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    const response = client
      .connect()
      .then(() => client.sendCommand<[string, string] | null>(['SENTINEL', 'get-master-addr-by-name', name]));
    return await withTimeout(timeoutMs, response, () => {
      throw new Error('it does not respond');
    });
  } finally {
    if (client.isOpen) client.destroy();
  }
}

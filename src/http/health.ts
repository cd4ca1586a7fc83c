import type { Logger } from '../lib/log.js';
import type { HTTPResponse } from './response.js';
import type { Route } from './router.js';

/** What balancers and orchestrators ask for. It is answered however busy the service is. */
export const healthPaths: readonly string[] = ['/health', '/ready'];

export interface Health {
  /** `/health` (the process runs) and `/ready` (it can do its work and is not stopping), without details. */
  readonly routes: readonly Route[];
  /** What `/ready` says. */
  readonly isReady: () => Promise<boolean>;
  /** From now on `/ready` says no. */
  readonly drain: () => void;
}

const oneLookMs = 1_000;

/** Anybody may ask, so that a look is taken once a second at most; what it found goes to the log, when it changes. */
export function createHealth(whyNotReady: () => Promise<string | undefined>, log: Logger): Health {
  let draining = false;
  let looked = -Infinity;
  let reason: string | undefined;

  let look: Promise<void> | undefined;

  async function takeALook(): Promise<void> {
    const found = await whyNotReady();
    looked = performance.now();
    if (found !== reason) log.warn(found === undefined ? 'ready again' : `not ready: ${found}`);
    reason = found;
  }

  async function isReady(): Promise<boolean> {
    if (performance.now() - looked >= oneLookMs) {
      look ??= takeALook().finally(() => {
        look = undefined;
      });
    }
    await look;
    return reason === undefined && !draining;
  }

  return {
    isReady,
    routes: [
      { path: '/health', method: 'GET', handle: () => plain(200, 'ok') },
      {
        path: '/ready',
        method: 'GET',
        handle: async () => ((await isReady()) ? plain(200, 'ready') : plain(503, 'not ready')),
      },
    ],
    drain: () => {
      draining = true;
    },
  };
}

function plain(status: number, text: string): HTTPResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

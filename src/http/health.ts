import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { HTTPResponse } from './response.js';
import type { Route } from './router.js';

/** The paths that load balancers and orchestrators probe. Exempt from admission control. */
export const healthPaths: readonly string[] = ['/health', '/ready'];

/** The health checks of a process. */
export interface Health {
  /** `/health` (the process runs) and `/ready` (it can serve requests and is not stopping), without details. */
  readonly routes: readonly Route[];
  /** Makes `/ready` respond with 503. */
  readonly drain: () => void;
}

const checkIntervalMs = 1_000;

/** The routes are public, so readiness is checked at most once per second. Logs each change of readiness. */
export function createHealth(
  whyNotReady: () => Promise<string | undefined>,
  log: Logger,
  meter: Meter | undefined,
): Health {
  let isDraining = false;
  let checkedMs = -Infinity;
  let reason: string | undefined;
  let check: Promise<void> | undefined;

  async function checkReadiness(): Promise<void> {
    const newReason = await whyNotReady();
    checkedMs = performance.now();
    if (newReason !== reason) log.warn(newReason === undefined ? 'ready again' : `not ready: ${newReason}`);
    reason = newReason;
  }

  /** Whether `/ready` responds with 200. */
  async function isReady(): Promise<boolean> {
    if (performance.now() - checkedMs >= checkIntervalMs) {
      check ??= checkReadiness().finally(() => {
        check = undefined;
      });
    }
    await check;
    return reason === undefined && !isDraining;
  }

  meter?.registerGauge('ready', async () => ((await isReady()) ? 1 : 0));
  return {
    routes: [
      { path: '/health', method: 'GET', handle: () => textResponse(200, 'ok') },
      {
        path: '/ready',
        method: 'GET',
        handle: async () => ((await isReady()) ? textResponse(200, 'ready') : textResponse(503, 'not ready')),
      },
    ],
    drain: () => {
      isDraining = true;
    },
  };
}

function textResponse(status: number, text: string): HTTPResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

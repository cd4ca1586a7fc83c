import { fetchText, type FetchedText } from '../../lib/fetch-text.js';
import type { ServiceAddress } from '../key-client/connection.js';
import { explainConnectionError } from '../key-client/connection-errors.js';
import type { Finding } from './machine.js';

const limits = { timeoutMs: 10_000, maxBytes: 4 * 1024 * 1024 };
const maxSkewMs = 60_000;

/** Checks a service from outside: whether it is ready, its clock, and the service credential. Sends only GET requests. */
export async function* checkService({ baseURL, headers }: ServiceAddress): AsyncGenerator<Finding, void> {
  const get = async (path: string): Promise<FetchedText> =>
    fetchText(new URL(path, baseURL), { headers, redirect: 'manual' }, limits);
  let ready: FetchedText;
  try {
    ready = await get('./ready');
  } catch (error) {
    const message = `Cannot connect to ${baseURL.origin}: ${explainConnectionError(error)}.`;
    yield {
      check: 'service',
      status: 'failed',
      message,
      remedy: 'Correct --url or KEYFRONT_URL, or start the service.',
    };
    return;
  }
  yield judgeReadiness(baseURL, ready);
  const date = Date.parse(ready.headers.get('date') ?? '');
  if (!Number.isNaN(date)) yield judgeSkew(new Date(date), new Date());
  yield judgeCredential(await get('./svc/org/keys?limit=1'));
}

function judgeReadiness({ href }: URL, { status }: FetchedText): Finding {
  const check = 'service';
  if (status === 200) return { check, status: 'ok', message: `${href} is ready.` };
  if (status === 503) {
    const remedy = 'Read the log of the service, and run `keyfront doctor` where its data folder is.';
    return { check, status: 'failed', message: `${href} is not ready.`, remedy };
  }
  const message = `${href} is not a Keyfront service (status ${status}).`;
  return { check, status: 'failed', message, remedy: 'Correct --url or KEYFRONT_URL.' };
}

/** Compares the clock of a service with that of this machine. */
export function judgeSkew(service: Date, own: Date): Finding {
  const check = 'clock';
  const skewMs = Math.abs(service.getTime() - own.getTime());
  if (skewMs <= maxSkewMs)
    return { check, status: 'ok', message: `The time of the service is ${service.toISOString()}.` };
  const message = `The clocks of the service and of this machine differ by ${Math.round(skewMs / 1000)} seconds.`;
  return { check, status: 'warning', message, remedy: 'Synchronise the clocks of both machines.' };
}

function judgeCredential({ status }: FetchedText): Finding {
  const check = 'credential';
  if (status === 200) return { check, status: 'ok', message: 'The service credential is valid.' };
  if (status === 401) {
    const remedy = 'Issue one where the data folder is: keyfront credentials issue --kind service --label NAME';
    return { check, status: 'failed', message: 'The service credential is not valid.', remedy };
  }
  if (status === 403) {
    const remedy = 'Issue a credential with the scope read, if this one shall read keys.';
    return { check, status: 'warning', message: 'The service credential may not read keys.', remedy };
  }
  const message = `Keys cannot be listed (status ${status}).`;
  return { check, status: 'failed', message, remedy: 'Read the log of the service.' };
}

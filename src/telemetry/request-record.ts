import { randomUUID } from 'node:crypto';
import type { CompletedRequest, RequestRecord, Outcome, Telemetry } from './ports.js';

/** What is known of a request before anybody has looked into it. */
interface Arrived {
  readonly method: string;
  /** The value of a header, named in lower case. */
  readonly header: (name: string) => string | null;
  /** By the clock of `performance`: it may have waited in line since. */
  readonly atMs: number;
}

/** Another is a name that a client has chosen. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Follows requests from their arrival to their answer. What is learned on the way is filled into what `work` is given. */
export function createRequestTracker({ meter, tracer }: Telemetry) {
  function begin({ method, atMs }: Arrived, end?: (request: CompletedRequest) => void): RequestRecord {
    const seen: RequestRecord = {
      requestID: randomUUID(),
      method,
      operation: 'other',
      verdict: 'ok',
      route: undefined,
      answered: (route, status) => {
        const ms = performance.now() - atMs;
        if (seen.verdict === 'ok') seen.verdict = verdictOf(status);
        const { requestID, operation, verdict } = seen;
        const answered = { requestID, route, operation, verdict, status, seconds: ms / 1000 };
        meter?.answered(answered);
        end?.(answered);
        return Math.round(ms * 100) / 100;
      },
    };
    return seen;
  }
  return <T>(given: Arrived, work: (seen: RequestRecord) => T): T => {
    const arrived = methods.has(given.method) ? given : { ...given, method: '_OTHER' };
    if (!tracer) return work(begin(arrived));
    return tracer.request(arrived.method, arrived.header, (end) => work(begin(arrived, end)));
  };
}

/** For what was refused by nobody who knows our codes, such as a method that a path does not take. */
function verdictOf(status: number): Outcome {
  if (status < 400) return 'ok';
  if (status === 503) return 'UNAVAILABLE';
  if (status >= 500) return 'INTERNAL';
  return status === 404 ? 'NOT_FOUND' : 'INVALID';
}

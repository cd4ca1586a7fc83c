import { randomUUID } from 'node:crypto';
import { printable } from '../lib/text.js';
import type { CompletedRequest, RequestRecord, RequestOutcome, Telemetry } from './ports.js';

/** The headers in which clients and routers send the name of a client: Apollo's, Hive's, and those of other tools. */
export const clientNameHeaders = ['apollographql-client-name', 'graphql-client-name', 'x-graphql-client-name'] as const;

const maxClientName = 64;

/** A request at its arrival. */
interface ArrivedRequest {
  readonly method: string;
  /** The value of a header, named in lower case. */
  readonly header: (name: string) => string | null;
  /** Time of arrival by the clock of `performance`, before queueing. */
  readonly atMs: number;
}

/** Other methods are recorded as `_OTHER`, because clients choose them. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Creates a function that records a request from arrival to response. `work` fills in the labels of the record. */
export function createRequestTracker({ meter, tracer }: Telemetry) {
  function begin({ method, header, atMs }: ArrivedRequest, end?: (request: CompletedRequest) => void): RequestRecord {
    const record: RequestRecord = {
      requestID: randomUUID(),
      method,
      operation: 'other',
      client: clientNameOf(header),
      verdict: 'ok',
      route: undefined,
      complete: (route, status) => {
        const ms = performance.now() - atMs;
        if (record.verdict === 'ok') record.verdict = verdictOf(status);
        const { requestID, operation, client, fields, verdict } = record;
        const completed = { requestID, route, operation, client, fields, verdict, status, seconds: ms / 1000 };
        meter?.recordResponse(completed);
        end?.(completed);
        return Math.round(ms * 100) / 100;
      },
    };
    return record;
  }
  return <T>(arrival: ArrivedRequest, work: (record: RequestRecord) => T): T => {
    const arrived = methods.has(arrival.method) ? arrival : { ...arrival, method: '_OTHER' };
    if (!tracer) return work(begin(arrived));
    return tracer.request(arrived.method, arrived.header, (end) => work(begin(arrived, end)));
  };
}

/** The outcome of a response without an `ErrorCode`, such as for an unsupported method. */
function verdictOf(status: number): RequestOutcome {
  if (status < 400) return 'ok';
  if (status === 503) return 'UNAVAILABLE';
  if (status >= 500) return 'INTERNAL';
  return status === 404 ? 'NOT_FOUND' : 'INVALID';
}

/** The name that a client sends, truncated and safe for terminals; undefined without one. */
function clientNameOf(header: (name: string) => string | null): string | undefined {
  for (const name of clientNameHeaders) {
    const value = header(name)?.trim();
    if (value) return printable(value.slice(0, maxClientName));
  }
  return undefined;
}

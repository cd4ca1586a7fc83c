import type { AccessCode } from '../keys/access/decide-access.js';
import type { ErrorCode } from '../lib/errors.js';

/** Telemetry hooks. Both are optional; a missing hook has no overhead. */
export interface Telemetry {
  readonly meter?: Meter | undefined;
  readonly tracer?: Tracer | undefined;
}

/** Outcome of a request: `ok`, or the code of its error. */
export type RequestOutcome = 'ok' | ErrorCode;
/** Why a request was rejected before execution. */
export const requestRejectionReasons = ['overload', 'malformed', 'unreadable', 'limits'] as const;
/** One of {@link requestRejectionReasons}. */
export type RequestRejectionReason = (typeof requestRejectionReasons)[number];
/** Gauges, read at each scrape. */
export type GaugeName =
  | 'requests_waiting'
  | 'passwords_waiting'
  | 'commits_waiting'
  | 'uses_waiting'
  | 'wal_bytes'
  | 'ready'
  | 'streams'
  | 'redis_up'
  | 'quota_resets_pending'
  | 'gateway_lag';

/** Outcomes of the delivery of a key to an adapter. */
export const keyDeliveryOutcomes = ['delivered', 'unreadable'] as const;
/** One of {@link keyDeliveryOutcomes}. */
export type KeyDeliveryOutcome = (typeof keyDeliveryOutcomes)[number];

/** Outcomes of a delivery attempt; `dead` is an event whose attempts are exhausted. */
export const webhookOutcomes = ['delivered', 'failed', 'dead'] as const;
/** One of {@link webhookOutcomes}. */
export type WebhookOutcome = (typeof webhookOutcomes)[number];

/** Labels of a request, set by its handler as soon as they are known. Values are from fixed lists only. */
export interface RequestRecord {
  readonly requestID: string;
  /** `_OTHER` for a method that is not well known. */
  readonly method: string;
  /** A root field of the schema, or the operation of a REST route. */
  operation: string;
  /** The name that the client sent, for the log. Metrics contain the names of `KEYFRONT_CLIENT_NAMES` only. */
  readonly client?: string | undefined;
  /** The schema coordinates that the operation uses. Requests with one document share the array. */
  fields?: readonly string[];
  verdict: RequestOutcome;
  /** The path of a REST route without its variable part. */
  route: string | undefined;
  /** Completes the record when the response is ready. Returns the milliseconds since arrival. */
  readonly complete: (route: string, status: number) => number;
}

/** A request whose response is ready. */
export interface CompletedRequest {
  readonly requestID: string;
  readonly route: string;
  readonly operation: string;
  readonly client?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly verdict: RequestOutcome;
  readonly status: number;
  readonly seconds: number;
}

/** Receives counts, and durations in seconds. Must not throw. */
export interface Meter {
  readonly recordResponse: (request: CompletedRequest) => void;
  readonly countRejection: (reason: RequestRejectionReason) => void;
  /** A group commit was synced to disk. */
  readonly committed: (changes: number, seconds: number) => void;
  /** Storage rejected a group commit, or a change of it. */
  readonly commitFailed: () => void;
  readonly authenticationFailed: (kind: string, reason: string) => void;
  /** Quota was consumed or rejected. */
  readonly consumed: (verdict: string) => void;
  /** A request with a key was decided for a gateway. */
  readonly verified: (code: AccessCode) => void;
  /** Keys were delivered with their secrets, or could not be read. */
  readonly delivered: (outcome: KeyDeliveryOutcome, count: number) => void;
  /** A delivery was attempted, or an event became a dead letter. */
  readonly webhookAttempted: (outcome: WebhookOutcome) => void;
  /** Registers a function that reads a gauge. The value of a gauge is the sum of its functions. */
  readonly registerGauge: (name: GaugeName, read: () => number | Promise<number>) => void;
}

/** Attributes of a span. Values are never chosen by clients. */
export type SpanAttributes = Readonly<Record<string, string | number | readonly string[]>>;

/** Records spans of traces. */
export interface Tracer {
  /**
   * Runs work in the span of a request, as part of the client's trace. The method is well known or `_OTHER`. `end` ends the
   * span.
   */
  readonly request: <T>(
    method: string,
    header: (name: string) => string | null,
    work: (end: (request: CompletedRequest) => void) => T,
  ) => T;
  /** Runs work in a child span of the current one. `setAttributes` adds attributes that are known later. */
  readonly withSpan: <T>(
    name: string,
    attributes: SpanAttributes,
    work: (setAttributes: (attributes: SpanAttributes) => void) => T | Promise<T>,
  ) => Promise<T>;
  /** IDs that link log lines to the current trace; empty without one. */
  readonly ids: () => { readonly trace_id?: string; readonly span_id?: string };
}

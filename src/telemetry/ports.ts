import type { ErrorCode } from '../lib/errors.js';

/** What is told to whoever watches the service from outside. What is left out costs nothing. */
export interface Telemetry {
  readonly meter?: Meter | undefined;
  readonly tracer?: Tracer | undefined;
}

export type Outcome = 'ok' | ErrorCode;
/** Why a request was turned away before anything of it was carried out. */
export const requestRejectionReasons = ['overload', 'malformed', 'unreadable', 'limits'] as const;
export type RequestRejectionReason = (typeof requestRejectionReasons)[number];
/** Figures that are read when somebody asks for them. */
export type GaugeName =
  'requests_waiting' | 'passwords_waiting' | 'commits_waiting' | 'wal_bytes' | 'ready' | 'streams';

/** What becomes of an attempt to bring an event to a receiver, and of an event that none has brought there. */
export const webhookOutcomes = ['delivered', 'failed', 'dead'] as const;
export type WebhookOutcome = (typeof webhookOutcomes)[number];

/** What a request turns out to be. Who answers it writes it down as soon as it is known, from our own tables only. */
export interface RequestRecord {
  readonly requestID: string;
  /** `_OTHER` for one that is not well known. */
  readonly method: string;
  /** A root field of the schema, or the operation of a REST route. */
  operation: string;
  verdict: Outcome;
  /** The path of a REST route, its variable part left out. */
  route: string | undefined;
  /** Tells that the answer is ready, and how many milliseconds after the arrival. */
  readonly answered: (route: string, status: number) => number;
}

/** A request that has its answer. */
export interface CompletedRequest {
  readonly requestID: string;
  readonly route: string;
  readonly operation: string;
  readonly verdict: Outcome;
  readonly status: number;
  readonly seconds: number;
}

/** Takes counts and durations in seconds. Must not throw. */
export interface Meter {
  readonly answered: (request: CompletedRequest) => void;
  readonly refused: (why: RequestRejectionReason) => void;
  /** A group of changes was brought to the disk. */
  readonly committed: (changes: number, seconds: number) => void;
  /** A group of changes failed as a whole, because storage did. */
  readonly commitFailed: () => void;
  readonly authenticationFailed: (kind: string, reason: string) => void;
  /** What a gateway was told that asked for a part of a quota. */
  readonly consumed: (verdict: string) => void;
  /** A webhook was tried, or an event was given up. */
  readonly webhookAttempted: (outcome: WebhookOutcome) => void;
  /** From now on this is where the figure is read. */
  readonly registerGauge: (what: GaugeName, read: () => number | Promise<number>) => void;
}

/** What a span says beside its name and times. Never what a client has chosen. */
export type SpanAttributes = Readonly<Record<string, string | number | readonly string[]>>;

/** Takes spans of traces. */
export interface Tracer {
  /**
   * Runs the work within the span of a request, continuing the caller's trace; its method is well known, or `_OTHER`.
   * `end` closes the span.
   */
  readonly request: <T>(
    method: string,
    header: (name: string) => string | null,
    work: (end: (request: CompletedRequest) => void) => T,
  ) => T;
  /** Runs the work within a span that is part of the one that is going on. `tell` adds what is known only later. */
  readonly withSpan: <T>(
    name: string,
    facts: SpanAttributes,
    work: (tell: (facts: SpanAttributes) => void) => T | Promise<T>,
  ) => Promise<T>;
  /** By which a log line is found from a trace, and the other way round; nothing outside of one. */
  readonly ids: () => { readonly trace_id?: string; readonly span_id?: string };
}

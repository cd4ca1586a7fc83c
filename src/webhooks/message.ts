/** What is sent to a receiver, at every attempt the same. */
export interface WebhookMessage {
  /** Without a full stop. */
  readonly id: string;
  readonly body: string;
}

/** What may keep an attempt from being made, or end it. */
export interface AttemptControl {
  readonly abort: AbortSignal;
  /** Asked immediately before the first byte is written: false if the webhook may be another process's by now. */
  readonly maySend: () => boolean;
}

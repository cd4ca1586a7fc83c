/** What is sent to a receiver, at every attempt the same. */
export interface WebhookMessage {
  /** Without a full stop. */
  readonly id: string;
  readonly body: string;
}

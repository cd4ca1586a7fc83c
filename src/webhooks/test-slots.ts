import { AppError } from '../lib/errors.js';

/** The test messages that one process sends at once. */
export const maxTestsAtOnce = 4;

/** The time between two test messages of a webhook, in milliseconds. */
export const testIntervalMs = 1_000;

/** Limits test messages, so that nobody can send floods of requests from this process. */
export interface TestSlots {
  /**
   * Runs a test of a webhook.
   *
   * @throws {AppError} CONFLICT while another test of the webhook runs, for a second after it, and while the process runs
   * the maximum number of tests.
   */
  readonly run: <T>(webhookID: string, test: () => Promise<T>) => Promise<T>;
}

/** Creates the slots of one process. */
export function createTestSlots(nowMs: () => number = () => performance.now()): TestSlots {
  /** From when on a webhook can be tested again: Infinity while a test runs. */
  const untilMs = new Map<string, number>();
  let running = 0;
  return {
    async run(webhookID, test) {
      for (const [id, endMs] of untilMs) if (endMs <= nowMs()) untilMs.delete(id);
      if (untilMs.has(webhookID)) {
        throw new AppError(
          'CONFLICT',
          'A test message of this webhook is on its way, or was sent less than a second ago: wait a second.',
        );
      }
      if (running >= maxTestsAtOnce) {
        throw new AppError('CONFLICT', `${maxTestsAtOnce} test messages are on their way: wait a few seconds.`);
      }
      running += 1;
      untilMs.set(webhookID, Infinity);
      try {
        return await test();
      } finally {
        running -= 1;
        untilMs.set(webhookID, nowMs() + testIntervalMs);
      }
    },
  };
}

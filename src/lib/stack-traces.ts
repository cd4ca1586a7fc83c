/**
 * Runs `work` without capturing stack traces, the expensive part of an error. For errors that are sent to clients: one
 * operation can have a thousand.
 */
export function withoutStackTraces<T>(work: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

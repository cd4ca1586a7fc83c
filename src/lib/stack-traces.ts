/**
 * Runs work that makes errors without their stack traces, which take most of the time of making them. For errors that are
 * sent to clients: one operation can have a thousand.
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

/**
 * Returns free-form JSON in which each decimal string that stands for a stored integer beyond 2^53-1 is that integer again;
 * what was sent if there is none.
 * GraphQL returns such an integer as a string: a client that writes back what it read must not turn it into text.
 */
export function keepStoredIntegers(stored: unknown, sent: unknown): unknown {
  // A patch leaves most values as they are read.
  if (stored === sent) return sent;
  if (typeof sent === 'string') return decimalStringOf(stored) === sent ? stored : sent;
  if (typeof sent !== 'object' || sent === null || typeof stored !== 'object' || stored === null) return sent;
  // Without such an integer, which is rare, nothing is copied: an object has up to 10,000 members.
  const changes: [string, unknown][] = [];
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(stored, name)) continue;
    const member = (sent as Record<string, unknown>)[name];
    const kept = keepStoredIntegers((stored as Record<string, unknown>)[name], member);
    if (kept !== member) changes.push([name, kept]);
  }
  if (changes.length === 0) return sent;
  if (Array.isArray(sent)) return Object.assign([...(sent as readonly unknown[])], Object.fromEntries(changes));
  return Object.fromEntries([...Object.entries(sent), ...changes]);
}

/** The decimal string of an integer beyond 2^53-1; undefined for other values. */
export function decimalStringOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? undefined : String(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(BigInt(value as number)) : undefined;
}

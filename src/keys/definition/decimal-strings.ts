/**
 * Returns free-form JSON in which each decimal string that stands for a stored integer beyond 2^53-1 is that integer again.
 * GraphQL returns such an integer as a string: a client that writes back what it read must not turn it into text.
 */
export function keepStoredIntegers(stored: unknown, sent: unknown): unknown {
  if (typeof sent === 'string') return decimalStringOf(stored) === sent ? stored : sent;
  if (typeof sent !== 'object' || sent === null || typeof stored !== 'object' || stored === null) return sent;
  const keep = (name: string, member: unknown) =>
    Object.hasOwn(stored, name) ? keepStoredIntegers((stored as Record<string, unknown>)[name], member) : member;
  return Array.isArray(sent)
    ? sent.map((item, index) => keep(String(index), item))
    : Object.fromEntries(Object.entries(sent).map(([name, member]) => [name, keep(name, member)]));
}

/** The decimal string of an integer beyond 2^53-1; undefined for other values. */
export function decimalStringOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? undefined : String(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(BigInt(value as number)) : undefined;
}

/**
 * Maximum number of object members and list items in a request body or definition: enough for a definition with 10,000
 * members of free-form JSON and the arguments around it. All work on a definition is linear in this number.
 */
export const maxValues = 12_000;

/** Whether a JSON value contains more values than `max`. Stops counting at `max`. */
export function hasMoreValues(value: unknown, max = maxValues): boolean {
  let remaining = max;
  const exceeds = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    const inner: readonly unknown[] = Array.isArray(part) ? part : Object.values(part);
    remaining -= inner.length;
    return remaining < 0 || inner.some(exceeds);
  };
  return exceeds(value);
}

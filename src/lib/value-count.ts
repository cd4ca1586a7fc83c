/**
 * Maximum number of object members and list items in a request body or definition: enough for a definition with 10,000
 * members of free-form JSON and the arguments around it. All work on a definition is linear in this number.
 */
export const maxValues = 12_000;

/** Whether a JSON value contains more values than `max`. Stops counting at `max`. */
export function hasMoreValues(value: unknown, max = maxValues): boolean {
  return countValues(value, max) > max;
}

/** Returns the number of object members and list items in a JSON value. Stops counting above `max`. */
export function countValues(value: unknown, max = Infinity): number {
  let count = 0;
  const exceeds = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    const inner: readonly unknown[] = Array.isArray(part) ? part : Object.values(part);
    count += inner.length;
    return count > max || inner.some(exceeds);
  };
  exceeds(value);
  return count;
}

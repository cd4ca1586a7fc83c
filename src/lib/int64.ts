/** Smallest signed 64-bit integer. */
export const minInt64 = -(2n ** 63n);
/** Largest signed 64-bit integer. */
export const maxInt64 = 2n ** 63n - 1n;

/** Whether a signed 64-bit integer can hold the value. */
export function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

/** The value, or the nearest that a signed 64-bit integer can hold. */
export function clampInt64(value: bigint): bigint {
  return value > maxInt64 ? maxInt64 : value < minInt64 ? minInt64 : value;
}

/** Whether a parser that reads numbers as doubles makes this number of a 64-bit integer, the largest included. */
export function mayBeRoundedInt64(value: number | bigint): boolean {
  return Math.abs(Number(value)) <= 2 ** 63;
}

/** Returns the integer of a JSON number; undefined for a fraction and for other types. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** Returns the time in Unix seconds, rounded down. */
export function unixSeconds(moment: Date): bigint {
  return BigInt(Math.floor(moment.getTime() / 1000));
}

/** Whether a value contains no integer that JSON parsers round: beyond 2^53-1, in lists and objects too. */
export function isJSONSafe(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Array.isArray(value) ? value.every(isJSONSafe) : Object.values(value).every(isJSONSafe);
}

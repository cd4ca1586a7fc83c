/** Whether a value is a promise or another thenable. */
export function isPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  // Most values are primitive, and reading a property of a string takes time.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Partial<PromiseLike<T>>).then === 'function';
}

/** Whether a value is an iterable object. Strings are iterable but not lists. */
export function isIterableObject(value: unknown): value is Iterable<unknown> {
  return (
    typeof value === 'object' && typeof (value as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] === 'function'
  );
}

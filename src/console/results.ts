import { KeyfrontError } from '../client/client.js';

/** Whether an error may pass without a change of the request. */
export function isTransient(error: KeyfrontError | undefined): boolean {
  return error?.code === 'UNREACHABLE' || error?.code === 'UNAVAILABLE';
}

/** Returns the error of the service, or wraps an unexpected one. */
export function toKeyfrontError(error: unknown): KeyfrontError {
  if (error instanceof KeyfrontError) return error;
  return new KeyfrontError('INTERNAL', error instanceof Error ? error.message : String(error), { cause: error });
}

/** Returns the result of a field, or throws the error because of which it is null. */
export function required<Value>(
  value: Value | null | undefined,
  errors: readonly KeyfrontError[],
  missing: string,
): Value {
  if (value != null) return value;
  throw errors[0] ?? new KeyfrontError('NOT_FOUND', missing);
}

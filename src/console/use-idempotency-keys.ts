import { useRef } from 'preact/hooks';
import { newIdempotencyKey } from './idempotency-key.js';

/** Returns a function that has one idempotency key for the same request, so that a repetition makes nothing more. */
export function useIdempotencyKeys(): (request: object) => string {
  const keys = useRef(new Map<string, string>());
  return (request) => {
    const content = JSON.stringify(request);
    const key = keys.current.get(content) ?? newIdempotencyKey();
    keys.current.set(content, key);
    return key;
  };
}

import { checkKeyID } from './key-id.js';
import type { Accepted, Caller, Ports } from './ports.js';

const told = new WeakSet<object>();

/** Whether an error, or one that it was made of, was told of by the domain. What was not never came this far. */
export function isAudited(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return told.has(error) || isAudited(error.cause);
}

/** The hash of a key identifier; undefined for one that is none. */
export function hashOf(hashKeyID: Ports['hashKeyID'], keyID: string | undefined): string | undefined {
  if (keyID === undefined) return undefined;
  try {
    return hashKeyID(checkKeyID(keyID));
  } catch {
    return undefined;
  }
}

/** Does the work of an attempt and tells what became of it. */
export function createAuditing({ audit, hashKeyID }: Ports) {
  return async <T>(
    operation: string,
    caller: Caller,
    keyID: string | undefined,
    work: () => Promise<T>,
    accepted: (done: T) => Accepted & { readonly keyHash?: string },
  ): Promise<T> => {
    const attempt = { operation, requestID: caller.requestID, caller, keyHash: hashOf(hashKeyID, keyID) };
    try {
      const done = await work();
      const { keyHash = attempt.keyHash, ...outcome } = accepted(done);
      audit?.({ ...attempt, keyHash, outcome });
      return done;
    } catch (error) {
      audit?.({ ...attempt, outcome: { error } });
      if (error instanceof Error) told.add(error);
      throw error;
    }
  };
}

import { checkKeyID } from './key-id.js';
import type { Caller, Ports } from './ports.js';

/** What became of an attempt to change a key: the history has the changes, and this the refusals as well. */
export interface Attempt {
  /** As both faces call it. */
  readonly operation: string;
  readonly requestID: string;
  /** Undefined where nobody proved to be anybody. */
  readonly caller: Omit<Caller, 'requestID'> | undefined;
  /** Undefined where the key has no valid identifier, or is not known yet. */
  readonly keyHash: string | undefined;
  readonly outcome: Accepted | Refused;
}

interface Accepted {
  readonly orgID?: string;
  readonly version?: number;
  /** Whether it happens with every request that a gateway lets pass. */
  readonly isTraffic?: boolean;
}

interface Refused {
  readonly error: unknown;
}

/** Told of every attempt. Must not throw. */
export type Audit = (attempt: Attempt) => void;

const told = new WeakSet<object>();

/** Whether an error, or one that it was made of, was told of by the domain. What was not never came this far. */
export function isTold(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return told.has(error) || isTold(error.cause);
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
export function createTelling({ audit, hashKeyID }: Ports) {
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

import { statSync } from 'node:fs';
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { createDurableFile, replaceDurableFile, systemCodeOf } from '../lib/durable-file.js';
import { describeError } from '../lib/system-error.js';
import { keyBytes, keyRingText, readKeyRingFile, type RingKey, type RingKeys } from './key-ring-file.js';

/** The keys that encrypt secrets and sign rows. Printing or serializing a ring shows IDs only. */
export interface KeyRing {
  /** ID of the primary key, which encrypts and signs from now on: the last of `ids`. */
  readonly primaryID: string;
  /** ID of a key that was added and is not promoted. */
  readonly pendingID?: string | undefined;
  /** Oldest first. */
  readonly ids: readonly string[];
  /** Returns a key. @throws {Error} when the ring has no key with this ID. */
  keyOf(id: string): KeyObject;
}

/** Creates a file with one new key. @throws {Error} when the file exists or cannot be written. */
export function createKeyRingFile(path: string, now: Date): KeyRing {
  const keys: RingKeys = { older: [], primary: generateKey('k1', now) };
  try {
    createDurableFile(path, keyRingText(keys));
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw toWriteError(path, error);
    throw new Error(`The key ring ${path} exists already; it was not touched.`, { cause: error });
  }
  return createKeyRing(keys);
}

/** Creates a ring in memory, for databases in memory. */
export function createMemoryKeyRing(now: Date): KeyRing {
  return createKeyRing({ older: [], primary: generateKey('k1', now) });
}

const reportEveryMs = 60_000;

/**
 * Returns a function that returns the current ring of the file, so that a rotation by another process takes effect without
 * a restart. It checks the file at most once in each synchronous run of code. While the file cannot be used, such as while
 * another ring is copied over it, it returns the ring before and tries again at each check.
 *
 * @param report - receives a line for the operator when the file cannot be used, each minute until it can, and then
 * @throws {Error} as `loadKeyRing`; the returned function does not throw.
 */
export function followKeyRing(
  path: string,
  report: (line: string) => void = () => undefined,
  nowMs: () => number = () => performance.now(),
): () => KeyRing {
  const stampOf = () => {
    // A change of the mode changes the time of the status only.
    const { ino, ctimeMs, size } = statSync(path);
    return `${ino} ${ctimeMs} ${size}`;
  };
  let stamp: string | undefined = stampOf();
  let ring = loadKeyRing(path);
  let isChecked = false;
  let reportedMs: number | undefined;

  function follow(): void {
    try {
      const found = stampOf();
      if (found === stamp) return;
      ring = loadKeyRing(path);
      stamp = found;
      if (reportedMs !== undefined) report(`The key ring ${path} was read and is now in use.`);
      reportedMs = undefined;
    } catch (error) {
      // The next change of the file may have the same time.
      stamp = undefined;
      if (reportedMs !== undefined && nowMs() - reportedMs < reportEveryMs) return;
      reportedMs = nowMs();
      report(`${describeError(error)} Until it can be used, the key ring that was read before stays in use.`);
    }
  }

  return () => {
    if (isChecked) return ring;
    follow();
    isChecked = true;
    queueMicrotask(() => {
      isChecked = false;
    });
    return ring;
  };
}

/** Reads the ring of a file. @throws {Error} as `readKeyRingFile`. */
export function loadKeyRing(path: string): KeyRing {
  return createKeyRing(readKeyRingFile(path));
}

/**
 * Appends a new key and makes it the primary key. Older keys stay, so that all sealed data still opens.
 *
 * @throws {Error} when the file cannot be read or written, or another process is changing it.
 */
export function addKey(path: string, now: Date): KeyRing {
  return change(path, ({ older, primary }) => {
    const kept = [...older, primary];
    return { older: kept, primary: generateKey(nextID(kept), now) };
  });
}

/**
 * Adds a key that only decrypts and verifies, so that hosts with a copy of the ring can have it before it is used.
 *
 * @throws {Error} as `addKey`.
 */
export function addPendingKey(path: string, now: Date): KeyRing {
  return change(path, ({ older, primary }) => {
    const pending = { ...generateKey(nextID([...older, primary]), now), pending: true as const };
    return { older: [...older, pending], primary };
  });
}

/** Makes the pending key the primary key; without one, changes nothing. @throws {Error} as `addKey`. */
export function promotePendingKey(path: string): KeyRing {
  return change(path, (keys) => {
    const pending = keys.older.find((key) => key.pending);
    if (!pending) return keys;
    const { id, created, key } = pending;
    const older = keys.older.filter((other) => other !== pending);
    return { older: [...older, keys.primary], primary: { id, created, key } };
  });
}

/**
 * Removes all keys but the primary and the pending one. Data sealed under another key is lost: reseal all of it first.
 *
 * @throws {Error} as `addKey`.
 */
export function dropInactiveKeys(path: string): KeyRing {
  return change(path, ({ older, primary }) => ({ older: older.filter((key) => key.pending), primary }));
}

function createKeyRing({ older, primary }: RingKeys): KeyRing {
  const keys = new Map([...older, primary].map(({ id, key }) => [id, createSecretKey(key, 'base64')]));
  // The keys are in this closure and not in a property, so that logs cannot show them.
  return Object.freeze({
    primaryID: primary.id,
    pendingID: older.find((key) => key.pending)?.id,
    ids: Object.freeze([...keys.keys()]),
    keyOf(id: string) {
      const key = keys.get(id);
      if (key === undefined) throw new Error(`The key ring has no key with the id ${JSON.stringify(id)}.`);
      return key;
    },
  });
}

function generateKey(id: string, now: Date): RingKey {
  return { id, created: now.toISOString(), key: randomBytes(keyBytes).toString('base64') };
}

/** One more than the highest number in the ring, which is never removed, so that no number is used twice. */
function nextID(keys: readonly RingKey[]): string {
  const numbers = keys.map(({ id }) => Number(/^k(\d{1,12})$/.exec(id)?.[1] ?? 0));
  return `k${Math.max(...numbers) + 1}`;
}

function change(path: string, next: (keys: RingKeys) => RingKeys): KeyRing {
  // Errors of the current file are reported before the new one is written.
  readKeyRingFile(path);
  try {
    replaceDurableFile(path, () => keyRingText(next(readKeyRingFile(path))));
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw toWriteError(path, error);
    throw new Error(
      `The key ring ${path} is being changed, or a change of it was interrupted. ` +
        `If no other process is changing it, remove the file beside it that ends in .new and try again.`,
      { cause: error },
    );
  }
  return loadKeyRing(path);
}

function toWriteError(path: string, error: unknown): unknown {
  const code = systemCodeOf(error);
  return code === undefined ? error : new Error(`The key ring ${path} cannot be written (${code}).`, { cause: error });
}

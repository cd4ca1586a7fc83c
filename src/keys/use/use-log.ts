import { rotationOf } from '../identifiers.js';
import { dayOf, type KeyUse, type NoteUse, type UseStore } from './use.js';

/** The uses that are not stored yet. */
export interface UseLog {
  readonly note: NoteUse;
  /** Writes what was noted. What could not be written stays. @throws the error of the store. */
  readonly flush: () => Promise<void>;
  /** The number of keys with uses that are not stored. */
  readonly waiting: () => number;
  /** How many requests were not noted, because too many keys were waiting. */
  readonly dropped: () => number;
}

interface UseLogDeps {
  readonly store: Pick<UseStore, 'add'>;
  readonly now: () => Date;
  /** When so many keys have uses, they are written at once. */
  readonly maxKeys?: number;
}

interface Noted extends KeyUse {
  allowed: bigint;
  denied: bigint;
  lastUsed: number;
  identifiers: Map<string, number> | undefined;
}

const defaultMaxKeys = 20_000;

/** How many keys one transaction writes: about 3 ms in SQLite. */
const batchSize = 100;

/**
 * Counts the uses of keys in memory, a few words for each key, and writes them in batches: a request costs no write. A process
 * that is killed loses what it has not written. While the store fails, uses of twice `maxKeys` keys are kept.
 */
export function createUseLog({ store, now, maxKeys = defaultMaxKeys }: UseLogDeps): UseLog {
  /** The uses of the newest day of each key, by hash. */
  let noted = new Map<string, Noted>();
  /** Uses of other days and of earlier keys with the same hash. */
  let others: Noted[] = [];
  let unwritten = 0;
  let dropped = 0;
  /** After a failure, only the caller of `flush` tries again: a try costs more than a request. */
  let hasFailed = false;
  let running: Promise<void> | undefined;
  const waiting = () => noted.size + others.length + unwritten;

  /** Returns the entry of a key to count in; undefined if there is no space for one. */
  function entryOf(keyHash: string, identity: string, day: number): Noted | undefined {
    const found = noted.get(keyHash);
    if (found?.day === day && found.identity === identity) return found;
    // Takes all that is noted before it returns, unless a write runs already. A failure is reported by the next one.
    if (noted.size + others.length >= maxKeys && !hasFailed) flush().catch(() => undefined);
    if (waiting() >= 2 * maxKeys) return undefined;
    const former = noted.get(keyHash);
    if (former) others.push(former);
    const entry = { keyHash, identity, day, allowed: 0n, denied: 0n, lastUsed: 0, identifiers: undefined };
    noted.set(keyHash, entry);
    return entry;
  }

  function putBack(uses: readonly Noted[]): void {
    for (const use of uses) {
      const newer = noted.get(use.keyHash);
      if (!newer) noted.set(use.keyHash, use);
      else if (newer.day === use.day && newer.identity === use.identity) addTo(newer, use);
      else others.push(use);
    }
  }

  async function write(): Promise<void> {
    const uses = others.length === 0 ? [...noted.values()] : merged([...others, ...noted.values()]);
    noted = new Map();
    others = [];
    unwritten = uses.length;
    try {
      for (; unwritten > 0; unwritten = Math.max(0, unwritten - batchSize)) {
        const from = uses.length - unwritten;
        await store.add(uses.slice(from, from + batchSize));
      }
    } catch (error) {
      putBack(uses.slice(uses.length - unwritten));
      unwritten = 0;
      hasFailed = true;
      throw error;
    }
    hasFailed = false;
  }

  function flush(): Promise<void> {
    running ??= write().finally(() => (running = undefined));
    return running;
  }

  return {
    note(key, { hash, amount, isAllowed }) {
      const at = now();
      const ms = at.getTime();
      const entry = entryOf(key.keyHash, key.identity, dayOf(ms));
      if (!entry) {
        dropped += 1;
        return;
      }
      if (isAllowed) entry.allowed += amount;
      else entry.denied += amount;
      if (ms > entry.lastUsed) entry.lastUsed = ms;
      if (rotationOf(key, at)) (entry.identifiers ??= new Map()).set(hash, ms);
    },
    flush: async () => {
      // A write that runs may have begun before the newest uses.
      await running?.catch(() => undefined);
      await flush();
    },
    waiting,
    dropped: () => dropped,
  };
}

function addTo(entry: Noted, use: Noted): void {
  entry.allowed += use.allowed;
  entry.denied += use.denied;
  entry.lastUsed = Math.max(entry.lastUsed, use.lastUsed);
  for (const [hash, ms] of use.identifiers ?? []) {
    entry.identifiers ??= new Map();
    entry.identifiers.set(hash, Math.max(ms, entry.identifiers.get(hash) ?? 0));
  }
}

/** One use for each key and day. */
function merged(uses: readonly Noted[]): Noted[] {
  const byDay = new Map<string, Noted>();
  for (const use of uses) {
    const name = `${use.keyHash} ${use.day} ${use.identity}`;
    const found = byDay.get(name);
    if (found) addTo(found, use);
    else byDay.set(name, use);
  }
  return [...byDay.values()];
}

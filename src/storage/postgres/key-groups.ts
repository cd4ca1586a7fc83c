import { isKeyHash, placesOf } from '../sql/place.js';
import type { KeyGroups } from '../sql/keys/group-writer.js';
import { writesOfMissing, type KeyLookup, type KeyRowStatements, type KeyWrite } from '../sql/keys/key-rows.js';
import { prepared } from '../sql/session.js';
import { inSlices, type TimeSlices } from '../time-slices.js';
import { createKnownNames, writeKeys } from './key-writes.js';
import { inTransaction, type PgPool, type Session } from './pool.js';

/** Locks rows until the transaction ends, in the order of their hashes, so that no deadlock occurs. */
const lock = prepared(
  `SELECT id FROM keys k WHERE key_hash IN (SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash) ORDER BY id FOR UPDATE`,
);

/**
 * Reads the keys of a group in one statement and writes them in another: two round trips. Rows are not locked, unless they
 * are contended: a key that another process changes in between is not written, and joins a later group.
 */
export function createKeyGroups(
  { run }: PgPool,
  { lookUpMany, rowOf }: Pick<KeyRowStatements, 'lookUpMany' | 'rowOf'>,
  slices: TimeSlices,
): KeyGroups {
  const names = createKnownNames();
  return {
    maxGroups: 3,
    write(take) {
      const { keyHashes, isContended, apply } = take();
      const bindable = keyHashes.filter(isKeyHash);

      async function lookAndWrite(session: Session) {
        const rows = await session.query<KeyLookup & { readonly wanted: string }>(lookUpMany, [
          placesOf(bindable),
          null,
        ]);
        const found = new Map(rows.map((row) => [row.wanted, row]));
        const writes = new Map<string, KeyWrite>();
        for (const keyHash of keyHashes) {
          const one = await inSlices(slices, apply(keyHash, found.get(keyHash)));
          if (one) writes.set(keyHash, one);
        }
        const known = isContended ? undefined : names;
        const written = writes.size > 0 ? await writeKeys(session, [...writes.values()], known) : new Set<string>();
        return { conflicts: new Set([...writes.keys()].filter((keyHash) => !written.has(keyHash))) };
      }

      return run((session) =>
        isContended
          ? inTransaction(session, async () => {
              await session.query(lock, [bindable]);
              return lookAndWrite(session);
            })
          : lookAndWrite(session),
      );
    },
    // Adds all in one statement, so all or none. Another process may add one of the keys first.
    add: (changes) =>
      run(async (session) => {
        const found = await session.query<KeyLookup>(lookUpMany, [placesOf([...changes.keys()]), null]);
        const writes = writesOfMissing(changes, found, rowOf);
        return writes.length > 0 ? writeKeys(session, writes, names) : new Set();
      }),
  };
}

import { randomUUID } from 'node:crypto';
import type { HashRange, RowSource } from '../moving.js';
import { namingDatabase, openDatabase } from './database.js';
import { createSettings } from './settings.js';

type Row = Readonly<Record<string, unknown>>;

/** What a moving remembers its source by. */
const name = 'moving_id';
const keysAtOnce = 200;
const entriesAtOnce = 500;

export interface HeldRows extends RowSource {
  readonly id: string;
  readonly close: () => void;
}

/** The rows of a file as they are, which nobody writes to until it is closed: whoever tries is told that storage is busy. */
export function holdRows(file: string): HeldRows {
  const database = openDatabase(file);
  try {
    return namingDatabase(file, () => {
      const settings = createSettings(database);
      const id = settings.get(name) ?? randomUUID();
      settings.set(name, id);
      database.exec('BEGIN IMMEDIATE');
      const keys = database.prepare<[string, string], Row>(
        `SELECT * FROM keys WHERE key_hash > ? AND key_hash <= ? ORDER BY key_hash LIMIT ${keysAtOnce}`,
      );
      const audit = database.prepare<[string, bigint, string], Row>(
        `SELECT * FROM audit WHERE (key_hash, version_after) > (?, ?) AND key_hash <= ?
         ORDER BY key_hash, version_after LIMIT ${entriesAtOnce}`,
      );
      const terms = database.prepare<[string, string], Row>(
        'SELECT * FROM key_terms WHERE key_hash > ? AND key_hash <= ? ORDER BY key_hash, term',
      );
      const quotaChanges = database.prepare<[], Row>('SELECT * FROM quota_changes ORDER BY id');
      const credentials = database.prepare<[], Row>('SELECT * FROM credentials ORDER BY id');
      return {
        id,
        keys: chunks((after, end) => keys.all(after, end), keysAtOnce),
        audit: chunks(
          (after, end, last) => audit.all(after, last ? (last['version_after'] as bigint) : endOfVersions, end),
          entriesAtOnce,
        ),
        terms: chunks((after, end) => terms.all(after, end), Infinity),
        credentials: () => Promise.resolve(credentials.all()),
        quotaChanges: () => Promise.resolve(quotaChanges.all()),
        setting: (setting) => Promise.resolve(settings.get(setting)),
        close: () => {
          if (database.inTransaction) database.exec('ROLLBACK');
          database.close();
        },
      };
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Behind every hash. */
const endOfHashes = '~';
/** A range begins behind all versions of the key that it leaves out. */
const endOfVersions = 9223372036854775807n;

function chunks(read: (after: string, end: string, last: Row | undefined) => Row[], size: number): RowSource['keys'] {
  return async function* (range: HashRange) {
    let last: Row | undefined;
    for (;;) {
      const rows = await Promise.resolve(
        read(last ? (last['key_hash'] as string) : range.after, range.upTo ?? endOfHashes, last),
      );
      yield rows;
      last = rows.at(-1);
      if (last === undefined || rows.length < size) return;
    }
  };
}

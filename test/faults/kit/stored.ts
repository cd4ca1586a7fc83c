import { join } from 'node:path';
import Database from 'better-sqlite3';

/** A key as its row has it. */
export interface StoredRow {
  readonly version: number;
  readonly mark: string;
  /** The marks under which it is found by tag. */
  readonly terms: readonly string[];
  readonly used: number;
}

/** A change as the history has it. */
export interface StoredChange {
  readonly version: number;
  readonly mark: string;
}

/** The stored changes of the writers, by hash of the key. */
export interface Stored {
  readonly keys: ReadonlyMap<string, StoredRow>;
  readonly histories: ReadonlyMap<string, readonly StoredChange[]>;
  readonly credentials: number;
}

interface KeyRow {
  key_hash: string;
  version: number;
  mark: string;
  quota_used: number;
}

interface TermRow {
  key_hash: string;
  tag: string;
}

interface ChangeRow {
  key_hash: string;
  version_after: number;
  mark: string;
}

/** Reads the tables themselves, so that what is compared does not come from the code that is tested. */
export function readStored(data: string): Stored {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    const keys = database
      .prepare<[], KeyRow>(
        `SELECT key_hash, version, json_extract(definition, '$.alias') AS mark, quota_used FROM keys`,
      )
      .all();
    const terms = new Map<string, string[]>();
    // A tag's term is the tag behind `t:`.
    const tags = database
      .prepare<[], TermRow>(`SELECT key_hash, substr(term, 3) AS tag FROM key_terms WHERE term LIKE 't:%'`)
      .all();
    for (const { key_hash, tag } of tags) terms.set(key_hash, [...(terms.get(key_hash) ?? []), tag]);
    const histories = new Map<string, StoredChange[]>();
    const changes = database.prepare<[], ChangeRow>(
      `SELECT key_hash, version_after, json_extract(definition, '$.alias') AS mark FROM audit ORDER BY version_after`,
    );
    for (const { key_hash, version_after, mark } of changes.iterate()) {
      const history = histories.get(key_hash) ?? [];
      history.push({ version: version_after, mark });
      histories.set(key_hash, history);
    }
    const credentials = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM credentials').get();
    return {
      keys: new Map(
        keys.map(({ key_hash, version, mark, quota_used }) => [
          key_hash,
          { version, mark, terms: terms.get(key_hash) ?? [], used: quota_used },
        ]),
      ),
      histories,
      credentials: credentials?.count ?? 0,
    };
  } finally {
    database.close();
  }
}

/** The names of the indexes of the file. */
export function indexesOf(data: string): string[] {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    return database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'index'`).pluck().all();
  } finally {
    database.close();
  }
}

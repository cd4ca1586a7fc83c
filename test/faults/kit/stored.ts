import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';

/** The row of a key. */
export interface StoredRow {
  readonly version: number;
  readonly mark: string;
  /** The marks in the index of tags. */
  readonly terms: readonly string[];
  readonly used: number;
}

/** The history entry of a change. */
export interface StoredChange {
  readonly version: number;
  readonly mark: string;
}

/** The stored keys and histories, by hash of the key. */
export interface Stored {
  readonly keys: ReadonlyMap<string, StoredRow>;
  readonly histories: ReadonlyMap<string, readonly StoredChange[]>;
  readonly credentials: number;
}

interface KeyRow {
  readonly key_hash: string;
  readonly version: number | string;
  readonly mark: string;
  readonly used: number | string;
}

interface TermRow {
  readonly key_hash: string;
  readonly tag: string;
}

type ChangeRow = Omit<KeyRow, 'used'>;

interface CountRow {
  readonly count: number | string;
}

/** Returns the statements that read the rows. The term of a tag is `t:` and the tag. */
const statements = (hex: (bytes: string) => string, mark: (definition: string) => string) => ({
  keys: `SELECT ${hex('key_hash')} AS key_hash, version, ${mark('definition')} AS mark, quota_used AS used FROM keys`,
  terms: `SELECT ${hex('k.key_hash')} AS key_hash, substr(t.name, 3) AS tag
    FROM key_terms n JOIN terms t ON t.id = n.term JOIN keys k ON k.id = n.key WHERE t.name LIKE 't:%'`,
  // The definition after an entry is in the next one, and the newest in the key.
  changes: `SELECT ${hex('h.key_hash')} AS key_hash, h.version,
      ${mark('coalesce(lead(h.before) OVER (PARTITION BY h.key ORDER BY h.version), k.definition)')} AS mark
    FROM history h LEFT JOIN keys k ON k.id = h.key ORDER BY h.version`,
  credentials: 'SELECT count(*) AS count FROM credentials',
});

/** Reads the tables of a database file directly, independently of the code under test. */
export function readStored(data: string): Stored {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    const { keys, terms, changes, credentials } = statements(
      (bytes) => `lower(hex(${bytes}))`,
      (definition) => `json_extract(${definition}, '$.alias')`,
    );
    return storedIn(
      database.prepare<[], KeyRow>(keys).all(),
      database.prepare<[], TermRow>(terms).all(),
      database.prepare<[], ChangeRow>(changes).all(),
      database.prepare<[], CountRow>(credentials).all(),
    );
  } finally {
    database.close();
  }
}

/** Reads the tables of a PostgreSQL database directly. */
export async function readStoredOfServer(url: string): Promise<Stored> {
  const { keys, terms, changes, credentials } = statements(
    (bytes) => `encode(${bytes}, 'hex')`,
    (definition) => `(${definition})::json ->> 'alias'`,
  );
  return storedIn(
    await statement<KeyRow>(url, keys),
    await statement<TermRow>(url, terms),
    await statement<ChangeRow>(url, changes),
    await statement<CountRow>(url, credentials),
  );
}

/** Runs a statement on a PostgreSQL server, bypassing the services. */
export async function statement<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

function storedIn(
  keys: readonly KeyRow[],
  terms: readonly TermRow[],
  changes: readonly ChangeRow[],
  [credentials]: readonly CountRow[],
): Stored {
  const tags = new Map<string, string[]>();
  for (const { key_hash, tag } of terms) tags.set(key_hash, [...(tags.get(key_hash) ?? []), tag]);
  const histories = new Map<string, StoredChange[]>();
  for (const { key_hash, version, mark } of changes) {
    const history = histories.get(key_hash) ?? [];
    history.push({ version: Number(version), mark });
    histories.set(key_hash, history);
  }
  const rowOf = ({ key_hash, version, mark, used }: KeyRow): StoredRow => ({
    version: Number(version),
    mark,
    terms: tags.get(key_hash) ?? [],
    used: Number(used),
  });
  return {
    keys: new Map(keys.map((row) => [row.key_hash, rowOf(row)])),
    histories,
    credentials: Number(credentials?.count ?? 0),
  };
}

/** Returns the names of the indexes of the database file. */
export function indexesOf(data: string): string[] {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    return database.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'index'`).pluck().all();
  } finally {
    database.close();
  }
}

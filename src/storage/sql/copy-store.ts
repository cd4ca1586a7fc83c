import { createHash } from 'node:crypto';
import { credentialTable } from '../records/credential.js';
import { headTable } from '../records/head.js';
import { keyTable } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import { revisionTable } from '../records/revision.js';
import { namesOf } from '../records/signed.js';
import { deliveryColumns, webhookTable } from '../records/webhook.js';
import { receiptColumns } from './keys/receipts.js';
import { unprepared, type SqlSession, type Value } from './session.js';
import { createSettings } from './settings.js';

/** Setting of a SQLite file that `migrate-store` has copied: the name of the database that holds the installation now. */
export const migratedTo = 'migrated_to';

/** Setting of a database server: the id of the data folder that was copied into it, once the copy is complete. */
export const migratedFrom = 'migrated_from';

/** A row as it is copied: its columns by name. */
export type CopiedRow = Readonly<Record<string, unknown>>;

/** Hashes after the one and up to the other; to the end where that is undefined. */
export interface HashRange {
  readonly after: string;
  readonly upTo: string | undefined;
}

/** All rows of one table in a range, in the same order for both engines, a chunk at a time. */
type Rows = (range: HashRange) => AsyncIterable<readonly CopiedRow[]>;

/** Tables that have no range of hashes: their columns and their order. Each is read at once. */
export const smallTables = {
  credentials: { columns: credentialTable.columns, order: 'id' },
  heads: { columns: headTable.columns, order: 'name' },
  webhooks: { columns: webhookTable.columns, order: 'id' },
  webhook_progress: {
    columns: { webhook_id: 'text', cursor: 'text', holder: 'text?', held_until: 'integer' },
    order: 'webhook_id',
  },
  webhook_deliveries: { columns: deliveryColumns, order: 'webhook_id, key_hash, event_id' },
  quota_changes: { columns: { id: 'integer', ...quotaChangeTable.columns }, order: 'id' },
  receipts: { columns: receiptColumns, order: 'id' },
} as const;
/** One of {@link smallTables}. */
export type SmallTable = keyof typeof smallTables;

/** The rows that belong to the hashes of a range. */
export interface RowSource {
  readonly keys: Rows;
  readonly audit: Rows;
  readonly terms: Rows;
  readonly small: (table: SmallTable) => Promise<readonly CopiedRow[]>;
  readonly setting: (name: string) => Promise<string | undefined>;
}

/** The database that rows are copied to. */
export interface RowTarget extends RowSource {
  /** Replaces the rows of the range by these, all or none. */
  readonly replace: (range: HashRange, from: RowSource) => Promise<void>;
  readonly replaceSmall: (table: SmallTable, rows: readonly CopiedRow[]) => Promise<void>;
  /** Completes the copy: processes may open the database from now on. */
  readonly finish: (settings: ReadonlyMap<string, string>) => Promise<void>;
}

/** What a copy contains, in rows. */
export interface CopyResult {
  readonly keys: number;
  readonly entries: number;
  readonly credentials: number;
  /** Keys that an earlier attempt had copied, and that are identical. */
  readonly found: number;
}

const movedSettings = ['key_hash', 'key_ring'];

/**
 * Copies all rows as they are, with their signatures. Each range is read back and compared; a range that is identical
 * already is skipped, so that an interrupted copy continues.
 *
 * @param beforeFinish marks the source. It runs before the target is complete, so that no process can be served from both.
 */
export async function copyStore(
  source: RowSource,
  target: RowTarget,
  onProgress: (keys: number) => void,
  beforeFinish: () => void = () => undefined,
): Promise<CopyResult> {
  const counts = { keys: 0, entries: 0, found: 0 };
  for (let after: string | undefined = ''; after !== undefined;) {
    const keys: readonly CopiedRow[] = await firstOf(source.keys({ after, upTo: undefined }));
    const last = keys.at(-1)?.['key_hash'];
    // The last range has no keys and no end: the target must have no rows there either.
    const range: HashRange = { after, upTo: typeof last === 'string' ? last : undefined };
    const wanted = await digest(source, range);
    const isIdentical = (await digest(target, range)).text === wanted.text;
    if (!isIdentical) {
      await target.replace(range, source);
      if ((await digest(target, range)).text !== wanted.text) {
        throw new Error(
          `The rows up to the key ${range.upTo ?? 'at the end'} differ from the source after they were written.`,
        );
      }
    }
    counts.keys += keys.length;
    counts.entries += wanted.entries;
    counts.found += isIdentical ? keys.length : 0;
    onProgress(counts.keys);
    after = range.upTo;
  }
  let credentials = 0;
  for (const table of Object.keys(smallTables) as SmallTable[]) {
    const rows = await source.small(table);
    await target.replaceSmall(table, rows);
    if (written(await target.small(table)) !== written(rows)) {
      throw new Error(`The rows of ${table} differ from the source after they were written.`);
    }
    if (table === 'credentials') credentials = rows.length;
  }
  const settings = new Map<string, string>();
  for (const name of movedSettings) {
    const value = await source.setting(name);
    if (value !== undefined) settings.set(name, value);
  }
  beforeFinish();
  await target.finish(settings);
  return { ...counts, credentials };
}

async function firstOf(chunks: AsyncIterable<readonly CopiedRow[]>): Promise<readonly CopiedRow[]> {
  for await (const chunk of chunks) return chunk;
  return [];
}

async function digest(from: RowSource, range: HashRange): Promise<{ text: string; entries: number }> {
  const hash = createHash('sha256');
  let entries = 0;
  for (const rows of [from.keys, from.audit, from.terms]) {
    hash.update('next table');
    for await (const chunk of rows(range)) {
      for (const row of chunk) hash.update(written([row]));
      if (rows === from.audit) entries += chunk.length;
    }
  }
  return { text: hash.digest('hex'), entries };
}

/** Rows as text, with their columns sorted. */
function written(rows: readonly CopiedRow[]): string {
  const form = (value: unknown) => {
    if (typeof value === 'bigint') return `i${value}`;
    return value instanceof Uint8Array ? `b${Buffer.from(value).toString('hex')}` : value;
  };
  return JSON.stringify(
    rows.map((row) =>
      Object.entries(row)
        .filter(([, value]) => value !== undefined)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, form(value)]),
    ),
  );
}

/** The tables that are copied in ranges of hashes: their columns, their order and the number of rows of a chunk. */
export const rangeTables = {
  keys: { columns: keyTable.columns, second: undefined, chunkSize: 200 },
  audit: { columns: { id: 'integer', ...revisionTable.columns }, second: 'version_after', chunkSize: 500 },
  // Without an index on the key in SQLite, each chunk reads the whole table.
  key_terms: { columns: { term: 'text', key_hash: 'text', org_id: 'text' }, second: 'term', chunkSize: 10_000 },
} as const;

/** A table that is copied in ranges of hashes. */
export type RangeTable = keyof typeof rangeTables;

/** After every hash. */
export const endOfHashes = '~';

/** The rows of a database that is copied, or that a copy is verified in. */
export function createRowSource(session: SqlSession): RowSource {
  const { all } = session;
  const settings = createSettings(session);

  function rowsOf(table: RangeTable): RowSource['keys'] {
    const { columns, second, chunkSize } = rangeTables[table];
    const order = second === undefined ? 'key_hash' : `key_hash, ${second}`;
    const select = `SELECT ${namesOf(columns).join(', ')} FROM ${table} WHERE key_hash <= $1`;
    const first = unprepared(`${select} AND key_hash > $2 ORDER BY ${order} LIMIT ${chunkSize}`);
    const next =
      second === undefined
        ? first
        : unprepared(`${select} AND (key_hash, ${second}) > ($2, $3) ORDER BY ${order} LIMIT ${chunkSize}`);

    return async function* ({ after, upTo = endOfHashes }: HashRange) {
      let rows = await all<CopiedRow>(first, [upTo, after]);
      for (;;) {
        yield rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < chunkSize) return;
        const position = second === undefined ? [last['key_hash']] : [last['key_hash'], last[second]];
        rows = await all<CopiedRow>(next, [upTo, ...(position as Value[])]);
      }
    };
  }

  return {
    keys: rowsOf('keys'),
    audit: rowsOf('audit'),
    terms: rowsOf('key_terms'),
    small: (table) => {
      const { columns, order } = smallTables[table];
      return all<CopiedRow>(unprepared(`SELECT ${namesOf(columns).join(', ')} FROM ${table} ORDER BY ${order}`));
    },
    setting: (name) => settings.get(name),
  };
}

import { createHash } from 'node:crypto';
import { credentialTable } from '../records/credential.js';
import { headTable } from '../records/head.js';
import { keyTable } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import { revisionTable } from '../records/revision.js';
import { namesOf } from '../records/signed.js';
import { deliveryColumns, webhookTable } from '../records/webhook.js';
import { receiptColumns } from './keys/receipts.js';
import { readPages } from './pages.js';
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

/** The tables that are copied in ranges of hashes: their columns, their order and the number of rows of a chunk. */
export const rangeTables = {
  keys: { columns: keyTable.columns, order: ['key_hash'], chunkSize: 200 },
  audit: { columns: { id: 'integer', ...revisionTable.columns }, order: ['key_hash', 'version_after'], chunkSize: 500 },
  // Without an index on the key in SQLite, each chunk reads the whole table.
  key_terms: {
    columns: { term: 'text', key_hash: 'text', org_id: 'text' },
    order: ['key_hash', 'term'],
    chunkSize: 10_000,
  },
} as const;
/** One of {@link rangeTables}. */
export type RangeTable = keyof typeof rangeTables;

/** The names of {@link rangeTables}. */
export const rangeTableNames = Object.keys(rangeTables) as RangeTable[];

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
  /** All rows of one table in a range, in the same order for both engines, a chunk at a time. */
  readonly rows: (table: RangeTable, range: HashRange) => AsyncIterable<readonly CopiedRow[]>;
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
    const keys: readonly CopiedRow[] = await firstOf(source.rows('keys', { after, upTo: undefined }));
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
  for (const table of rangeTableNames) {
    hash.update('next table');
    for await (const chunk of from.rows(table, range)) {
      for (const row of chunk) hash.update(written([row]));
      if (table === 'audit') entries += chunk.length;
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

/** After every hash. */
export const endOfHashes = '~';

/** The rows of a database that is copied, or that a copy is verified in. */
export function createRowSource(session: SqlSession): RowSource {
  const { all } = session;
  const settings = createSettings(session);
  return {
    rows(table, { after, upTo = endOfHashes }) {
      const { columns, order, chunkSize } = rangeTables[table];
      const chunk = (isAfter: string) =>
        unprepared(
          `SELECT ${namesOf(columns).join(', ')} FROM ${table} WHERE key_hash <= $1 AND ${isAfter}
           ORDER BY ${order.join(', ')} LIMIT ${chunkSize}`,
        );
      const first = chunk('key_hash > $2');
      const next = chunk(`(${order.join(', ')}) > (${order.map((_, index) => `$${index + 2}`).join(', ')})`);
      const readAfter = (last: CopiedRow | undefined) =>
        last
          ? all<CopiedRow>(next, [upTo, ...order.map((column) => last[column] as Value)])
          : all<CopiedRow>(first, [upTo, after]);
      return readPages(readAfter, chunkSize);
    },
    small: (table) => {
      const { columns, order } = smallTables[table];
      return all<CopiedRow>(unprepared(`SELECT ${namesOf(columns).join(', ')} FROM ${table} ORDER BY ${order}`));
    },
    setting: (name) => settings.get(name),
  };
}

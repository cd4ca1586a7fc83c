import { createHash } from 'node:crypto';
import { credentialTable } from '../records/credential.js';
import { headTable } from '../records/head.js';
import { keyTable } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import { revisionTable } from '../records/revision.js';
import { namesOf, type Columns } from '../records/signed.js';
import { deliveryColumns, webhookTable } from '../records/webhook.js';
import { receiptColumns } from './keys/receipts.js';
import { readPages } from './pages.js';
import { unprepared, type SqlSession, type Value } from './session.js';
import { createSettings } from './settings.js';

/** Setting of a SQLite file that `migrate-store` has copied: the name of the database that holds the installation now. */
export const migratedTo = 'migrated_to';

/** Setting of a database server: the id of the data folder that was copied into it, once the copy is complete. */
export const migratedFrom = 'migrated_from';

/** Setting of a database server into which `migrate-store` is copying a data folder: the id of that data folder. */
export const migrationSourceSetting = 'moving_from';

/** A row as it is copied: its columns by name. */
export type CopiedRow = Readonly<Record<string, unknown>>;

/** Hashes after `after`, up to `upTo` or the end. */
export interface HashRange {
  readonly after: string;
  readonly upTo: string | undefined;
}

/** How a table is copied. Its rows are read, sent and compared in chunks, so that no text or statement contains all of them. */
interface CopiedTable {
  readonly columns: Columns;
  readonly order: readonly string[];
  /** The number of rows of a chunk. */
  readonly chunkSize: number;
  /** Whether it is copied in ranges of hashes. Its order begins with `key_hash`. */
  readonly hasRange: boolean;
}

/** The tables that are copied. */
export const copiedTables = {
  keys: { columns: keyTable.columns, order: ['key_hash'], chunkSize: 200, hasRange: true },
  audit: {
    columns: { id: 'integer', ...revisionTable.columns },
    order: ['key_hash', 'version_after'],
    chunkSize: 500,
    hasRange: true,
  },
  // Without an index on the key in SQLite, each chunk reads the whole table.
  key_terms: {
    columns: { term: 'text', key_hash: 'text', org_id: 'text' },
    order: ['key_hash', 'term'],
    chunkSize: 10_000,
    hasRange: true,
  },
  credentials: { columns: credentialTable.columns, order: ['id'], chunkSize: 500, hasRange: false },
  heads: { columns: headTable.columns, order: ['name'], chunkSize: 10, hasRange: false },
  webhooks: { columns: webhookTable.columns, order: ['id'], chunkSize: 500, hasRange: false },
  webhook_progress: {
    columns: { webhook_id: 'text', cursor: 'text', holder: 'text?', held_until: 'integer' },
    order: ['webhook_id'],
    chunkSize: 500,
    hasRange: false,
  },
  webhook_deliveries: {
    columns: deliveryColumns,
    order: ['webhook_id', 'key_hash', 'event_id'],
    chunkSize: 500,
    hasRange: false,
  },
  quota_changes: {
    columns: { id: 'integer', ...quotaChangeTable.columns },
    order: ['id'],
    chunkSize: 500,
    hasRange: false,
  },
  receipts: { columns: receiptColumns, order: ['id'], chunkSize: 200, hasRange: false },
} as const satisfies Record<string, CopiedTable>;

/** One of {@link copiedTables}. */
export type CopiedTableName = keyof typeof copiedTables;

const tableNames = Object.keys(copiedTables) as CopiedTableName[];
const rangeTables = tableNames.filter((table) => copiedTables[table].hasRange);
const wholeTables = tableNames.filter((table) => !copiedTables[table].hasRange);

/** The database that rows are copied from. */
export interface RowSource {
  /** All rows of one table, or those in a range, in the same order for both engines, a chunk at a time. */
  readonly rows: (table: CopiedTableName, range?: HashRange) => AsyncIterable<readonly CopiedRow[]>;
  readonly setting: (name: string) => Promise<string | undefined>;
}

/** The database that rows are copied to. */
export interface RowTarget extends RowSource {
  /** Replaces the rows of these tables, or those in a range, by the rows of the source, all or none. */
  readonly replace: (source: RowSource, tables: readonly CopiedTableName[], range?: HashRange) => Promise<void>;
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
 * Copies all rows as they are, with their signatures. Each range of hashes, and each other table, is read back and compared;
 * what is identical already is skipped, so that an interrupted copy continues.
 *
 * @param beforeFinish - marks the source. It runs before the target is complete, so that no process can be served from both.
 */
export async function copyStore(
  source: RowSource,
  target: RowTarget,
  onProgress: (keys: number) => void,
  beforeFinish: () => void,
): Promise<CopyResult> {
  const counts = { keys: 0, entries: 0, credentials: 0, found: 0 };

  async function copyPart(tables: readonly CopiedTableName[], range?: HashRange): Promise<{ isUnchanged: boolean }> {
    const wanted = await digest(source, tables, range);
    const isUnchanged = (await digest(target, tables, range)).text === wanted.text;
    if (!isUnchanged) {
      await target.replace(source, tables, range);
      if ((await digest(target, tables, range)).text !== wanted.text) {
        const part = range ? `up to the key ${range.upTo ?? 'at the end'}` : `of ${tables.join(', ')}`;
        throw new Error(`The rows ${part} differ from the source after they were written.`);
      }
    }
    counts.entries += wanted.entries;
    counts.credentials += wanted.credentials;
    return { isUnchanged };
  }

  for (let after: string | undefined = ''; after !== undefined;) {
    const keys: readonly CopiedRow[] = await firstOf(source.rows('keys', { after, upTo: undefined }));
    const last = keys.at(-1)?.['key_hash'];
    // The last range has no keys and no end, so that rows that only the target has are removed too.
    const range: HashRange = { after, upTo: typeof last === 'string' ? last : undefined };
    const { isUnchanged } = await copyPart(rangeTables, range);
    counts.keys += keys.length;
    counts.found += isUnchanged ? keys.length : 0;
    onProgress(counts.keys);
    after = range.upTo;
  }
  for (const table of wholeTables) await copyPart([table]);
  const settings = new Map<string, string>();
  for (const name of movedSettings) {
    const value = await source.setting(name);
    if (value !== undefined) settings.set(name, value);
  }
  beforeFinish();
  await target.finish(settings);
  return counts;
}

async function firstOf(chunks: AsyncIterable<readonly CopiedRow[]>): Promise<readonly CopiedRow[]> {
  for await (const chunk of chunks) return chunk;
  return [];
}

async function digest(
  from: RowSource,
  tables: readonly CopiedTableName[],
  range: HashRange | undefined,
): Promise<{ text: string; entries: number; credentials: number }> {
  const hash = createHash('sha256');
  const counts = { entries: 0, credentials: 0 };
  for (const table of tables) {
    hash.update('next table');
    for await (const chunk of from.rows(table, range)) {
      for (const row of chunk) hash.update(serializeRow(row));
      if (table === 'audit') counts.entries += chunk.length;
      if (table === 'credentials') counts.credentials += chunk.length;
    }
  }
  return { text: hash.digest('hex'), ...counts };
}

/** A row as text, with its columns sorted. */
function serializeRow(row: CopiedRow): string {
  const form = (value: unknown) => {
    if (typeof value === 'bigint') return `i${value}`;
    return value instanceof Uint8Array ? `b${Buffer.from(value).toString('hex')}` : value;
  };
  return JSON.stringify(
    Object.entries(row)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, form(value)]),
  );
}

/** After every hash. */
export const endOfHashes = '~';

/** The rows of a database that is copied, or that a copy is verified in. */
export function createRowSource(session: SqlSession): RowSource {
  const { all } = session;
  const settings = createSettings(session);
  return {
    rows(table, range) {
      const { columns, order, chunkSize } = copiedTables[table];
      const [isWithin, bounds] = range ? ['key_hash <= $1', [range.upTo ?? endOfHashes]] : ['true', []];
      const chunk = (isAfter: string, after: readonly Value[]) =>
        all<CopiedRow>(
          unprepared(
            `SELECT ${namesOf(columns).join(', ')} FROM ${table} WHERE ${isWithin} AND ${isAfter}
             ORDER BY ${order.join(', ')} LIMIT ${chunkSize}`,
          ),
          [...bounds, ...after],
        );
      const parameters = order.map((_, index) => `$${bounds.length + index + 1}`);
      const isAfterLast = `(${order.join(', ')}) > (${parameters.join(', ')})`;
      const positionOf = (row: CopiedRow) => order.map((column) => row[column] as Value);
      return readPages((last: CopiedRow | undefined) => {
        if (last) return chunk(isAfterLast, positionOf(last));
        return range ? chunk('key_hash > $2', [range.after]) : chunk('true', []);
      }, chunkSize);
    },
    setting: (name) => settings.get(name),
  };
}

import { createHash } from 'node:crypto';
import { credentialTable } from '../records/credential.js';
import { headTable } from '../records/head.js';
import { keyTable, quotaChangeTable, revisionTable } from '../records/key-records.js';
import { namesOf, type Columns } from '../records/signed.js';
import { policyTable } from '../records/policy.js';
import { proposalStepTable, proposalTable } from '../records/proposal.js';
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

/** A row in the order of its table: the values of the columns of the primary key. */
export type RowPosition = readonly Value[];

/** The rows of a table after `after`, up to `upTo` or the end. */
export interface RowRange {
  readonly after: RowPosition | undefined;
  readonly upTo: RowPosition | undefined;
}

/** How a table is copied: in ranges of its primary key, so that no text or statement contains all rows. */
interface CopiedTable {
  /** As they are stored: numbers and bytes for texts that other tables have. */
  readonly columns: Columns;
  /** The primary key. */
  readonly order: readonly string[];
  /** The number of rows of a range. */
  readonly chunkSize: number;
}

const { org_id: _org, ...ofKey } = keyTable.columns;
const { org_id: _owner, credential_id: _id, credential_label: _label, ...ofEntry } = revisionTable.columns;

/** The tables that are copied. */
export const copiedTables = {
  orgs: { columns: { id: 'integer', name: 'text' }, order: ['id'], chunkSize: 1_000 },
  terms: { columns: { id: 'integer', name: 'text' }, order: ['id'], chunkSize: 1_000 },
  actors: { columns: { id: 'integer', credential_id: 'text', label: 'text' }, order: ['id'], chunkSize: 1_000 },
  keys: {
    columns: { ...ofKey, id: 'integer', key_hash: 'bytes', org: 'integer', head: 'integer', last_used: 'integer' },
    order: ['id'],
    chunkSize: 200,
  },
  history: {
    columns: {
      ...ofEntry,
      id: 'integer',
      key: 'integer',
      previous: 'integer?',
      key_hash: 'bytes',
      org: 'integer',
      actor: 'integer',
    },
    order: ['id'],
    chunkSize: 500,
  },
  identifiers: {
    columns: { key_hash: 'bytes', key: 'integer', retires: 'integer?', last_used: 'integer?', silence: 'integer?' },
    order: ['key_hash'],
    chunkSize: 5_000,
  },
  key_terms: {
    columns: { term: 'integer', key: 'integer', org: 'integer' },
    order: ['term', 'key'],
    chunkSize: 10_000,
  },
  key_days: {
    columns: { day: 'integer', key: 'integer', allowed: 'integer', denied: 'integer' },
    order: ['day', 'key'],
    chunkSize: 10_000,
  },
  org_days: {
    columns: { org: 'integer', day: 'integer', allowed: 'integer', denied: 'integer' },
    order: ['org', 'day'],
    chunkSize: 10_000,
  },
  credentials: { columns: credentialTable.columns, order: ['id'], chunkSize: 500 },
  policies: { columns: policyTable.columns, order: ['id'], chunkSize: 20 },
  proposals: {
    columns: { ...proposalTable.columns, sealed: 'bytes?', state: 'text', due: 'integer?', ended: 'integer?' },
    order: ['id'],
    chunkSize: 20,
  },
  proposal_steps: { columns: proposalStepTable.columns, order: ['id'], chunkSize: 500 },
  heads: { columns: headTable.columns, order: ['name'], chunkSize: 10 },
  webhooks: { columns: webhookTable.columns, order: ['id'], chunkSize: 500 },
  webhook_progress: {
    columns: { webhook_id: 'text', cursor: 'text', holder: 'text?', held_until: 'integer' },
    order: ['webhook_id'],
    chunkSize: 500,
  },
  webhook_deliveries: {
    columns: deliveryColumns,
    order: ['webhook_id', 'key_hash', 'event_id'],
    chunkSize: 500,
  },
  gateways: {
    columns: {
      org: 'text',
      name: 'text',
      at_tx: 'integer?',
      at_id: 'integer?',
      cursor: 'text?',
      digest: 'text?',
      since: 'integer',
      seen: 'integer',
    },
    order: ['org', 'name'],
    chunkSize: 500,
  },
  quota_changes: { columns: { id: 'integer', ...quotaChangeTable.columns }, order: ['id'], chunkSize: 500 },
  receipts: { columns: receiptColumns, order: ['id'], chunkSize: 200 },
} as const satisfies Record<string, CopiedTable>;

/** One of {@link copiedTables}. */
export type CopiedTableName = keyof typeof copiedTables;

const tableNames = Object.keys(copiedTables) as CopiedTableName[];

/** The database that rows are copied from. */
export interface RowSource {
  /** The rows of one table in a range, in the order of the primary key, a chunk at a time. */
  readonly rows: (table: CopiedTableName, range: RowRange) => AsyncIterable<readonly CopiedRow[]>;
  readonly setting: (name: string) => Promise<string | undefined>;
}

/** The database that rows are copied to. */
export interface RowTarget extends RowSource {
  /** Replaces the rows of a table in a range by the rows of the source, all or none. */
  readonly replace: (source: RowSource, table: CopiedTableName, range: RowRange) => Promise<void>;
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
 * Copies all rows as they are, with their signatures. Each range of each table is read back and compared; what is identical
 * already is skipped, so that an interrupted copy continues.
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

  async function copyRange(table: CopiedTableName, range: RowRange): Promise<{ isUnchanged: boolean }> {
    const wanted = await digest(source, table, range);
    const isUnchanged = (await digest(target, table, range)) === wanted;
    if (!isUnchanged) {
      await target.replace(source, table, range);
      if ((await digest(target, table, range)) !== wanted) {
        throw new Error(`The rows of ${table} differ from the source after they were written.`);
      }
    }
    return { isUnchanged };
  }

  for (const table of tableNames) {
    const positionOf = positionIn(table);
    for (let after: RowPosition | undefined, isEnd = false; !isEnd;) {
      const rows = await firstOf(source.rows(table, { after, upTo: undefined }));
      const last = rows.at(-1);
      // The last range has no rows and no end, so that rows that only the target has are removed too.
      const upTo = last && positionOf(last);
      const { isUnchanged } = await copyRange(table, { after, upTo });
      if (table === 'history') counts.entries += rows.length;
      if (table === 'credentials') counts.credentials += rows.length;
      if (table === 'keys') {
        counts.keys += rows.length;
        counts.found += isUnchanged ? rows.length : 0;
        onProgress(counts.keys);
      }
      after = upTo;
      isEnd = upTo === undefined;
    }
  }
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

async function digest(from: RowSource, table: CopiedTableName, range: RowRange): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of from.rows(table, range)) {
    for (const row of chunk) hash.update(serializeRow(row));
  }
  return hash.digest('hex');
}

function positionIn(table: CopiedTableName): (row: CopiedRow) => RowPosition {
  const { order } = copiedTables[table];
  return (row) => order.map((column) => row[column] as Value);
}

/** The condition that a row is in a range, with its values. */
export function isInRange(table: CopiedTableName, { after, upTo }: RowRange): readonly [string, readonly Value[]] {
  const order = copiedTables[table].order.join(', ');
  const values: Value[] = [];
  const bound = (operator: string, position: RowPosition) => {
    values.push(...position);
    const parameters = position.map((_, index) => `$${values.length - position.length + index + 1}`);
    return `(${order}) ${operator} (${parameters.join(', ')})`;
  };
  const conditions = [...(after ? [bound('>', after)] : []), ...(upTo ? [bound('<=', upTo)] : [])];
  return [conditions.length > 0 ? conditions.join(' AND ') : 'true', values];
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

/** The rows of a database that is copied, or that a copy is verified in. */
export function createRowSource(session: SqlSession): RowSource {
  const { all } = session;
  const settings = createSettings(session);
  return {
    rows(table, { after, upTo }) {
      const { columns, order, chunkSize } = copiedTables[table];
      const positionOf = positionIn(table);
      return readPages((last: CopiedRow | undefined) => {
        const [isWithin, values] = isInRange(table, { after: last ? positionOf(last) : after, upTo });
        return all<CopiedRow>(
          unprepared(
            `SELECT ${namesOf(columns).join(', ')} FROM ${table} WHERE ${isWithin}
             ORDER BY ${order.join(', ')} LIMIT ${chunkSize}`,
          ),
          values,
        );
      }, chunkSize);
    },
    setting: (name) => settings.get(name),
  };
}

import { createHash } from 'node:crypto';

type Row = Readonly<Record<string, unknown>>;

/** Hashes after the one and up to the other; to the end where that is undefined. */
export interface HashRange {
  readonly after: string;
  readonly upTo: string | undefined;
}

/** All rows of one kind in a range, in one order for every engine, a chunk at a time. */
type Rows = (range: HashRange) => AsyncIterable<readonly Row[]>;

/** Tables that belong to no range of hashes, with what their rows are ordered by. Each is read in one. */
export const smallTables = {
  credentials: 'id',
  webhooks: 'id',
  webhook_progress: 'webhook_id',
  webhook_failing: 'webhook_id, key_hash',
  webhook_dead: 'webhook_id, event_id',
  quota_changes: 'id',
} as const;
export type SmallTable = keyof typeof smallTables;

/** What is moved along with the hashes of a range. Terms have no order of their own, and are read in one. */
export interface RowSource {
  readonly keys: Rows;
  readonly audit: Rows;
  readonly terms: Rows;
  readonly small: (table: SmallTable) => Promise<readonly Row[]>;
  readonly setting: (name: string) => Promise<string | undefined>;
}

export interface RowTarget extends RowSource {
  /** Puts these rows in the place of whatever the range holds, all or none. */
  readonly replace: (range: HashRange, from: RowSource) => Promise<void>;
  readonly replaceSmall: (table: SmallTable, rows: readonly Row[]) => Promise<void>;
  /** Ends the moving: from now on the database is one to work with. */
  readonly finish: (settings: ReadonlyMap<string, string>) => Promise<void>;
}

export interface CopyResult {
  readonly keys: number;
  readonly entries: number;
  readonly credentials: number;
  /** Keys that were there already from an earlier attempt, and were found to be the same. */
  readonly found: number;
}

const movedSettings = ['key_hash', 'key_ring'];

/**
 * Moves all rows as they are, signatures and all. Each range is read back and held against what it was made of; one that
 * is the same already is left alone, so that a moving that was broken off goes on where it was.
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
    const keys: readonly Row[] = await firstOf(source.keys({ after, upTo: undefined }));
    const last = keys.at(-1)?.['key_hash'];
    // The last range has no key, and no end: nothing may stand there in the target either.
    const range: HashRange = { after, upTo: typeof last === 'string' ? last : undefined };
    const wanted = await digest(source, range);
    const isThere = (await digest(target, range)).text === wanted.text;
    if (!isThere) {
      await target.replace(range, source);
      if ((await digest(target, range)).text !== wanted.text) {
        throw new Error(`What was written up to the key ${range.upTo ?? 'at the end'} is not what was read.`);
      }
    }
    counts.keys += keys.length;
    counts.entries += wanted.entries;
    counts.found += isThere ? keys.length : 0;
    onProgress(counts.keys);
    after = range.upTo;
  }
  let credentials = 0;
  for (const table of Object.keys(smallTables) as SmallTable[]) {
    const rows = await source.small(table);
    await target.replaceSmall(table, rows);
    if (written(await target.small(table)) !== written(rows)) {
      throw new Error(`The rows of ${table} that were written are not what was read.`);
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

async function firstOf(chunks: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
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

/** Rows as text, the columns in one order whatever order they came in. */
function written(rows: readonly Row[]): string {
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

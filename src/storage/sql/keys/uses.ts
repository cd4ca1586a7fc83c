import { setImmediate as nextIteration } from 'node:timers/promises';
import { clampInt64, maxInt64 } from '../../../lib/int64.js';
import type { DayOfUse, DayRange, KeyUse, UseStore } from '../../../keys/use/use.js';
import { isBindableText, type Dialect } from '../dialect.js';
import { placesOf } from '../place.js';
import { prepared, query, type SqlSession, type WideReader, type Work } from '../session.js';

/** How many rows one transaction removes. */
const removedAtOnce = 1_000;

/** The sum of two counts, at most the largest integer. */
const sum = (one: string, other: string) =>
  `CASE WHEN ${one} > ${maxInt64} - ${other} THEN ${maxInt64} ELSE ${one} + ${other} END`;

/** Adds rows with these columns, or their counts to the rows that are there. */
const addCounts = ({ integers }: Dialect, table: string, [first, second]: readonly [string, string]) =>
  prepared(
    `INSERT INTO ${table} (${first}, ${second}, allowed, denied)
     SELECT w.${first}, w.${second}, w.allowed, w.denied
     FROM ${integers('$1', [first, second, 'allowed', 'denied'])} AS w WHERE true ORDER BY w.${first}, w.${second}
     ON CONFLICT (${first}, ${second}) DO UPDATE SET
       allowed = ${sum(`${table}.allowed`, 'excluded.allowed')}, denied = ${sum(`${table}.denied`, 'excluded.denied')}`,
  );

/** The latest of a time and that of the row `w`. */
const latest = (column: string) => `CASE WHEN ${column} > w.last_used THEN ${column} ELSE w.last_used END`;

const statements = (dialect: Dialect) => {
  const { bytesOf, forUpdate, hashes, hexOf, inList, integers, isInTime, isOfHash } = dialect;
  return {
    // In the order of their rows, as every transaction locks keys.
    keys: prepared(
      `SELECT k.id, k.org, w.hash, ${hexOf('k.identity')} AS identity FROM ${hashes('$1')} AS w CROSS JOIN keys k
       WHERE ${isOfHash('w.hash', 'w.place')} ORDER BY k.id ${forUpdate('k')}`,
    ),
    used: prepared(
      `UPDATE keys SET last_used = w.last_used FROM ${integers('$1', ['id', 'last_used'])} AS w
       WHERE keys.id = w.id AND keys.last_used < w.last_used`,
    ),
    addToKeys: addCounts(dialect, 'key_days', ['day', 'key']),
    addToOrgs: addCounts(dialect, 'org_days', ['org', 'day']),
    usedIdentifier: prepared(
      `UPDATE identifiers SET last_used = ${latest('coalesce(identifiers.last_used, 0)')}
       FROM (SELECT ${bytesOf('$1')} AS key_hash, CAST($2 AS bigint) AS key, CAST($3 AS bigint) AS last_used) AS w
       WHERE identifiers.key_hash = w.key_hash AND identifiers.key = w.key`,
    ),
    ofKeys: `SELECT w.hash AS name, d.day, d.allowed, d.denied
      FROM ${hashes('$1')} AS w CROSS JOIN keys k CROSS JOIN key_days d
      WHERE ${isInTime} AND ${isOfHash('w.hash', 'w.place')} AND d.day ${inList('$2', 'bigint')} AND d.key = k.id
      ORDER BY d.day`,
    ofOrgs: `SELECT o.name, d.day, d.allowed, d.denied FROM orgs o CROSS JOIN org_days d
      WHERE ${isInTime} AND o.name ${inList('$1', 'text')} AND d.org = o.id AND d.day BETWEEN $2 AND $3
      ORDER BY d.day`,
    purge: ['key_days', 'org_days'].map((table) => {
      const row = table === 'key_days' ? 'day, key' : 'org, day';
      const ended = `SELECT ${row} FROM ${table} WHERE day < $1 ORDER BY ${row} LIMIT`;
      return {
        find: prepared(`${ended} 1`),
        remove: prepared(`DELETE FROM ${table} WHERE (${row}) IN (${ended} ${removedAtOnce}) RETURNING day`),
      };
    }),
  };
};

interface UsedKey {
  readonly id: bigint;
  readonly org: bigint;
  readonly hash: string;
  readonly identity: string;
}

interface DayRow {
  readonly name: string;
  readonly day: bigint;
  readonly allowed: bigint;
  readonly denied: bigint;
}

/** The use of keys and organizations. */
export function createUses(session: SqlSession, { many }: Pick<WideReader, 'many'>): UseStore {
  const { all, dialect, run, transaction } = session;
  const sql = statements(dialect);

  function* add(uses: readonly KeyUse[]): Work<void> {
    const found = yield* query<UsedKey>(sql.keys, [placesOf(uses.map(({ keyHash }) => keyHash))]);
    const keys = new Map(found.map((key) => [key.hash, key]));
    const days: bigint[][] = [];
    const last = new Map<bigint, bigint>();
    const orgs = new Map<string, [org: bigint, day: bigint, allowed: bigint, denied: bigint]>();
    const identifiers: [hash: string, key: bigint, ms: bigint][] = [];
    for (const use of uses) {
      const key = keys.get(use.keyHash);
      if (key?.identity !== use.identity) continue;
      const [day, ms] = [BigInt(use.day), BigInt(use.lastUsed)];
      const [allowed, denied] = [clampInt64(use.allowed), clampInt64(use.denied)];
      if (allowed > 0n || denied > 0n) days.push([day, key.id, allowed, denied]);
      if (ms > (last.get(key.id) ?? 0n)) last.set(key.id, ms);
      const name = `${key.org} ${day}`;
      const ofOrg = orgs.get(name) ?? [key.org, day, 0n, 0n];
      orgs.set(name, [key.org, day, clampInt64(ofOrg[2] + allowed), clampInt64(ofOrg[3] + denied)]);
      for (const [hash, at] of use.identifiers ?? []) identifiers.push([hash, key.id, BigInt(at)]);
    }
    if (last.size > 0) yield* query(sql.used, [toJSON([...last])]);
    if (days.length > 0) yield* query(sql.addToKeys, [toJSON(days)]);
    const counted = [...orgs.values()].filter(([, , allowed, denied]) => allowed > 0n || denied > 0n);
    if (counted.length > 0) yield* query(sql.addToOrgs, [toJSON(counted)]);
    for (const [hash, key, at] of identifiers) yield* query(sql.usedIdentifier, [hash, key, at]);
  }

  return {
    add: (uses) => transaction(() => add(uses)),
    async ofKeys(keys, range, reads) {
      if (keys.length === 0) return [];
      const hashes = keys.map(({ keyHash }) => keyHash);
      const rows = await many<DayRow>({ sql: sql.ofKeys, parameters: [placesOf(hashes), daysIn(range)] }, reads);
      return inOrder(hashes, rows);
    },
    async ofOrgs(orgIDs, { from, to }, reads) {
      const parameters = [orgIDs.filter(isBindableText), BigInt(from), BigInt(to)];
      return inOrder(orgIDs, await many<DayRow>({ sql: sql.ofOrgs, parameters }, reads));
    },
    async purge(before) {
      let count = 0;
      for (const { find, remove } of sql.purge) {
        while ((await all(find, [BigInt(before)])).length > 0) {
          count += (await run(remove, [BigInt(before)])).length;
          await nextIteration();
        }
      }
      return count;
    },
  };
}

const toJSON = (rows: readonly (readonly bigint[])[]) => `[${rows.map((row) => `[${row.join()}]`).join()}]`;

/** Each day of a range. With the key, it finds its row; a range would read those of all keys. */
function daysIn({ from, to }: DayRange): bigint[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => BigInt(from + index));
}

/** The days of each name. */
function inOrder(names: readonly string[], rows: readonly DayRow[]): DayOfUse[][] {
  const found = new Map<string, DayOfUse[]>(names.map((name) => [name, []]));
  for (const { name, day, allowed, denied } of rows) found.get(name)?.push({ day: Number(day), allowed, denied });
  return names.map((name) => found.get(name) ?? []);
}

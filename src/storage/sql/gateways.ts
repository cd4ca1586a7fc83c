import { createHash } from 'node:crypto';
import type { StoredKey } from '../../keys/key.js';
import { maxGateways, type Gateway, type GatewayID, type GatewayStore } from '../../keys/gateway-store.js';
import { AppError } from '../../lib/errors.js';
import { createCursorReader, type FeedPosition } from './change-feed.js';
import { isBindableText, type Dialect } from './dialect.js';
import { placesOf } from './place.js';
import { prepared, query, type SqlSession, type Work } from './session.js';

/** How many changes after the position of a gateway are searched for one of its organization. */
const maxSearched = 1_000;

/** How many keys one read of a digest has. */
const digestPageSize = 500;

/** How many of the newest versions of a key are compared with the position of a gateway that is behind. */
const comparedVersions = 32;

/** How many gateways are looked at for the largest lag, those that are behind most first. */
const maxLooked = 100;

const statements = (dialect: Dialect) => {
  const { feed, forUpdate, hashes, hexOf, inList, isOfHash } = dialect;
  const columns = 'org, name, at_tx, at_id, cursor, digest, since, seen';
  const text = (parameter: string) => `CAST(${parameter} AS text)`;
  const gatewaysOf = (names: string) =>
    prepared(
      `SELECT ${columns} FROM gateways
       WHERE (name, org) > (${text('$1')}, ${text('$2')}) AND (CAST($3 AS bigint) = 1 OR org ${inList('$4', 'text')})${names}
       ORDER BY name, org LIMIT $5`,
    );
  const entryTx = feed.tx === 'tx' ? 'h.tx' : feed.tx;
  // The newest changes of keys, and those before them, up to a number for each key. A position ends a chain.
  const versions = (keys: string, isContinued: string, others = '', needed = '') =>
    prepared(
      `WITH RECURSIVE chain (key, version, operation, at_tx, at_id, previous, nth${others && ', hash, deleted'}) AS (
         ${keys}
         UNION ALL SELECT c.key, h.version, h.operation, ${entryTx}, h.id, h.previous, c.nth + 1${others && ', c.hash, c.deleted'}
         FROM chain c JOIN history h ON h.id = c.previous WHERE ${isContinued}
       ) SELECT * FROM chain ${needed} ORDER BY key, nth`,
    );
  const head = `k.id, h.version, h.operation, ${entryTx}, h.id, h.previous, CAST(1 AS bigint)`;
  const part = (condition: string, ofOrg: string) =>
    `SELECT * FROM (SELECT k.id, k.head, ${hexOf('k.key_hash')} AS hash FROM keys k
       WHERE ${ofOrg}${condition} AND k.id > $1 ORDER BY k.id LIMIT ${digestPageSize}) AS part`;
  const digest = (ofOrg: string) =>
    versions(
      `SELECT ${head}, k.hash, CAST(0 AS bigint) FROM (
         SELECT * FROM (${part('k.deleted IS NULL', ofOrg)} UNION ALL ${part('k.deleted IS NOT NULL', ofOrg)}) AS parts
         ORDER BY id LIMIT ${digestPageSize}
       ) AS k JOIN history h ON h.id = k.head`,
      '(c.at_tx, c.at_id) > (CAST($2 AS bigint), CAST($3 AS bigint))',
      'hash',
      // A key can have many versions after the cursor.
      'WHERE nth = 1 OR (at_tx, at_id) <= (CAST($2 AS bigint), CAST($3 AS bigint))',
    );
  return {
    find: prepared(`SELECT ${columns} FROM gateways WHERE org = $1 AND name = $2 ${forUpdate()}`),
    count: prepared('SELECT count(*) AS gateways FROM gateways WHERE org = $1'),
    put: prepared(
      `INSERT INTO gateways (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (org, name) DO UPDATE SET at_tx = excluded.at_tx, at_id = excluded.at_id, cursor = excluded.cursor,
         digest = excluded.digest, since = excluded.since, seen = excluded.seen`,
    ),
    forget: prepared('DELETE FROM gateways WHERE org = $1 AND name = $2 RETURNING name'),
    list: gatewaysOf(''),
    named: gatewaysOf(` AND name ${inList('$6', 'text')}`),
    // Those that read all keys anew first, which have no position.
    behind: prepared(
      `SELECT * FROM (SELECT ${columns} FROM gateways WHERE at_tx IS NULL LIMIT ${maxLooked}) AS anew
       UNION ALL SELECT * FROM (
         SELECT ${columns} FROM gateways WHERE at_tx IS NOT NULL ORDER BY at_tx, at_id LIMIT ${maxLooked}
       ) AS behind`,
    ),
    changesAfter: prepared(
      `SELECT at, version, (SELECT name FROM orgs o WHERE o.id = history.org) AS org FROM history
       WHERE ${feed.isAfter} ORDER BY ${feed.order('ASC')} LIMIT $3`,
    ),
    versions: versions(
      `SELECT ${head} FROM ${hashes('$1')} AS w CROSS JOIN keys k CROSS JOIN history h
       WHERE ${isOfHash('w.hash', 'w.place')} AND h.id = k.head`,
      'c.nth < CAST($2 AS bigint)',
    ),
    keys: prepared(
      `SELECT k.id, w.hash FROM ${hashes('$1')} AS w CROSS JOIN keys k WHERE ${isOfHash('w.hash', 'w.place')}`,
    ),
    digest: digest(''),
    digestOfOrg: digest('k.org = (SELECT o.id FROM orgs o WHERE o.name = $4) AND '),
  };
};

interface GatewayRow {
  readonly org: string;
  readonly name: string;
  /** NULL while all keys are read anew, as the other positions. */
  readonly at_tx: bigint | null;
  readonly at_id: bigint | null;
  readonly cursor: string | null;
  readonly digest: string | null;
  readonly since: bigint;
  readonly seen: bigint;
}

/** A version of a key, in the order from the newest. */
interface VersionRow {
  readonly key: bigint;
  readonly version: bigint;
  readonly operation: string;
  readonly at_tx: bigint;
  readonly at_id: bigint;
}

interface ChangeRow {
  readonly at: bigint;
  /** 0 for a notice. */
  readonly version: bigint;
  readonly org: string | null;
}

/** The position that a gateway has acknowledged; undefined while it reads all keys anew. */
function positionOf({ at_tx: tx, at_id: id }: GatewayRow): FeedPosition | undefined {
  return tx === null || id === null ? undefined : { tx, id };
}

/** Whether a gateway at a position has this version. */
function includes(position: FeedPosition | undefined, { at_tx: tx, at_id: id }: VersionRow): boolean {
  return position !== undefined && (tx < position.tx || (tx === position.tx && id <= position.id));
}

/** The digest of one key of a copy: SHA-256 of its hash, a colon and its version, as an integer. */
function digestOf(keyHash: string, version: bigint): bigint {
  return BigInt(`0x${createHash('sha256').update(`${keyHash}:${version}`).digest('hex')}`);
}

/** What gateways have acknowledged, as positions in the history: a key needs no row for each gateway. */
export function createGatewayStore(session: SqlSession): GatewayStore {
  const { dialect, all, run, transaction } = session;
  const sql = statements(dialect);
  const readCursor = createCursorReader(session);

  function* acknowledge(row: GatewayRow): Work<boolean> {
    const { org, name, cursor, seen } = row;
    const [known] = yield* query<GatewayRow>(sql.find, [org, name]);
    if (!known) {
      const [count] = yield* query<{ gateways: bigint }>(sql.count, [org]);
      if ((count?.gateways ?? 0n) >= maxGateways) throw tooMany();
    }
    const since = known && known.cursor === null && cursor === null ? known.since : seen;
    yield* query(sql.put, [org, name, row.at_tx, row.at_id, cursor, row.digest, since, seen]);
    return !known;
  }

  /** The seconds for which the oldest change has waited. */
  async function lagOf(row: GatewayRow, now: Date): Promise<number> {
    const position = positionOf(row);
    if (!position) return secondsSince(row.since, now);
    // Most gateways have acknowledged the last change, or are behind by one of their own.
    for (const limit of row.org === '' ? [1, maxSearched] : [maxSearched]) {
      const changes = await all<ChangeRow>(sql.changesAfter, [position.tx, position.id, limit]);
      const waiting = changes.find(({ version, org }) => version > 0n && (row.org === '' || org === row.org));
      if (waiting) return secondsSince(waiting.at, now);
      if (changes.length < limit) return 0;
      const last = changes.at(-1);
      if (limit === maxSearched && last) return secondsSince(last.at, now);
    }
    return 0;
  }

  const listRows = (
    orgs: readonly string[] | undefined,
    names: readonly string[] | undefined,
    after: GatewayID | undefined,
    limit: number,
  ) => {
    const values = [
      after?.name ?? '',
      after?.orgID ?? '',
      orgs ? 0n : 1n,
      (orgs ?? []).filter(isBindableText),
      BigInt(limit),
    ];
    if (!names) return all<GatewayRow>(sql.list, values);
    return all<GatewayRow>(sql.named, [...values, names.filter(isBindableText)]);
  };

  /** The versions of each key, the newest first. */
  async function versionsOf(keys: readonly StoredKey[], count: number): Promise<Map<string, VersionRow[]>> {
    const places = placesOf(keys.map(({ keyHash }) => keyHash));
    const [rows, found] = await Promise.all([
      all<VersionRow>(sql.versions, [places, BigInt(count)]),
      all<{ id: bigint; hash: string }>(sql.keys, [places]),
    ]);
    const byKey = new Map<bigint, VersionRow[]>(found.map(({ id }) => [id, []]));
    for (const row of rows) byKey.get(row.key)?.push(row);
    return new Map(found.map(({ id, hash }) => [hash, byKey.get(id) ?? []]));
  }

  return {
    async acknowledge({ orgID = '', name, cursor, digest, at }) {
      const position = cursor === undefined ? undefined : await readCursor(cursor);
      const ms = BigInt(at.getTime());
      const row = {
        org: orgID,
        name,
        at_tx: position?.tx ?? null,
        at_id: position?.id ?? null,
        cursor: cursor ?? null,
        digest: digest ?? null,
        since: ms,
        seen: ms,
      };
      return transaction(() => acknowledge(row));
    },
    forget: async ({ orgID = '', name }) => (await run(sql.forget, [orgID, name])).length > 0,
    async list({ orgID, names, after, limit }, now) {
      const rows = await listRows(orgID === undefined ? undefined : ['', orgID], names, after, limit);
      const found: Gateway[] = [];
      for (const row of rows) {
        const { cursor, digest } = row;
        const at = new Date(Number(row.seen));
        found.push({
          ...idOf(row),
          cursor: cursor ?? undefined,
          digest: digest ?? undefined,
          at,
          lag: await lagOf(row, now),
        });
      }
      return found;
    },
    async deployments(keys, { names, after, limit }) {
      const orgIDs = [...new Set(keys.map(({ orgID }) => orgID))];
      const ofOrg = new Map<string, readonly GatewayRow[]>();
      for (const orgID of orgIDs) ofOrg.set(orgID, await listRows(['', orgID], names, after, limit));
      const newest = await versionsOf(keys, 1);
      const isBehind = ({ keyHash, orgID }: StoredKey) => {
        const [head] = newest.get(keyHash) ?? [];
        return head !== undefined && ofOrg.get(orgID)?.some((row) => !includes(positionOf(row), head)) === true;
      };
      const behind = keys.filter(isBehind);
      const older = behind.length === 0 ? newest : await versionsOf(behind, comparedVersions);
      return keys.map(({ keyHash, orgID }) => {
        const versions = older.get(keyHash) ?? newest.get(keyHash) ?? [];
        return (ofOrg.get(orgID) ?? []).map((row) => {
          const position = positionOf(row);
          const has = versions.find((version) => includes(position, version));
          return {
            ...idOf(row),
            version: has && Number(has.version),
            at: new Date(Number(row.seen)),
            isCurrent: has !== undefined && has === versions[0],
          };
        });
      });
    },
    async digest({ orgID, cursor, after }) {
      const { tx, id } = await readCursor(cursor);
      const position = { tx, id };
      type Row = VersionRow & { readonly hash: string };
      const rows =
        orgID === undefined
          ? await all<Row>(sql.digest, [after, tx, id])
          : await all<Row>(sql.digestOfOrg, [after, tx, id, isBindableText(orgID) ? orgID : '']);
      let sum = 0n;
      let keys = 0;
      const read = new Set<bigint>();
      let last = after;
      for (const row of rows) {
        read.add(row.key);
        if (row.key > last) last = row.key;
        if (!includes(position, row) || row.operation === 'delete') continue;
        sum += digestOf(row.hash, row.version);
        keys += 1;
      }
      return { sum, keys, end: read.size < digestPageSize ? undefined : last };
    },
    async maxLag(now) {
      const rows = await all<GatewayRow>(sql.behind);
      let lag = 0;
      for (const row of rows) lag = Math.max(lag, await lagOf(row, now));
      return lag;
    },
  };
}

function idOf({ org, name }: GatewayRow): GatewayID {
  return { orgID: org === '' ? undefined : org, name };
}

function secondsSince(ms: bigint, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - Number(ms)) / 1000));
}

function tooMany(): AppError {
  return new AppError('CONFLICT', `There are ${maxGateways} gateways. Forget those that are gone.`);
}

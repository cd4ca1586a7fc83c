import type { Dialect } from './dialect.js';
import { layout1 } from './layout-1.js';
import { layout2 } from './layout-2.js';
import { layout3 } from './layout-3.js';
import { layout4 } from './layout-4.js';
import { layout5 } from './layout-5.js';
import { layout6 } from './layout-6.js';
import { layout7 } from './layout-7.js';
import { layout8 } from './layout-8.js';
import { layout9 } from './layout-9.js';
import { layout10 } from './layout-10.js';

/** The statements of a migration, by engine. */
export type SchemaStep = Readonly<Record<Dialect['name'], string>>;

/**
 * The migrations, in order. A released one never changes; a change of an index is a migration, too. A new column is
 * nullable: processes of the version before go on writing rows without it, and rows that they have signed stay valid
 * (`Layouts`). A release fills a new column only on request, because the release before rejects a row with a value in it.
 */
export const migrations: readonly SchemaStep[] = [
  layout1,
  layout2,
  layout3,
  layout4,
  layout5,
  layout6,
  layout7,
  layout8,
  layout9,
  layout10,
];

/** Databases that builds before the first release have made have smaller versions. */
const firstVersion = 101;

/** The version of a database to which this number of migrations has been applied. */
export const versionAfter = (count: number): number => firstVersion - 1 + count;

/** The version of an up-to-date schema. */
export const schemaVersion = versionAfter(migrations.length);

/**
 * How many migrations a database of this version has; 0 if it is empty.
 *
 * @throws {Error} with what to do, for a database from before the first release.
 */
export function migrationsIn(version: number): number {
  if (version === 0) return 0;
  if (version >= firstVersion) return version - firstVersion + 1;
  throw new Error(
    `it has schema version ${version}: another version of Keyfront, from before the first release, wrote it. ` +
      'With that version, run `keyfront keys export --with-secrets > keys.jsonl`; with this one, run ' +
      '`keyfront keys import keys.jsonl --passwords-are-hashed` into a new data folder or database. The export has the keys that are not ' +
      'deleted. It does not have histories, versions, deleted keys, credentials and webhooks.',
  );
}

interface SchemaRequirement {
  /** The version of an up-to-date schema. */
  readonly known?: number;
  readonly allowOlder?: boolean;
  readonly allowNewer?: boolean;
}

/** @throws {Error} with what to do, when the version of a database is not the current one. */
export function requireSchema(
  found: number,
  { known = schemaVersion, allowOlder = false, allowNewer = false }: SchemaRequirement = {},
): void {
  migrationsIn(found);
  if (found === known || (found < known && allowOlder) || (found > known && allowNewer)) return;
  const advice = found > known ? 'use a newer Keyfront' : 'start the service once to bring it up to date';
  throw new Error(`it has schema version ${found}, and this Keyfront supports ${known}; ${advice}`);
}

/**
 * The indexes of a SQLite file that only lists and searches of keys need. A load of many keys removes them and creates them
 * afterwards. The migrations create the same ones (test/storage/migrate.test.ts).
 */
const searchIndexes = {
  keys_by_org: 'keys (org, deleted)',
  keys_by_alias: 'keys (alias)',
  keys_by_org_alias: 'keys (org, alias)',
  keys_by_update: 'keys (last_updated)',
  keys_by_org_update: 'keys (org, last_updated)',
  keys_by_deletion: 'keys (deleted) WHERE deleted IS NOT NULL',
  deleted_keys: 'keys (id) WHERE deleted IS NOT NULL',
  deleted_keys_by_org: 'keys (org) WHERE deleted IS NOT NULL',
  inactive_keys: 'keys (id) WHERE is_inactive = 1',
  inactive_keys_by_org: 'keys (org) WHERE is_inactive = 1',
  key_terms_by_org: 'key_terms (org, term, key)',
  keys_by_end: 'keys (expires)',
  keys_by_org_end: 'keys (org, expires)',
  keys_by_creation: 'keys (creation)',
  keys_by_use: 'keys (last_used)',
};

/** Statements that create the search indexes that are missing, one for each. */
export const createSearchIndexes = Object.entries(searchIndexes).map(
  ([name, columns]) => `CREATE INDEX IF NOT EXISTS ${name} ON ${columns};`,
);

/** Statements that remove the search indexes. */
export const dropSearchIndexes = Object.keys(searchIndexes).map((name) => `DROP INDEX IF EXISTS ${name};`);

/** The conditions of indexes of deliveries. Engines use an index for statements with its very condition. */
export const deliveryKinds = {
  first: "due IS NOT NULL AND attempts = 0 AND state = 'pending'",
  retry: "due IS NOT NULL AND (attempts > 0 OR state = 'dead')",
};
/** Selects dead letters. */
export const isDead = "state = 'dead'";

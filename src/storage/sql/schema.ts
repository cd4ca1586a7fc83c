import { linkedColumns } from '../records/revision.js';
import type { Dialect } from './dialect.js';

/**
 * The migrations, in order. A released one never changes. A new column is nullable: processes of the version before go on
 * writing rows without it, and rows that they have signed stay valid (`Layouts`). A release fills
 * a new column only on request, because the release before rejects a row with a value in it.
 */
export const migrations: readonly ((dialect: Dialect) => string)[] = [
  createTables,
  addScopes,
  createReceipts,
  createHeads,
  indexDeliveries,
];

/** The version of an up-to-date schema. The version of a database is the number of migrations applied to it. */
export const schemaVersion = migrations.length;

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
  if (found === known || (found < known && allowOlder) || (found > known && allowNewer)) return;
  const advice = found > known ? 'use a newer Keyfront' : 'start the service once to bring it up to date';
  throw new Error(`it has schema version ${found}, and this Keyfront supports ${known}; ${advice}`);
}

/**
 * Compares a database with the tables that the migrations up to its version create: versions that were never released have
 * other tables under the same numbers. The names of columns are `table.column`. Search indexes are left out, because they
 * are created later or again, and so are additional tables.
 *
 * @param steps - the statements of all migrations
 * @throws {Error} with what to do, when a table, a column or an index is missing, or a table has a column of no migration.
 */
export function requireLayout(version: number, found: readonly string[], steps: readonly string[]): void {
  const expected = namesIn(steps.slice(0, version).join('\n'));
  const has = new Set(found);
  const [missing] = [...expected].filter((name) => !has.has(name));
  const tables = new Set([...expected].map(tableOf));
  const isUnknown = (name: string) => name.includes('.') && tables.has(tableOf(name)) && !expected.has(name);
  // A newer version may have added columns.
  const unknown = version > steps.length ? undefined : found.find(isUnknown);
  if (missing === undefined && unknown === undefined) return;
  const isTableMissing = missing !== undefined && !found.some((name) => tableOf(name) === tableOf(missing));
  const difference =
    missing === undefined ? `has ${unknown}` : `does not have ${isTableMissing ? tableOf(missing) : missing}`;
  throw new Error(
    `it ${difference}, although its schema version is ${version}: another version of Keyfront, from before the first release, wrote it. ` +
      'With that version, run `keyfront keys export --with-secrets > keys.jsonl`; with this one, run ' +
      '`keyfront keys import keys.jsonl --passwords-are-hashed` into a new data folder or database. The export has the keys that are not ' +
      'deleted. It does not have histories, versions, deleted keys, credentials and webhooks.',
  );
}

/** The columns that statements create, as `table.column`, and the indexes that they do not drop again. */
function namesIn(statements: string): ReadonlySet<string> {
  const text = statements.replaceAll(/--.*/g, '');
  const tables = text.matchAll(/CREATE TABLE (\w+) \((?:\n([^]*?)\n\)|(.*?)\))/g);
  const columns = [...tables].flatMap(([, table, lines, line = '']) =>
    (lines ?? line).split(',').flatMap((part) => {
      const [, column] = /^\s*([a-z_]+) /.exec(part) ?? [];
      return column === undefined ? [] : [`${table}.${column}`];
    }),
  );
  const added = [...text.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)].map(([, table, name]) => `${table}.${name}`);
  const indexes = [...text.matchAll(/CREATE (?:UNIQUE )?INDEX (\w+) ON/g)].map(([, name = '']) => name);
  const dropped = new Set([...text.matchAll(/DROP INDEX (\w+)/g)].map(([, name = '']) => name));
  return new Set([...columns, ...added, ...indexes.filter((name) => !dropped.has(name))]);
}

const tableOf = (name: string) => name.replace(/\..*/, '');

/** The indexes that only lists and searches of keys need, by name. */
const searchIndexes = {
  // With `deleted`, counts read this index only.
  keys_by_org: 'keys (org_id, key_hash, deleted)',
  keys_by_alias: 'keys (alias, key_hash)',
  keys_by_org_alias: 'keys (org_id, alias, key_hash)',
  keys_by_update: 'keys (last_updated, key_hash)',
  keys_by_org_update: 'keys (org_id, last_updated, key_hash)',
  keys_by_expiry: 'keys (expires, key_hash) WHERE expires >= 1',
  keys_by_deletion: 'keys (deleted, key_hash) WHERE deleted IS NOT NULL',
  deleted_keys: 'keys (key_hash) WHERE deleted IS NOT NULL',
  deleted_keys_by_org: 'keys (org_id, key_hash) WHERE deleted IS NOT NULL',
  inactive_keys: 'keys (key_hash) WHERE is_inactive = 1',
  inactive_keys_by_org: 'keys (org_id, key_hash) WHERE is_inactive = 1',
  key_terms_by_org: 'key_terms (org_id, term, key_hash)',
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

const emptySHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** All times are Unix milliseconds, except those of a definition, which are Unix seconds. */
function createTables(dialect: Dialect): string {
  const { types, tableOptions, bytesLiteral, rejectUpdatesOf, rejectUnsigned } = dialect;
  const { text, integer, bytes, rowNumber } = types;
  const { numbered, clustered, updatedOften } = tableOptions;
  const isPostgres = dialect.name === 'postgres';
  return `
${isPostgres ? createRejectFunction : ''}
CREATE TABLE settings (name ${text} PRIMARY KEY, value ${text} NOT NULL) ${clustered};

CREATE TABLE keys (
  key_hash ${text} PRIMARY KEY,
  sealed_key_id ${bytes} NOT NULL,
  org_id ${text} NOT NULL,
  version ${integer} NOT NULL,
  date_created ${text} NOT NULL,
  last_updated ${integer} NOT NULL,
  deleted ${integer},
  definition ${text} NOT NULL,
  -- Copies out of the definition, to find keys by.
  alias ${text} NOT NULL,
  expires ${integer} NOT NULL,
  is_inactive ${integer} NOT NULL,
  password_hash ${text},
  jwt_secret ${bytes},
  hmac_string ${bytes},
  -- The live quota is in the row of its key: a page of its own would cost as much as the update itself.
  quota_used ${integer} NOT NULL,
  quota_renews ${integer},
  history_link ${bytes} NOT NULL,
  mac ${bytes} NOT NULL
) ${updatedOften};
${rejectUnsigned('keys')}

-- Tags, policies and APIs, as t:…, p:… and a:….
CREATE TABLE key_terms (
  term ${text} NOT NULL,
  key_hash ${text} NOT NULL,
  org_id ${text} NOT NULL,
  PRIMARY KEY (term, key_hash)
) ${clustered};
${createSearchIndexes.join('\n')}
${isPostgres ? 'CREATE INDEX key_terms_by_key ON key_terms (key_hash);' : ''}

CREATE TABLE audit (
  id ${rowNumber},
  at ${integer} NOT NULL,
  key_hash ${text} NOT NULL,
  org_id ${text} NOT NULL,
  operation ${text} NOT NULL,
  credential_id ${text} NOT NULL,
  credential_label ${text} NOT NULL,
  reason ${text},
  request_id ${text} NOT NULL,
  version_before ${integer} NOT NULL,
  version_after ${integer} NOT NULL,
  quota_used_before_reset ${integer},
  changes ${text} NOT NULL,
  definition ${text} NOT NULL,
  link ${bytes} NOT NULL,
  mac ${bytes} NOT NULL
) ${numbered};
CREATE UNIQUE INDEX audit_by_key ON audit (key_hash, version_after);
${rejectUpdatesOf('audit', ['id', ...linkedColumns, 'link'], 'history is append-only')}
${isPostgres ? orderByTransaction : ''}

CREATE TABLE credentials (
  id ${text} PRIMARY KEY,
  kind ${text} NOT NULL,
  label ${text} NOT NULL,
  -- SHA-256, and not of the empty string: a request without a secret must never match.
  secret_hash ${bytes} NOT NULL UNIQUE CHECK (length(secret_hash) = 32 AND secret_hash <> ${bytesLiteral(emptySHA256)}),
  last_four ${text},
  org_id ${text},
  created ${integer} NOT NULL,
  expires ${integer},
  revoked ${integer},
  last_used ${integer},
  successor_id ${text},
  mac ${bytes} NOT NULL
) ${numbered};
${rejectUnsigned('credentials')}

-- The outbox of counters that are kept outside of the database.
CREATE TABLE quota_changes (
  id ${rowNumber},
  key_hash ${text} NOT NULL,
  date_created ${text} NOT NULL,
  last_updated ${integer} NOT NULL,
  at ${integer} NOT NULL,
  is_reset ${integer} NOT NULL,
  period_before ${integer} NOT NULL,
  period_after ${integer} NOT NULL,
  mac ${bytes} NOT NULL
) ${numbered};
CREATE INDEX quota_changes_by_key ON quota_changes (key_hash, id);
CREATE INDEX quota_changes_by_time ON quota_changes (at, id);

CREATE TABLE webhooks (
  id ${text} PRIMARY KEY,
  label ${text} NOT NULL,
  org_id ${text},
  sealed_url ${bytes} NOT NULL,
  sealed_secret ${bytes} NOT NULL,
  previous_secret ${bytes},
  previous_until ${integer},
  created ${integer} NOT NULL,
  paused ${integer},
  paused_why ${text},
  mac ${bytes} NOT NULL
) ${numbered};
${rejectUnsigned('webhooks')}

-- The lease of a webhook: one process at a time delivers for it.
CREATE TABLE webhook_progress (
  webhook_id ${text} PRIMARY KEY,
  cursor ${text} NOT NULL,
  holder ${text},
  held_until ${integer} NOT NULL
) ${isPostgres ? updatedOften : clustered};

-- Undelivered events. Pending: one row per key, whose event_id is empty, for the events from version to last_version,
-- which are read from the history. Dead: one row per event that was given up; it has a due time if it is replayed.
CREATE TABLE webhook_deliveries (
  webhook_id ${text} NOT NULL,
  key_hash ${text} NOT NULL,
  event_id ${text} NOT NULL,
  state ${text} NOT NULL CHECK (state IN ('pending', 'dead')),
  version ${integer} NOT NULL,
  last_version ${integer} NOT NULL,
  attempts ${integer} NOT NULL,
  due ${integer},
  failed_at ${integer},
  last_error ${text} NOT NULL,
  PRIMARY KEY (webhook_id, key_hash, event_id)
) ${isPostgres ? updatedOften : clustered};
CREATE INDEX due_webhook_deliveries ON webhook_deliveries (webhook_id, due) WHERE due IS NOT NULL;
`;
}

/** The scopes of a service credential, separated by commas; null for no restriction. */
function addScopes({ types }: Dialect): string {
  return `ALTER TABLE credentials ADD COLUMN scopes ${types.text};`;
}

/** The results of requests with an idempotency key. Sealed, so that they need no signature. */
function createReceipts({ types: { text, integer, bytes }, tableOptions: { numbered } }: Dialect): string {
  return `
CREATE TABLE receipts (
  id ${text} PRIMARY KEY,
  at ${integer} NOT NULL,
  sealed ${bytes} NOT NULL
) ${numbered};
CREATE INDEX receipts_by_time ON receipts (at);
`;
}

/** Signed rows about many others (`HeadRow`). */
function createHeads({
  types: { text, integer, bytes },
  tableOptions: { clustered },
  rejectUnsigned,
}: Dialect): string {
  return `
CREATE TABLE heads (
  name ${text} PRIMARY KEY,
  sequence ${integer} NOT NULL,
  content ${text} NOT NULL,
  mac ${bytes} NOT NULL
) ${clustered};
${rejectUnsigned('heads')}
`;
}

/** One index for each kind of delivery, so that none is searched among the others. */
function indexDeliveries(): string {
  return `
DROP INDEX due_webhook_deliveries;
CREATE INDEX first_webhook_deliveries ON webhook_deliveries (webhook_id, due) WHERE ${deliveryKinds.first};
CREATE INDEX retried_webhook_deliveries ON webhook_deliveries (webhook_id, due) WHERE ${deliveryKinds.retry};
CREATE INDEX dead_webhook_deliveries ON webhook_deliveries (webhook_id) WHERE ${isDead};
`;
}

const createRejectFunction = `
CREATE FUNCTION keyfront_reject() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;`;

/**
 * PostgreSQL assigns row numbers before their transactions commit, in any order. Entries below the oldest running
 * transaction are complete, so the change feed reads entries in the order of their transactions. `tx` is the transaction
 * that wrote the entry, or that of the same key's previous entry if that is later, plus the setting `feed_offset`; 0 for
 * entries copied from a file, which are in the order of their numbers.
 */
const orderByTransaction = `
ALTER TABLE audit ADD COLUMN tx bigint NOT NULL;
CREATE INDEX audit_by_tx ON audit (tx, id);
INSERT INTO settings (name, value) VALUES ('feed_offset', '0');`;

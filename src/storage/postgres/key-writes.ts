import { revisionTable, keyTable, quotaChangeTable } from '../records/key-records.js';
import type { KeyWrite } from '../sql/keys/key-rows.js';
import { replacedIdentifier } from '../sql/keys/identifiers.js';
import { receiptColumns, receiptValues } from '../sql/keys/receipts.js';
import { currentPosition } from '../sql/dialect.js';
import { nearKeys, placeOf } from '../sql/place.js';
import { stepColumns, stepValues } from '../sql/proposal-rows.js';
import { prepared } from '../sql/session.js';
import { proposalStepTable } from '../records/proposal.js';
import { namesOf } from '../records/signed.js';
import type { Session } from './pool.js';
import { unnestRows } from './session.js';

const keyNames = keyTable.columnNames;
const entryNames = revisionTable.columnNames;
const quotaNames = quotaChangeTable.columnNames;
const receiptNames = namesOf(receiptColumns);

const input = unnestRows('i', { ...keyTable.columns, mac_before: 'bytes', place: 'integer', head: 'integer' }, 1);
const entry = unnestRows('e', revisionTable.columns, input.next);
const terms = { added: entry.next, dropped: entry.next + 2 };
const quotaChange = unnestRows('q', quotaChangeTable.columns, terms.dropped + 2);
const receipt = unnestRows('r', { key_hash: 'text', ...receiptColumns }, quotaChange.next);
const identifier = unnestRows(
  'p',
  { key_hash: 'text', hash: 'text', retires: 'integer?', silence: 'integer?', since: 'integer?' },
  receipt.next,
);
const droppedIdentifier = unnestRows('x', { key_hash: 'text', hash: 'text' }, identifier.next);
const step = unnestRows('s', { ending_key: 'text', ...proposalStepTable.columns }, droppedIdentifier.next);
const proposalEnd = unnestRows('z', { key_hash: 'text', id: 'text', state: 'text', ended: 'integer' }, step.next);

/** Texts that are stored as numbers, and the hash, which is stored as bytes, as columns and their values in the row `from`. */
function storedAs(from: string): (name: string) => readonly [column: string, value: string] {
  const others: Readonly<Record<string, readonly [string, string]>> = {
    org_id: ['org', `(SELECT o.id FROM orgs o WHERE o.name = ${from}.org_id)`],
    key_hash: ['key_hash', `decode(${from}.key_hash, 'hex')`],
    credential_id: [
      'actor',
      `(SELECT a.id FROM actors a WHERE a.credential_id = ${from}.credential_id AND a.label = ${from}.credential_label)`,
    ],
  };
  return (name) => others[name] ?? [name, `${from}.${name}`];
}
const listOf = (pairs: readonly (readonly string[])[], index: 0 | 1) => pairs.map((pair) => pair[index]).join(', ');

/** As values, whose number the planner knows. */
const slots = Array.from({ length: nearKeys }, (_, index) => `(${index})`).join(', ');

const keyPairs = keyNames.map(storedAs('i'));
const entryPairs = entryNames.filter((name) => name !== 'credential_label').map(storedAs('n'));
// An unchanged definition is not sent: it may be large.
const assignments = keyPairs.map(
  ([column, value]) => `${column} = ${column === 'definition' ? 'coalesce(i.definition, k.definition)' : value}`,
);

/**
 * Writes any number of changes in one statement, and so in one transaction and one round trip. Optimistic locking: a key,
 * with all that belongs to it, is written only if its signature is still the one that the change was made from. Rows are
 * locked in the order of their hashes, so that two such statements cannot deadlock. A key that is added takes the place of
 * its hash, or the next one that is free.
 */
const writeWith = (more: string) =>
  prepared(
    `WITH input AS MATERIALIZED (
     SELECT i.*, CASE WHEN i.mac_before IS NULL THEN (
       SELECT i.place + near.slot FROM (VALUES ${slots}) AS near (slot)
       WHERE NOT EXISTS (SELECT 1 FROM keys k WHERE k.id = i.place + near.slot) ORDER BY near.slot LIMIT 1
     ) ELSE i.place END AS id FROM ${input.sql}
   ),
   numbered AS MATERIALIZED (
     SELECT sorted.*, nextval(pg_get_serial_sequence('history', 'id')) AS id FROM (
       SELECT e.*, i.id AS key, i.head FROM ${entry.sql} JOIN input i ON i.key_hash = e.key_hash ORDER BY i.id, e.version
     ) AS sorted
   ),
   heads AS (SELECT key, max(id) AS head FROM numbered GROUP BY key),
   held AS MATERIALIZED (
     SELECT id FROM keys WHERE id IN (SELECT id FROM input WHERE mac_before IS NOT NULL) ORDER BY id FOR UPDATE
   ),
   written AS (
     UPDATE keys k SET head = coalesce(h.head, k.head), ${assignments.join(', ')}
     FROM input i LEFT JOIN heads h ON h.key = i.id
     WHERE k.id = i.id AND k.mac = i.mac_before AND k.id IN (SELECT id FROM held)
     RETURNING k.id
   ),
   created AS (
     INSERT INTO keys (id, head, ${listOf(keyPairs, 0)})
     SELECT i.id, coalesce(h.head, 0), ${listOf(keyPairs, 1)}
     FROM input i LEFT JOIN heads h ON h.key = i.id WHERE i.mac_before IS NULL AND i.id IS NOT NULL ORDER BY i.id
     ON CONFLICT DO NOTHING RETURNING id
   ),
   done AS MATERIALIZED (
     SELECT i.id, i.key_hash, i.org_id FROM input i WHERE i.id IN (SELECT id FROM written UNION ALL SELECT id FROM created)
   ),
   entries AS (
     INSERT INTO history (id, key, previous, ${listOf(entryPairs, 0)}, tx)
     SELECT n.id, n.key, coalesce(lag(n.id) OVER (PARTITION BY n.key ORDER BY n.version), n.head), ${listOf(entryPairs, 1)},
       greatest((SELECT ${currentPosition}), (SELECT p.tx FROM history p WHERE p.id = n.head))
     FROM numbered n WHERE n.key IN (SELECT id FROM done) ORDER BY n.id
   ),
   added AS (
     INSERT INTO key_terms (term, key, org)
     SELECT t.id, d.id, o.id
     FROM unnest($${terms.added}::text[], $${terms.added + 1}::text[]) AS x (term, key_hash)
       JOIN done d ON d.key_hash = x.key_hash JOIN terms t ON t.name = x.term JOIN orgs o ON o.name = d.org_id
   ),
   dropped AS (
     DELETE FROM key_terms n
     USING unnest($${terms.dropped}::text[], $${terms.dropped + 1}::text[]) AS x (term, key_hash), done d, terms t
     WHERE d.key_hash = x.key_hash AND t.name = x.term AND n.term = t.id AND n.key = d.id
   )${more}
   SELECT key_hash FROM done`,
  );
const write = writeWith('');
/** Few changes have an outbox entry or a receipt; the others do not send their columns. */
const changes = `, changes AS (
     INSERT INTO quota_changes (${quotaNames.join(', ')})
     SELECT ${quotaNames.map((name) => `q.${name}`).join(', ')} FROM ${quotaChange.sql}
     WHERE q.key_hash IN (SELECT decode(key_hash, 'hex') FROM done)
   )`;
const writeWithQuotas = writeWith(changes);
const receipts = `${changes}, receipts AS (
     INSERT INTO receipts (${receiptNames.join(', ')})
     SELECT ${receiptNames.map((name) => `r.${name}`).join(', ')} FROM ${receipt.sql}
     WHERE r.key_hash IN (SELECT key_hash FROM done)
   )`;
const writeWithReceipts = writeWith(receipts);
/** Rotations are rare, and so are proposals. A row of another key stays, so that an identifier never finds two keys. */
const identifiers = `${receipts}, put AS (
     INSERT INTO identifiers (key_hash, key, retires, silence, last_used)
     SELECT decode(p.hash, 'hex'), d.id, p.retires, p.silence, p.since
     FROM ${identifier.sql} JOIN done d ON d.key_hash = p.key_hash
     ON CONFLICT (key_hash) DO UPDATE SET ${replacedIdentifier} WHERE identifiers.key = excluded.key
   ),
   dropped_identifiers AS (
     DELETE FROM identifiers g USING ${droppedIdentifier.sql}, done d
     WHERE d.key_hash = x.key_hash AND g.key_hash = decode(x.hash, 'hex') AND g.key = d.id
   )`;
const writeWithIdentifiers = writeWith(identifiers);
/** The key of a step is the lock of its proposal: if there is one, the statement fails. */
const writeWithProposals = writeWith(
  `${identifiers}, steps AS (
     INSERT INTO proposal_steps (${stepColumns.join(', ')})
     SELECT ${stepColumns.map((name) => `s.${name}`).join(', ')} FROM ${step.sql}
     WHERE s.ending_key IN (SELECT key_hash FROM done)
   ),
   proposal_ends AS (
     UPDATE proposals p SET state = z.state, ended = z.ended, due = NULL, sealed = NULL
     FROM ${proposalEnd.sql} JOIN done d ON d.key_hash = z.key_hash WHERE p.id = z.id
   )`,
);

const addOrgs = prepared(
  'INSERT INTO orgs (name) SELECT DISTINCT name FROM unnest($1::text[]) AS list (name) ORDER BY name ON CONFLICT DO NOTHING',
);
const addTerms = prepared(addOrgs.text.replace('INTO orgs', 'INTO terms'));
const addActors = prepared(
  `INSERT INTO actors (credential_id, label) SELECT DISTINCT id, label FROM unnest($1::text[], $2::text[]) AS list (id, label)
   ORDER BY id, label ON CONFLICT DO NOTHING`,
);

/** Texts that are known to have a number in the database. Numbers stay, so that most writes need not add any. */
export interface KnownNames {
  readonly has: (name: string) => boolean;
  readonly add: (names: readonly string[]) => void;
}

const maxKnownNames = 50_000;

/** The names that are known to a process. */
export function createKnownNames(): KnownNames {
  const known = new Set<string>();
  return {
    has: (name) => known.has(name),
    add(names) {
      if (known.size + names.length > maxKnownNames) known.clear();
      for (const name of names) known.add(name);
    },
  };
}

/** Adds the names of organizations, terms and actors that may have no number yet, in statements before the write. */
async function addNames(session: Session, writes: readonly KeyWrite[], known: KnownNames | undefined): Promise<void> {
  const missing = <Item>(items: readonly Item[], nameOf: (item: Item) => string) => {
    const byName = new Map(items.map((item) => [nameOf(item), item]));
    for (const name of byName.keys()) if (known?.has(name) === true) byName.delete(name);
    return byName;
  };
  const entries = writes.flatMap((one) => one.entries);
  const orgs = missing(
    [...writes.map(({ row }) => row.org_id), ...entries.map((one) => one.org_id)],
    (name) => `org ${name}`,
  );
  const names = missing(
    writes.flatMap((one) => one.addedTerms),
    (name) => `term ${name}`,
  );
  const actors = missing(entries, (one) => `actor ${one.credential_id} ${one.credential_label}`);
  if (orgs.size > 0) await session.write(addOrgs, [[...orgs.values()]]);
  if (names.size > 0) await session.write(addTerms, [[...names.values()]]);
  if (actors.size > 0) {
    const found = [...actors.values()];
    const labels = found.map((one) => one.credential_label);
    await session.write(addActors, [found.map((one) => one.credential_id), labels]);
  }
  known?.add([...orgs.keys(), ...names.keys(), ...actors.keys()]);
}

/**
 * Returns the hashes of the keys that were written. The others were changed meanwhile.
 *
 * @param known - absent in a transaction, which may be rolled back
 */
export async function writeKeys(
  session: Session,
  writes: readonly KeyWrite[],
  known?: KnownNames,
): Promise<ReadonlySet<string>> {
  await addNames(session, writes, known);
  const ordered = writes.toSorted((a, b) => (a.row.key_hash < b.row.key_hash ? -1 : 1));
  const sent = ordered.map(({ before, row }) => ({
    ...row,
    definition: before?.definition === row.definition ? null : row.definition,
  }));
  const entries = ordered.flatMap((one) => one.entries);
  const added = ordered.flatMap(({ row, addedTerms }) => addedTerms.map((term) => ({ term, row })));
  const dropped = ordered.flatMap(({ row, droppedTerms }) => droppedTerms.map((term) => ({ term, row })));
  const quotaChanges = ordered.flatMap((one) => one.quotaChanges);
  const givenReceipts = ordered.flatMap(({ row, receipts: given }) =>
    given.map((one) => [row.key_hash, ...receiptValues(one)] as const),
  );
  const put = ordered.flatMap(({ row, putIdentifiers }) => putIdentifiers.map((one) => ({ row, ...one })));
  const gone = ordered.flatMap(({ row, droppedIdentifiers }) => droppedIdentifiers.map((hash) => ({ row, hash })));
  const ends = ordered.flatMap(({ row, proposalEnds }) => proposalEnds.map((one) => ({ key: row.key_hash, ...one })));
  const steps = ends.flatMap(({ key, steps: ofEnd }) => ofEnd.map((one) => [key, ...stepValues(one)]));
  const hasEnds = ends.length > 0;
  const hasIdentifiers = put.length > 0 || gone.length > 0 || hasEnds;
  const hasReceipts = givenReceipts.length > 0 || hasIdentifiers;
  const hasQuotas = quotaChanges.length > 0 || hasReceipts;
  const withoutIdentifiers = hasReceipts ? writeWithReceipts : hasQuotas ? writeWithQuotas : write;
  const withoutEnds = hasIdentifiers ? writeWithIdentifiers : withoutIdentifiers;
  const statement = hasEnds ? writeWithProposals : withoutEnds;
  const done = await session.write<{ key_hash: string }>(statement, [
    ...keyNames.map((column) => sent.map((row) => row[column])),
    ordered.map(({ before }) => before?.mac ?? null),
    ordered.map(({ before, row }) => before?.id ?? placeOf(row.key_hash)),
    ordered.map(({ before }) => before?.head ?? null),
    ...entryNames.map((column) => entries.map((row) => row[column])),
    added.map(({ term }) => term),
    added.map(({ row }) => row.key_hash),
    dropped.map(({ term }) => term),
    dropped.map(({ row }) => row.key_hash),
    ...(hasQuotas ? quotaNames.map((column) => quotaChanges.map((row) => row[column])) : []),
    ...(hasReceipts
      ? ['key_hash', ...receiptNames].map((_, index) => givenReceipts.map((values) => values[index]))
      : []),
    ...(hasIdentifiers
      ? [
          put.map(({ row }) => row.key_hash),
          put.map(({ keyHash }) => keyHash),
          put.map(({ retires }) => retires),
          put.map(({ silence }) => silence),
          put.map(({ since }) => since),
          gone.map(({ row }) => row.key_hash),
          gone.map(({ hash }) => hash),
        ]
      : []),
    ...(hasEnds
      ? [
          ...['key', ...stepColumns].map((_, index) => steps.map((values) => values[index])),
          ends.map(({ key }) => key),
          ends.map(({ id }) => id),
          ends.map(({ state }) => state),
          ends.map(({ ended }) => ended),
        ]
      : []),
  ]);
  return new Set(done.map(({ key_hash }) => key_hash));
}

import { AppError, asError } from '../../lib/errors.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { stateOfProposal, unendedStates, type KnownProposal } from '../../keys/proposals/proposal.js';
import { maxUnended, type ProposalStore } from '../../keys/proposals/proposal-store.js';
import {
  proposalFromRow,
  proposalStepTable,
  proposalTable,
  proposalToRow,
  stepToRow,
  type ProposalRow,
  type ProposalStepRow,
} from '../records/proposal.js';
import { createSignedTable, millisecondsOf, type SignedRow } from '../records/signed.js';
import { mapInSlices, type TimeSlices } from '../time-slices.js';
import { isBindableText, type Dialect } from './dialect.js';
import { insertReceipt, receiptValues } from './keys/receipts.js';
import { createNoticeRows } from './keys/notices.js';
import { readPages } from './pages.js';
import { insertStep, stepValues } from './proposal-rows.js';
import { insertInto, prepared, query, valuesOf, type SqlSession, type Value, type Work } from './session.js';

const proposalColumns = proposalTable.columnNames;

const sealedPage = 20;

const maxPageBytes = 4 * 1024 * 1024;

const statements = ({ inList, forUpdate, rowID }: Dialect) => {
  const columns = proposalColumns.map((name) => `p.${name}`).join(', ');
  return {
    columns,
    add: prepared(insertInto('proposals', [...proposalColumns, 'sealed', 'state', 'due'])),
    addOrg: prepared('INSERT INTO orgs (name) VALUES ($1) ON CONFLICT DO NOTHING'),
    lockOrg: prepared(`SELECT id FROM orgs WHERE name = $1 ${forUpdate()}`),
    count: prepared(`SELECT count(*) AS count FROM proposals WHERE org_id = $1 AND state ${inList('$2', 'text')}`),
    find: prepared(
      `SELECT ${columns} FROM proposals p WHERE p.id = $1 AND (CAST($2 AS text) IS NULL OR p.org_id = $2)`,
    ),
    steps: prepared(`SELECT * FROM proposal_steps WHERE proposal ${inList('$1', 'text')} ORDER BY id`),
    lock: prepared(`SELECT id FROM proposals WHERE id = $1 ${forUpdate()}`),
    sealed: prepared('SELECT sealed FROM proposals WHERE id = $1'),
    approve: prepared('UPDATE proposals SET state = $2, due = $3 WHERE id = $1'),
    end: prepared('UPDATE proposals SET state = $2, ended = $3, due = NULL, sealed = $4 WHERE id = $1'),
    due: prepared('SELECT id FROM proposals WHERE due <= $1 ORDER BY due LIMIT $2'),
    ended: prepared('SELECT id FROM proposals WHERE ended < $1 ORDER BY ended LIMIT 100'),
    purgeSteps: prepared(`DELETE FROM proposal_steps WHERE proposal ${inList('$1', 'text')}`),
    purge: prepared(`DELETE FROM proposals WHERE id ${inList('$1', 'text')}`),
    sealedPage: prepared(
      `SELECT id, sealed FROM proposals WHERE id > $1 AND sealed IS NOT NULL ORDER BY id LIMIT ${sealedPage}`,
    ),
    reseal: prepared('UPDATE proposals SET sealed = $3 WHERE id = $1 AND sealed = $2'),
    all: prepared(`SELECT ${columns}, p.state FROM proposals p WHERE p.id > $1 ORDER BY p.id LIMIT 100`),
    before: (at: string, id: string) => `(p.at, p.id) < (${at}, ${rowID(id)})`,
  };
};

type Row = SignedRow<ProposalRow>;
type StepRow = SignedRow<ProposalStepRow>;

/** The proposals in the database of the keys. `onChange` is called after notices were added. */
export function createProposalStore(
  session: SqlSession,
  signer: RowSigner,
  slices: TimeSlices,
  onChange: () => void,
): ProposalStore {
  const { dialect, all, run, transaction } = session;
  const sql = statements(dialect);
  const table = createSignedTable(signer, proposalTable);
  const steps = createSignedTable(signer, proposalStepTable);
  const addNotices = createNoticeRows(session, signer);

  /** @throws {AppError} INTERNAL when a row is damaged. */
  function verified(row: Row, ofRow: readonly StepRow[]): KnownProposal {
    if (!table.isAuthentic(row)) throw table.integrityError(`The proposal ${row.id}`, row);
    const damaged = ofRow.find((step) => !steps.isAuthentic(step));
    if (damaged) throw steps.integrityError(`A step of the proposal ${row.id}`, damaged);
    return proposalFromRow(row, ofRow);
  }

  async function stepsOf(rows: readonly Row[]): Promise<(row: Row) => readonly StepRow[]> {
    const found = rows.length === 0 ? [] : await all<StepRow>(sql.steps, [rows.map(({ id }) => id)]);
    return ({ id }) => found.filter(({ proposal }) => proposal === id);
  }

  return {
    async add({ proposal, sealed, notice, receipt }) {
      const row = table.signed(proposalToRow(proposal));
      const state = stateOfProposal({ ...proposal, approval: undefined, end: undefined });
      const due = millisecondsOf(proposal.expiresAt ?? proposal.applyAt);
      await transaction(function* (): Work<void> {
        yield* query(sql.addOrg, [proposal.orgID]);
        // Proposals of one organization are added one after the other, so that the maximum holds.
        yield* query(sql.lockOrg, [proposal.orgID]);
        const [found] = yield* query<{ count: bigint }>(sql.count, [proposal.orgID, unendedStates]);
        if (Number(found?.count ?? 0n) >= maxUnended) throw tooMany();
        yield* query(sql.add, [...valuesOf(row, proposalColumns), sealed, state, due]);
        yield* addNotices([notice]);
        if (receipt) yield* query(insertReceipt, receiptValues(receipt));
      });
      onChange();
    },
    async find(id, orgID) {
      if (!isBindableText(id)) return undefined;
      // The steps after the row: a proposal can only have got more of them since.
      const [row] = await all<Row>(sql.find, [id, orgID ?? null]);
      return row && verified(row, (await stepsOf([row]))(row));
    },
    async list({ orgID, states, keyHash, after, limit }) {
      const values: Value[] = [];
      const parameter = (value: Value) => `$${values.push(value)}`;
      const conditions = [
        ...(orgID === undefined ? [] : [`p.org_id = ${parameter(orgID)}`]),
        ...(states === undefined ? [] : [`p.state ${dialect.inList(parameter(states), 'text')}`]),
        ...(keyHash === undefined ? [] : [`p.key_hash = ${parameter(keyHash)}`]),
        ...(after ? [sql.before(parameter(BigInt(after.proposedAt.getTime())), parameter(after.id))] : []),
      ];
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
      const order = 'ORDER BY p.at DESC, p.id DESC';
      const found = await all<Row & { readonly is_cut: bigint }>(
        prepared(
          `SELECT ${sql.columns}, CAST(CASE WHEN p.place < p.found THEN 1 ELSE 0 END AS bigint) AS is_cut FROM (
             SELECT p.*, sum(octet_length(p.content)) OVER (${order}) AS bytes, row_number() OVER (${order}) AS place,
               count(*) OVER () AS found
             FROM (SELECT * FROM proposals p ${where} ${order} LIMIT ${parameter(BigInt(limit))}) AS p
           ) AS p WHERE p.bytes <= ${maxPageBytes} OR p.place = 1 ${order}`,
        ),
        values,
      );
      const stepsOfRow = await stepsOf(found);
      const items = await mapInSlices(slices, found, (row) => {
        try {
          return verified(row, stepsOfRow(row));
        } catch (error) {
          return Object.assign(asError(error), { id: row.id, proposedAt: new Date(Number(row.at)) });
        }
      });
      return { items, isCut: found.at(-1)?.is_cut === 1n };
    },
    sealedOf: async (id) => (await all<{ sealed: Uint8Array | null }>(sql.sealed, [id]))[0]?.sealed ?? undefined,
    async record({ step, due, sealed, notice }) {
      const { proposalID: id, kind, at } = step;
      const row = steps.signed(stepToRow(step));
      const isRecorded = await transaction(function* (): Work<boolean> {
        // Against a change that ends it at the same time, which locks the row as well.
        yield* query(sql.lock, [id]);
        const known = yield* query<StepRow>(sql.steps, [[id]]);
        if (known.some((other) => other.id === row.id || other.id === `${id}.end`)) return false;
        yield* query(insertStep, stepValues(row));
        if (kind === 'APPROVED') yield* query(sql.approve, [id, 'SCHEDULED', millisecondsOf(due)]);
        else yield* query(sql.end, [id, kind, BigInt(at.getTime()), sealed ?? null]);
        if (notice) yield* addNotices([notice]);
        return true;
      });
      if (isRecorded && notice) onChange();
      return isRecorded;
    },
    due: async (at, limit) =>
      (await all<{ id: string }>(sql.due, [BigInt(at.getTime()), BigInt(limit)])).map(({ id }) => id),
    async purge(endedBefore) {
      for (let purged = 0; ;) {
        const ids = (await all<{ id: string }>(sql.ended, [BigInt(endedBefore.getTime())])).map(({ id }) => id);
        if (ids.length === 0) return purged;
        await transaction(function* (): Work<void> {
          yield* query(sql.purgeSteps, [ids]);
          yield* query(sql.purge, [ids]);
        });
        purged += ids.length;
      }
    },
    async *allSealed() {
      type SealedRow = { readonly id: string; readonly sealed: Uint8Array };
      yield* readPages<SealedRow>((last) => all(sql.sealedPage, [last?.id ?? '']), sealedPage);
    },
    reseal: async (id, before, after) => void (await run(sql.reseal, [id, before, after])),
    async verify() {
      const problems: string[] = [];
      type Found = Row & { readonly state: string };
      for await (const rows of readPages<Found>((last) => all(sql.all, [last?.id ?? '']), 100)) {
        const stepsOfRow = await stepsOf(rows);
        for (const row of rows) {
          try {
            const state = stateOfProposal(verified(row, stepsOfRow(row)));
            if (state !== row.state)
              problems.push(`The proposal ${row.id} is ${state}, and its row says another state.`);
          } catch {
            problems.push(`The proposal ${row.id} fails the integrity check.`);
          }
        }
      }
      return problems;
    },
  };
}

function tooMany(): AppError {
  return new AppError(
    'CONFLICT',
    `The organization has ${maxUnended} proposals that wait for an approval or their time. Decide about some of them first.`,
  );
}

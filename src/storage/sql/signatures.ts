import type { RowSigner } from '../../crypto/row-signer.js';
import { credentialTable } from '../records/credential.js';
import { headTable } from '../records/head.js';
import { keyTable, quotaChangeTable, revisionTable } from '../records/key-records.js';
import { createSignedTable, type SignedRow, type TableDefinition } from '../records/signed.js';
import { policyTable } from '../records/policy.js';
import { proposalStepTable, proposalTable } from '../records/proposal.js';
import { webhookTable } from '../records/webhook.js';
import type { Dialect } from './dialect.js';
import { readPages } from './pages.js';
import { beforeAllKeys } from './place.js';
import { rowTexts } from './rows.js';
import { prepared, query, type SqlSession } from './session.js';

/** The signatures of all rows, for the rotation of keys. */
export interface Signatures {
  /** Signs every row anew that is signed under an older key. Returns how many failed the integrity check and were left. */
  readonly renew: (onRow: () => void) => Promise<number>;
  /** Looks at the rows that are not signed under the current key. */
  readonly older: () => Promise<OlderRows>;
}

/** Rows that are not signed under the current key. */
export interface OlderRows {
  /** Whether a row is validly signed under an older key. */
  readonly hasValid: boolean;
  /** How many rows fail the integrity check; not all of them once a valid one was found. */
  readonly damaged: number;
}

const pageSize = 200;

type AnyRow = SignedRow<Readonly<Record<string, unknown>>>;
type Position = string | bigint;

const signedTables = (dialect: Dialect) => {
  const { keyColumns, entryColumns } = rowTexts(dialect);
  const whole = (table: { readonly name: string }) => ({ columns: 't.*', from: `${table.name} t`, row: 't' });
  return [
    { table: keyTable, key: 'id', start: beforeAllKeys, columns: keyColumns, from: 'keys k', row: 'k' },
    { table: revisionTable, key: 'id', start: 0n, columns: entryColumns, from: 'history h', row: 'h' },
    { table: credentialTable, key: 'id', start: '', ...whole(credentialTable) },
    { table: webhookTable, key: 'id', start: '', ...whole(webhookTable) },
    { table: policyTable, key: 'id', start: 0n, ...whole(policyTable) },
    { table: proposalTable, key: 'id', start: '', ...whole(proposalTable) },
    { table: proposalStepTable, key: 'id', start: '', ...whole(proposalStepTable) },
    { table: headTable, key: 'name', start: '', ...whole(headTable) },
    { table: quotaChangeTable, key: 'id', start: 0n, ...whole(quotaChangeTable) },
  ];
};

/** The signatures of all tables, in pages that take milliseconds each. */
export function createSignatures({ dialect, all, transaction }: SqlSession, signer: RowSigner): Signatures {
  const head = `CAST($1 AS ${dialect.types.bytes})`;
  const tables = signedTables(dialect).map(({ table, key, start, columns, from, row }) => ({
    key,
    start,
    table: createSignedTable(signer, table as TableDefinition<Readonly<Record<string, unknown>>>),
    // The first byte of a signature is its layout; the bytes after it name the key.
    older: prepared(
      `SELECT ${columns} FROM ${from} WHERE ${row}.${key} > $2 AND substr(${row}.mac, 2, length(${head})) <> ${head}
       ORDER BY ${row}.${key} LIMIT ${pageSize}`,
    ),
    // A row that was written since it was read has a new signature already.
    sign: prepared(`UPDATE ${table.name} SET mac = $1 WHERE ${key} = $2 AND mac = $3`),
  }));

  const olderPages = ({ key, start, older }: (typeof tables)[number]) =>
    readPages<AnyRow>((last) => all(older, [signer.currentHead(), last ? (last[key] as Position) : start]));

  return {
    async renew(onRow) {
      let damaged = 0;
      for (const one of tables) {
        for await (const rows of olderPages(one)) {
          const valid = rows.filter(one.table.isAuthentic);
          await transaction(function* () {
            for (const row of valid) {
              yield* query(one.sign, [one.table.signed(row).mac, row[one.key] as Position, row.mac]);
            }
          });
          valid.forEach(onRow);
          damaged += rows.length - valid.length;
        }
      }
      return damaged;
    },
    async older() {
      let damaged = 0;
      for (const one of tables) {
        for await (const rows of olderPages(one)) {
          if (rows.some(one.table.isAuthentic)) return { hasValid: true, damaged };
          damaged += rows.length;
        }
      }
      return { hasValid: false, damaged };
    },
  };
}

import type { RowSigner } from '../../crypto/row-signer.js';
import { headTable, type HeadRow } from '../records/head.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { insertInto, prepared, query, valuesOf, type Prepared, type SqlSession, type Work } from './session.js';

const headByName = prepared('SELECT * FROM heads WHERE name = $1');

const columns = headTable.columnNames;
const insert = insertInto('heads', columns);
const insertIfMissing = prepared(`${insert} ON CONFLICT (name) DO NOTHING`);
const upsert = prepared(
  `${insert} ON CONFLICT (name) DO UPDATE
   SET sequence = excluded.sequence, content = excluded.content, mac = excluded.mac`,
);

/** The rows of `heads`. Rows that are read are not verified yet. */
export function createHeads({ dialect }: Pick<SqlSession, 'dialect'>, signer: RowSigner) {
  const table = createSignedTable(signer, headTable);
  const headByNameForUpdate = prepared(`${headByName.text} ${dialect.forUpdate()}`);

  function* find(statement: Prepared, name: string): Work<SignedRow<HeadRow> | undefined> {
    return (yield* query<SignedRow<HeadRow>>(statement, [name]))[0];
  }
  function* write(statement: Prepared, row: HeadRow): Work<void> {
    yield* query(statement, valuesOf(table.signed(row), columns));
  }

  return {
    isAuthentic: table.isAuthentic,
    read: (name: string) => find(headByName, name),
    /** Reads a head and locks it until the end of the transaction. */
    lock: (name: string) => find(headByNameForUpdate, name),
    /** Signs and writes a head, in place of that with its name if there is one. */
    put: (row: HeadRow) => write(upsert, row),
    /** Signs and adds a head. Does nothing if there is one with its name. */
    add: (row: HeadRow) => write(insertIfMissing, row),
  };
}

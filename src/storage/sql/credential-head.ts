import type { RowSigner } from '../../crypto/row-signer.js';
import type { CredentialRow } from '../records/credential.js';
import {
  headTable,
  stampOf,
  stampsFromContent,
  stampsToContent,
  type CredentialStamps,
  type HeadRow,
} from '../records/head.js';
import { insertHead } from './heads.js';
import { createSignedTable, integrityError, type SignedRow } from '../records/signed.js';
import { prepared, query, valuesOf, type SqlSession, type Work } from './session.js';

/** The head of the credentials at one moment. */
export interface CredentialHead {
  readonly sequence: number;
  readonly stamps: CredentialStamps;
}

const name = 'credentials';
const select = `SELECT * FROM heads WHERE name = '${name}'`;

/** An expression for other statements: the signature of the head in the same snapshot. */
export const headSignature = `(SELECT mac FROM heads WHERE name = '${name}')`;

/**
 * The newest state of all credentials, in one signed row that is written in the transaction of each change. A process
 * reads it again only when its signature has changed, and rejects one that is older than what it has read before.
 */
export function createCredentialHead({ dialect, all }: SqlSession, signer: RowSigner) {
  const table = createSignedTable(signer, headTable);
  const read = prepared(select);
  const readForUpdate = prepared(`${select} ${dialect.forUpdate}`);
  const update = prepared('UPDATE heads SET sequence = $2, content = $3, mac = $4 WHERE name = $1');
  let known: (CredentialHead & { readonly mac: Uint8Array }) | undefined;

  function verified(row: SignedRow<HeadRow> | undefined): SignedRow<HeadRow> {
    const isCurrent = row && table.isAuthentic(row) && (!known || row.sequence >= BigInt(known.sequence));
    if (!isCurrent) throw integrityError('The head of the credentials');
    return row;
  }

  async function current(): Promise<NonNullable<typeof known>> {
    const [row] = await all<SignedRow<HeadRow>>(read);
    const { sequence, content, mac } = verified(row);
    return (known = { sequence: Number(sequence), stamps: stampsFromContent(content), mac });
  }

  return {
    /** @throws {AppError} INTERNAL when it is damaged, missing, or older than one that this process has read. */
    current: async (): Promise<CredentialHead> => current(),
    /** Undefined when the head has another signature by now: what was read with the given one is not the newest. */
    async stampsAt(mac: Uint8Array | null): Promise<CredentialStamps | undefined> {
      if (mac === null) throw integrityError('The head of the credentials');
      const isKnown = known !== undefined && Buffer.compare(known.mac, mac) === 0;
      const head = isKnown && known ? known : await current();
      return Buffer.compare(head.mac, mac) === 0 ? head.stamps : undefined;
    },
    /** Locks the head until the end of the transaction, so that credentials change one after the other. */
    *lock(): Work<SignedRow<HeadRow>> {
      const [row] = yield* query<SignedRow<HeadRow>>(readForUpdate);
      return verified(row);
    },
    /** Writes the states of credentials that have changed. */
    *write(locked: HeadRow, changed: readonly CredentialRow[]): Work<void> {
      const stamps = new Map([...stampsFromContent(locked.content), ...changed.map(stampPair)]);
      const next = { name, sequence: locked.sequence + 1n, content: stampsToContent(stamps) };
      yield* query(update, valuesOf(table.signed(next), headTable.columnNames));
    },
    /** Begins the head with the credentials that there are. Does nothing when it exists. */
    *begin(rows: readonly CredentialRow[]): Work<void> {
      const first = { name, sequence: 1n, content: stampsToContent(new Map(rows.map(stampPair))) };
      yield* query(insertHead, valuesOf(table.signed(first), headTable.columnNames));
    },
  };
}

const stampPair = (row: CredentialRow): [string, string] => [row.id, stampOf(row)];

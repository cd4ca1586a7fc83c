import type { RowSigner } from '../../crypto/row-signer.js';
import { AppError } from '../../lib/errors.js';
import { contentOf, rootName, type Checkpoint } from '../records/checkpoint.js';
import type { CredentialRow } from '../records/credential.js';
import { stampOf, stampsFromContent, stampsToContent, type CredentialStamps, type HeadRow } from '../records/head.js';
import { createHeads } from './heads.js';
import { integrityError, type SignedRow } from '../records/signed.js';
import { prepared, type SqlSession, type Work } from './session.js';

/** The head of the credentials at one moment. */
export interface CredentialHead {
  readonly sequence: number;
  readonly stamps: CredentialStamps;
}

const name = 'credentials';

/** An expression for other statements: the signature of the head in the same snapshot. */
export const headSignature = `(SELECT mac FROM heads WHERE name = '${name}')`;

const both = prepared(`SELECT * FROM heads WHERE name IN ('${name}', '${rootName}')`);

/**
 * The newest state of all credentials, in one signed row that is written in the transaction of each change. A process
 * reads it again only when its signature has changed, and rejects one that is older than what it has read before, or than
 * the one that the head of the keys names.
 */
export function createCredentialHead(session: SqlSession, signer: RowSigner) {
  const heads = createHeads(session, signer);
  let known: (CredentialHead & { readonly mac: Uint8Array }) | undefined;
  /** The newest sequence that this process has read, in either head. */
  let newest = 0n;

  /** A damaged head of the keys proves nothing; checkpoints report it. */
  function verified(row: SignedRow<HeadRow> | undefined, root: SignedRow<HeadRow> | undefined): SignedRow<HeadRow> {
    const named = root && heads.isAuthentic(root) ? BigInt(contentOf<Checkpoint>(root).credentials) : 0n;
    const isOlder = row !== undefined && row.sequence < named;
    if (named > newest) newest = named;
    if (!row || !heads.isAuthentic(row) || row.sequence < newest) {
      // What was read with this head is not trusted any more.
      known = undefined;
      throw isOlder ? olderThanKeys() : integrityError('The head of the credentials');
    }
    newest = row.sequence;
    return row;
  }

  async function current(): Promise<NonNullable<typeof known>> {
    const rows = await session.all<SignedRow<HeadRow>>(both);
    const find = (wanted: string) => rows.find((row) => row.name === wanted);
    const { sequence, content, mac } = verified(find(name), find(rootName));
    return (known = { sequence: Number(sequence), stamps: stampsFromContent(content), mac });
  }

  return {
    /** @throws {AppError} INTERNAL when it is damaged, missing, or older than one that was read or that the head of the keys names. */
    current: async (): Promise<CredentialHead> => current(),
    /** Undefined if the head has changed: the rows read with this signature are outdated. */
    async stampsAt(mac: Uint8Array | null): Promise<CredentialStamps | undefined> {
      if (mac === null) throw integrityError('The head of the credentials');
      const isKnown = known !== undefined && Buffer.compare(known.mac, mac) === 0;
      const head = isKnown && known ? known : await current();
      return Buffer.compare(head.mac, mac) === 0 ? head.stamps : undefined;
    },
    /** Locks the head until the end of the transaction, so that credentials change one after the other. */
    *lock(): Work<SignedRow<HeadRow>> {
      return verified(yield* heads.lock(name), yield* heads.read(rootName));
    },
    /** Writes the states of credentials that have changed. */
    *write(locked: HeadRow, changed: readonly CredentialRow[]): Work<void> {
      const stamps = new Map([...stampsFromContent(locked.content), ...changed.map(stampPair)]);
      yield* heads.put({ name, sequence: locked.sequence + 1n, content: stampsToContent(stamps) });
    },
    /** Begins the head with the credentials that there are. Does nothing when it exists. */
    begin: (rows: readonly CredentialRow[]): Work<void> =>
      heads.add({ name, sequence: 1n, content: stampsToContent(new Map(rows.map(stampPair))) }),
  };
}

const stampPair = (row: CredentialRow): [string, string] => [row.id, stampOf(row)];

function olderThanKeys(): AppError {
  return new AppError(
    'INTERNAL',
    'The head of the credentials is older than the head of the keys: an older row was put back; run `keyfront check` for details.',
  );
}

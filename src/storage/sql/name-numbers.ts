import { isBindableText } from './dialect.js';
import { prepared, type SqlSession } from './session.js';

/** The tables of texts that other rows have as numbers. */
type NameTable = 'orgs' | 'terms';

/** Returns the number of a text; one that no row has if there is none. */
export type NumberOf = (table: NameTable, name: string) => bigint;

const none = -1n;

/**
 * Reads the numbers of texts before a statement that names them: PostgreSQL estimates how many rows have a number only if it
 * is a value of the statement. The number of a text never changes.
 */
export function createNameNumbers({ dialect: { inList }, all }: Pick<SqlSession, 'dialect' | 'all'>) {
  const select = prepared(
    `SELECT 'orgs' AS kind, name, id FROM orgs WHERE name ${inList('$1', 'text')}
     UNION ALL SELECT 'terms' AS kind, name, id FROM terms WHERE name ${inList('$2', 'text')}`,
  );
  return async (names: Readonly<Record<NameTable, readonly string[]>>): Promise<NumberOf> => {
    const [orgs, terms] = [names.orgs.filter(isBindableText), names.terms.filter(isBindableText)];
    if (orgs.length + terms.length === 0) return () => none;
    const rows = await all<{ kind: NameTable; name: string; id: bigint }>(select, [orgs, terms]);
    const numbers = new Map(rows.map(({ kind, name, id }) => [`${kind} ${name}`, id]));
    return (table, name) => numbers.get(`${table} ${name}`) ?? none;
  };
}

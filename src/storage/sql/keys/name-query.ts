import type { NameQuery } from '../../../keys/key-query.js';
import { term } from '../../records/key-records.js';
import type { Dialect } from '../dialect.js';
import { createParameters, type Add } from '../parameters.js';
import type { WideQuery } from '../session.js';

/** Returns the statement for a page of the organizations that own keys which are not deleted. */
export function organizationsStatement({ isInTime }: Dialect, query: NameQuery): WideQuery {
  const { parameters, add } = createParameters();
  const hasKeys = 'EXISTS (SELECT 1 FROM keys k WHERE k.org = n.id AND k.deleted IS NULL)';
  return { sql: `SELECT n.name FROM orgs n WHERE ${isInTime} AND ${hasKeys} ${rangeOf(query, add)}`, parameters };
}

/** Returns the statement for a page of the tags of each of these organizations, one after another. */
export function tagsOfOrgsStatement({ isInTime }: Dialect, query: NameQuery, orgs: readonly bigint[]): WideQuery {
  const { parameters, add } = createParameters();
  const terms = {
    ...query,
    after: query.after === undefined ? undefined : term.tag(query.after),
    before: query.before === undefined ? undefined : term.tag(query.before),
  };
  const pages = orgs.map((number) => {
    const org = `CAST(${add(number)} AS bigint)`;
    const hasKeys = `EXISTS (SELECT 1 FROM key_terms t CROSS JOIN keys k WHERE t.org = ${org} AND t.term = n.id AND k.id = t.key AND k.deleted IS NULL)`;
    // In byte order, `;` follows `:`.
    const isTag = "n.name > 't:' AND n.name < 't;'";
    const page = `SELECT ${org} AS org, n.name FROM terms n WHERE ${isInTime} AND ${isTag} AND ${hasKeys} ${rangeOf(terms, add)}`;
    return `SELECT org, name FROM (${page}) AS page`;
  });
  return { sql: pages.join(' UNION ALL '), parameters };
}

/** The end of a statement for a page of names `n`. */
function rangeOf({ after, before, descending, limit }: NameQuery, add: Add): string {
  const lower = after === undefined ? '' : `AND n.name > ${add(after)}`;
  const upper = before === undefined ? '' : `AND n.name < ${add(before)}`;
  return `${lower} ${upper} ORDER BY n.name ${descending ? 'DESC' : 'ASC'} LIMIT ${add(BigInt(limit))}`;
}

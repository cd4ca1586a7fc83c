import { stateOf, type StoredKey } from '../../keys/key.js';
import type { KeyFilter, KeyQuery } from '../../keys/key-query.js';
import { term, termsOf } from '../records/key.js';

/** Whether a key matches the query: the same conditions as those of the SQL, for a key that was read. */
export function matchesFilter({ filter, now }: KeyQuery, key: StoredKey): boolean {
  const { alias = '', expires = 0n } = key.definition;
  const wanted = termsIn(filter);
  const terms = wanted.length > 0 ? termsOf(key) : new Set();
  const state = stateOf(key, now);
  return (
    (filter.orgID === undefined || key.orgID === filter.orgID) &&
    alias.startsWith(filter.aliasPrefix ?? '') &&
    (filter.expiresBefore === undefined || (expires >= 1n && expires < filter.expiresBefore)) &&
    (filter.updatedSince === undefined || key.lastUpdated >= filter.updatedSince) &&
    (filter.state === undefined ? state !== 'DELETED' : state === filter.state) &&
    wanted.every((term) => terms.has(term))
  );
}

/** The terms of a filter. A key must have each of them. */
export function termsIn({ tag, policy, apiID }: KeyFilter): string[] {
  return [
    tag === undefined ? undefined : term.tag(tag),
    policy === undefined ? undefined : term.policy(policy),
    apiID === undefined ? undefined : term.api(apiID),
  ].filter((found) => found !== undefined);
}

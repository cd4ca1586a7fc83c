import { describe, expect, it } from 'vitest';
import type { StoredKey } from '../../../src/keys/key.js';
import type { KeyFilter, KeyQuery } from '../../../src/keys/key-query.js';
import { matchesFilter, maxSortedRows, termCountStatement, termsIn } from '../../../src/storage/sql/keys/key-query.js';
import type { NumberOf } from '../../../src/storage/sql/name-numbers.js';
import { aKey } from '../../support/factories.js';

const now = new Date('2026-01-31T12:00:00Z');
const seconds = BigInt(now.getTime() / 1000);
const query = (filter: KeyFilter, changes: Partial<KeyQuery> = {}): KeyQuery => ({
  ...{ filter, orderBy: 'ALIAS', descending: false, limit: 10, now },
  ...changes,
});
const withDefinition = (definition: StoredKey['definition']) => aKey(1, { definition });

describe('a key that a query has read', () => {
  const deleted = aKey(1, { deleted: now });
  const inactive = withDefinition({ isInactive: true });
  const expired = withDefinition({ expires: seconds });
  const active = withDefinition({ expires: seconds + 1n });
  const full = withDefinition({
    alias: 'Key one',
    tags: ['gold'],
    applyPolicies: ['gold'],
    accessRights: [{ label: 'billing', apiID: 'api-1' }],
  });

  it.each<[string, StoredKey, KeyFilter]>([
    ['no condition', full, {}],
    ['its organization', full, { orgID: 'acme' }],
    ['the beginning of its alias', full, { aliasPrefix: 'Key ' }],
    ['a part of its alias in another case', full, { aliasContains: 'Y ONE' }],
    ['the empty part of an alias that it lacks', aKey(1), { aliasContains: '' }],
    ['its whole alias', full, { aliasPrefix: 'Key one' }],
    ['the empty beginning of an alias that it lacks', aKey(1), { aliasPrefix: '' }],
    ['its tag', full, { tagsAll: ['gold'] }],
    ['its policy', full, { policy: 'gold' }],
    ['its API', full, { apiID: 'api-1' }],
    ['all of its terms', full, { tagsAll: ['gold'], policy: 'gold', apiID: 'api-1' }],
    ['a time after it expires', expired, { expiresBefore: seconds + 1n }],
    ['a time after it expires at the first second', withDefinition({ expires: 1n }), { expiresBefore: 2n }],
    ['the time of its last update', aKey(1, { lastUpdated: 7n }), { updatedSince: 7n }],
    ['deleted keys', deleted, { states: ['DELETED'] }],
    ['inactive keys', inactive, { states: ['INACTIVE'] }],
    ['expired keys', expired, { states: ['EXPIRED'] }],
    ['active keys', active, { states: ['ACTIVE'] }],
  ])('matches a filter with %s', (_, key, filter) => {
    expect(matchesFilter(query(filter), key)).toBe(true);
  });

  it.each<[string, StoredKey, KeyFilter]>([
    ['another organization', full, { orgID: 'globex' }],
    ['the end of its alias', full, { aliasPrefix: 'one' }],
    ['the beginning of an alias that it lacks', aKey(1), { aliasPrefix: 'K' }],
    ['a text that its alias lacks', full, { aliasContains: 'key.one' }],
    ['another tag', full, { tagsAll: ['api-1'] }],
    ['another policy', full, { policy: 'silver' }],
    ['the label of an API with another identifier', full, { apiID: 'billing' }],
    ['an API of another key and its own tag', full, { tagsAll: ['gold'], apiID: 'api-2' }],
    ['the time at which it expires', expired, { expiresBefore: seconds }],
    ['a time of expiry that it lacks', aKey(1), { expiresBefore: seconds }],
    ['a time of expiry although it never expires', withDefinition({ expires: 0n }), { expiresBefore: seconds }],
    ['a time after its last update', aKey(1, { lastUpdated: 7n }), { updatedSince: 8n }],
    ['no condition if it is deleted', deleted, {}],
    ['deleted keys if it is not deleted', full, { states: ['DELETED'] }],
    ['inactive keys if it is active', full, { states: ['INACTIVE'] }],
    ['expired keys a second before', active, { states: ['EXPIRED'] }],
    ['active keys if it is expired', expired, { states: ['ACTIVE'] }],
  ])('does not match a filter with %s', (_, key, filter) => {
    expect(matchesFilter(query(filter), key)).toBe(false);
  });
});

describe('the statement that counts the keys of a term', () => {
  const numbers = new Map([
    ['t:a', 1n],
    ['p:b', 2n],
    ['acme', 3n],
  ]);
  const numberOf: NumberOf = (_, name) => numbers.get(name) ?? -1n;
  it('exists if keys of a term are sorted', () => {
    expect(termCountStatement(query({}), numberOf)).toBeUndefined();
    expect(termCountStatement(query({ tagsAll: ['a'] }, { orderBy: 'KEY_HASH' }), numberOf)).toBeUndefined();
    for (const orderBy of ['ALIAS', 'LAST_UPDATED'] as const) {
      expect(termCountStatement(query({ tagsAll: ['a'] }, { orderBy }), numberOf)?.parameters).toStrictEqual([1n]);
    }
  });

  it('counts those of the first term and of the organization, up to one more than are sorted', () => {
    const { sql = '', parameters } =
      termCountStatement(query({ policy: 'b', apiID: 'c', orgID: 'acme' }), numberOf) ?? {};
    expect(parameters).toStrictEqual([2n, 3n]);
    expect(sql).toContain('AND org = $2');
    expect(sql).toContain(`LIMIT ${maxSortedRows + 1}`);
  });
});

it('names the terms of a filter in the order in which they are looked up', () => {
  expect(termsIn({ apiID: 'c', policy: 'b', tagsAll: ['a'] })).toStrictEqual(['t:a', 'p:b', 'a:c']);
  expect(termsIn({ orgID: 'acme' })).toStrictEqual([]);
});

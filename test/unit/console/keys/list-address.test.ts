import { describe, expect, it } from 'vitest';
import {
  filterOf,
  listAddress,
  viewAddress,
  viewNames,
  viewOf,
  withFilter,
  withoutFilter,
} from '../../../../src/console/keys/list-address.js';

const parameters = (query: string) => new URLSearchParams(query);
const queryOf = (address: string) => new URL(address, 'http://console.test').searchParams;

describe('the address of a list', () => {
  it('is that of its view, for each view and with other filters', () => {
    for (const name of viewNames) {
      const address = viewAddress(parameters('org=acme&state=DELETED&after=x'), name);
      expect(viewOf(queryOf(address))).toBe(name);
      expect(queryOf(address).get('org')).toBe('acme');
      expect(queryOf(address).has('after')).toBe(false);
    }
    expect(viewOf(parameters('state=ACTIVE,EXPIRED'))).toBeUndefined();
  });

  it('gets several tags, and one value of any other filter', () => {
    expect(withFilter(parameters('tag=a&org=x'), 'tag', 'b')).toBe('/console?tag=a&org=x&tag=b');
    expect(withFilter(parameters('tag=a'), 'tag', 'a')).toBe('/console?tag=a');
    expect(withFilter(parameters('org=x&before=y'), 'org', 'z')).toBe('/console?org=z');
    expect(withoutFilter(parameters('tag=a&tag=b'), 'tag', 'a')).toBe('/console?tag=b');
    expect(listAddress(parameters('org=x'), { org: undefined })).toBe('/console');
  });

  it('is read as a filter without what is not known', () => {
    const now = Date.parse('2026-06-01T12:00:30Z');
    expect(
      filterOf(parameters('name=B&state=ACTIVE,NOTHING&expires=30&unused=90&tag=a&tag=&other=1'), now),
    ).toMatchObject({
      states: ['ACTIVE'],
      expiresBefore: '2026-07-01T12:01:00.000Z',
      unusedSince: '2026-03-03T12:00:00.000Z',
      tagsAll: ['a'],
    });
    expect(filterOf(parameters('state=NOTHING&expires=soon&unused=-1&org='), now)).toEqual({});
  });
});

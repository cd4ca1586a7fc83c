import { describe, expect, it } from 'vitest';
import type { ChangeFragment } from '../../../src/client/client.js';
import { describeChanges } from '../../../src/console/describe-change.js';

type Change = Omit<ChangeFragment, 'segments'>;

const changed = (path: string, before: unknown, after: unknown): Change => ({
  path,
  kind: before === null ? 'ADDED' : after === null ? 'REMOVED' : 'CHANGED',
  before,
  after,
});

describe('a change in words', () => {
  it.each([
    [[changed('rate', 100, 200)], 'Rate', ['100'], ['200']],
    [[changed('rate', 100, 200), changed('per', 60, 1)], 'Rate', ['100 per minute'], ['200 per second']],
    [
      [changed('quotaMax', null, 5), changed('quotaRenewalRate', null, 2_592_000)],
      'Quota',
      ['no limit'],
      ['5 per 30 days'],
    ],
    [[changed('quotaRenewalRate', 3600, 7200)], 'Quota period', ['hour'], ['2 hours']],
    [[changed('isInactive', null, true)], 'State', ['Active'], ['Inactive']],
    [[changed('tags', ['a', 'b'], ['b', 'c'])], 'Tags', ['a'], ['c']],
    [[changed('accessRights["a"]', { label: 'a' }, null)], 'Access', ['a'], []],
    [[changed('accessRights', { a: { apiID: '1' }, b: { apiID: '2' } }, null)], 'Access', ['a', 'b'], []],
    [
      [changed('accessRights["a"]', { apiID: '1' }, null), changed('accessRights["b"]', null, { apiID: '2' })],
      'Access',
      ['a'],
      ['b'],
    ],
    [[changed('accessRights["rate"].limit.rate', 1, -1)], 'Access › Rate › Limit › Rate', ['1'], ['no limit']],
    [[changed('quotaMax', '9223372036854775807', 1)], 'Quota', ['9,223,372,036,854,775,807'], ['1']],
    [[changed('expires', 0, null)], 'Expires', ['never'], []],
    [[changed('somethingNew', 1, { a: 1 })], 'Something new', ['1'], ['{"a":1}']],
  ])('of %j', (changes, label, before, after) => {
    expect(describeChanges(changes)).toEqual([expect.objectContaining({ label, before, after })]);
  });

  it('shows no value of a secret', () => {
    const secret: Change = { path: 'basicAuthData.password', kind: 'SET', before: 'one', after: 'two' };
    expect(describeChanges([secret])).toEqual([
      expect.objectContaining({ label: 'Basic authentication › Password', before: [], after: [], note: 'secret set' }),
    ]);
    expect(describeChanges([{ ...secret, kind: 'CHANGED' }])).toEqual([
      expect.objectContaining({ before: [], after: [], note: 'secret changed' }),
    ]);
  });

  it('states another order of the same items', () => {
    const [line] = describeChanges([changed('applyPolicies', ['a', 'b'], ['b', 'a'])]);
    expect(line).toMatchObject({ before: [], after: [], note: 'other order' });
  });
});

import { describe, expect, it } from 'vitest';
import { meaningsOf } from '../../../../src/console/keys/meanings.js';

const suggestions = {
  organizations: ['acme', 'globex'],
  tags: ['billing', 'mobile', 'b'],
  policies: ['gold'],
  apis: ['billing-api'],
};

describe('what a text in the search field can mean', () => {
  it.each([
    ['  ', []],
    ['BIL', ['name BIL', 'tag billing', 'tag mobile', 'api billing-api', 'tag BIL', 'id BIL']],
    ['b', ['name b', 'org globex', 'tag billing', 'tag mobile', 'tag b', 'api billing-api', 'id b']],
    ['acme', ['name acme', 'org acme', 'tag acme', 'id acme']],
    [` ${'AB'.repeat(32)} `, [`hash ${'ab'.repeat(32)}`]],
  ])('%j is one of %j', (typed, meanings) => {
    expect(meaningsOf(typed, suggestions).map(({ kind, value }) => `${kind} ${value}`)).toEqual(meanings);
  });
});

import { describe, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { errorsOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'one', org_id: 'acme' });

const query = 'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';
const key = { __typename: 'OrgKey', keyHash: hashOf('one') };
const foreign = { __typename: 'Organization', id: 'other' };
const headersOf = async (options: Parameters<typeof t.issue>[1]) => ({
  'x-svc-authorization': (await t.issue('service', options)).secret,
});
const repeat = <T>(count: number, item: T): T[] => Array<T>(count).fill(item);

describe('an operation of which many values fail', () => {
  it.each([
    ['malformed representations', {}, 'INVALID'],
    ['representations of an unknown type', { __typename: 'X' }, 'INVALID'],
    ['representations without a key field', { __typename: 'OrgKey' }, 'INVALID'],
    ['identifiers that are not valid', { __typename: 'OrgKey', id: '%' }, 'INVALID'],
    ['organizations of others', foreign, 'FORBIDDEN'],
  ])('reports 200 %s, and fails as a whole with more', async (_, representation, code) => {
    const headers = await headersOf({ orgID: 'acme' });
    const send = (count: number) =>
      t.graphql(query, { representations: [key, ...repeat(count, representation)] }, headers);

    const few = await send(200);
    expect(few.body['data']).toEqual({ _entities: [{ __typename: 'OrgKey' }, ...repeat(200, null)] });
    expect(errorsOf(few).map(({ path, extensions }) => [path?.[1], extensions.code])).toEqual(
      Array.from({ length: 200 }, (_, index) => [index + 1, code]),
    );

    const many = await send(201);
    expect([many.status, many.body['data']]).toEqual([200, null]);
    const errors = errorsOf(many);
    const last = errors.pop();
    expect([last?.message, last?.extensions.code]).toEqual([
      'The operation has more than 200 errors and was ended. Changes that it made are saved.',
      'TOO_LARGE',
    ]);
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(repeat(200, code));
  });

  it('fails as a whole also if the values fail later', async () => {
    const headers = await headersOf({ scopes: ['update'] });
    const response = await t.graphql(query, { representations: repeat(1_000, key) }, headers);
    expect(response.body['data']).toBeNull();
    expect(errorsOf(response).map(({ extensions }) => extensions.code)).toEqual([
      ...repeat(200, 'FORBIDDEN'),
      'TOO_LARGE',
    ]);
    expect(t.logs()).not.toContain('internal error');
  });
});

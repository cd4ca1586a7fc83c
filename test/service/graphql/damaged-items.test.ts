import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendRequest, dataOf, errorsOf } from '../../support/responses.js';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { hashOf } from '../../support/factories.js';
import { tamper } from '../../support/tamper.js';

let folder: string;
let t: TestApp;
beforeEach(async () => {
  folder = await temporaryFolder();
  t = await startOwnApp({ KEYFRONT_DATA: folder });
  const keys = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ key_id: name, org_id: 'acme', alias: name }));
  await t.importKeys(...keys, { key_id: 'other', org_id: 'globex', alias: 'other' });
});

const damage = (statement: string) => tamper(join(folder, 'keyfront.db'), statement);
const damageKey = () =>
  damage("UPDATE keys SET definition = replace(definition, '}', ',\"rate\":9}') WHERE alias = 'c'");
const failures = (response: TestResponse) =>
  errorsOf(response).map(({ message, path, extensions: { code } }) => [path?.join('.'), code, message]);
const internal = (path: string) => [path, 'INTERNAL', 'Internal error.'];

interface RESTPage {
  readonly keys: readonly { readonly key: string }[];
  readonly errors?: readonly object[];
  readonly next?: string;
}

interface BulkItem {
  readonly keyHash: string;
}

interface List {
  readonly totalCount: number;
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly keyID: string } | null }[];
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
}

const list = (args: string) =>
  t.graphql(`{ orgKeys(orderBy: ALIAS, ${args}) {
    totalCount edges { cursor node { keyID } } pageInfo { endCursor hasNextPage } } }`);
const listIn = ({ body }: TestResponse) => (body['data'] as { orgKeys: List }).orgKeys;
const namesIn = (response: TestResponse) => listIn(response).edges.map(({ node }) => node?.keyID ?? null);

describe('a key that fails its integrity check', () => {
  it('is null in its page, with its error, its cursor and its place', async () => {
    damageKey();
    const response = await list('filter: { orgID: "acme" }');
    expect(failures(response)).toEqual([internal('orgKeys.edges.2.node')]);
    expect(namesIn(response)).toEqual(['a', 'b', null, 'd', 'e']);
    expect(listIn(response).totalCount).toBe(5);
    const backwards = await list('filter: { orgID: "acme" }, last: 4');
    expect([failures(backwards), namesIn(backwards)]).toEqual([
      [internal('orgKeys.edges.1.node')],
      ['b', null, 'd', 'e'],
    ]);
  });

  it('does not stop paging, in either direction, one key at a time', async () => {
    damageKey();
    const forward: (string | null)[] = [];
    for (let after = 'null', more = true; more;) {
      const response = await list(`first: 1, after: ${after}`);
      forward.push(...namesIn(response));
      const { pageInfo } = listIn(response);
      [after, more] = [JSON.stringify(pageInfo.endCursor), pageInfo.hasNextPage];
    }
    expect(forward).toEqual(['a', 'b', null, 'd', 'e', 'other']);
  });

  it('is named in a page of REST, and does not stop paging', async () => {
    damageKey();
    const names: string[] = [];
    const found: object[] = [];
    for (let after = '', isLast = false; !isLast;) {
      const { status, body } = await sendRequest(t, 'GET', `/svc/org/keys?alias_prefix=&org_id=acme&limit=2${after}`);
      const { keys, errors = [], next } = body as unknown as RESTPage;
      expect(status).toBe(200);
      names.push(...keys.map(({ key }) => key));
      found.push(...errors);
      after = `&after=${next}`;
      isLast = next === undefined;
    }
    expect(names.toSorted()).toEqual(['a', 'b', 'd', 'e']);
    expect(found).toEqual([{ key_hash: hashOf('c'), code: 'INTERNAL', message: 'Internal error.' }]);
    expect(t.logs()).toContain('integrity check');
  });

  it.each([true, false])('fails alone in a bulk change (dryRun: %s), also when it is repeated', async (dryRun) => {
    damageKey();
    const query = `mutation { updateOrgKeys(filter: { orgID: "acme" }, patch: { tags: ["t"] }, dryRun: ${dryRun}, idempotencyKey: "k") {
      items { keyHash orgKey { keyID } change { changed } error { code message } } } }`;
    const first = dataOf<{ items: BulkItem[] }>(await t.graphql(query)).items;
    const byHash = new Map(first.map((item) => [item.keyHash, item]));
    expect([...byHash.keys()].toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'].map(hashOf).toSorted());
    expect(byHash.get(hashOf('c'))).toEqual({
      keyHash: hashOf('c'),
      orgKey: null,
      change: null,
      error: { code: 'INTERNAL', message: 'Internal error.' },
    });
    expect(byHash.get(hashOf('a'))).toMatchObject({ orgKey: { keyID: 'a' }, change: { changed: true }, error: null });
    expect(dataOf<{ items: BulkItem[] }>(await t.graphql(query)).items).toEqual(first);
  });

  it('fails alone among the keys of several organizations, and among entities', async () => {
    damageKey();
    const organizations = await t.graphql(
      `{ _entities(representations: [{ __typename: "Organization", id: "acme" }, { __typename: "Organization", id: "globex" }]) {
        ... on Organization { id orgKeys(orderBy: ALIAS) { edges { node { keyID } } } } } }`,
    );
    expect(failures(organizations)).toEqual([internal('_entities.0.orgKeys.edges.2.node')]);
    expect(organizations.text).toContain('{"node":{"keyID":"other"}}');
    const representations = ['a', 'b', 'c', 'd', 'nothing'].map((keyID) => ({
      __typename: 'OrgKey',
      keyHash: hashOf(keyID),
    }));
    const keys = await t.graphql(
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on OrgKey { orgID version } } }',
      { r: representations },
    );
    expect(failures(keys)).toEqual([internal('_entities.2')]);
    const found = { orgID: 'acme', version: 1 };
    expect(keys.body['data']).toEqual({ _entities: [found, found, null, found, null] });
  });
});

describe('a history that fails its integrity check', () => {
  it('is null beside the other fields of its key, and beside other histories', async () => {
    await t.update('b', { alias: 'b', quota_max: 5 });
    damage("UPDATE history SET reason = 'forged' WHERE id = (SELECT max(id) FROM history)");
    const response = await t.graphql(
      '{ orgKeys(filter: { orgID: "acme" }, orderBy: ALIAS, first: 3) { edges { node { version history(last: 1) { edges { node { version } } } } } } }',
    );
    expect(failures(response)).toEqual([internal('orgKeys.edges.1.node.history')]);
    const history = { edges: [{ node: { version: 1 } }] };
    expect(listIn(response).edges).toEqual([
      { node: { version: 1, history } },
      { node: { version: 2, history: null } },
      { node: { version: 1, history } },
    ]);
  });

  it('is null with the error of its arguments, and the key has its other fields', async () => {
    const response = await t.graphql(
      '{ orgKey(by: { keyID: "a" }) { version history(first: -1) { edges { cursor } } } }',
    );
    expect(errorsOf(response).map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['orgKey', 'history'], 'INVALID'],
    ]);
    expect(response.body['data']).toEqual({ orgKey: { version: 1, history: null } });
  });
});

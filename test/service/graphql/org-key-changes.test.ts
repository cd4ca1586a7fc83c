import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { aChange, aKey, hashOf, rowIDOf } from '../../support/factories.js';
import { temporaryFolder } from '../../support/folder.js';
import { codeOf, dataOf, errorsOf, issuesOf, sendRequest } from '../../support/responses.js';
import { tamper } from '../../support/tamper.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

interface Page {
  readonly edges: readonly {
    readonly cursor: string;
    readonly node: {
      readonly cursor: string;
      readonly keyHash: string | null;
      readonly entry?: { readonly version: number; readonly operation: string } | null;
      readonly notice?: { readonly kind: string };
      readonly key: { readonly keyID: string } | null;
    };
  }[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

const query = `query ($orgID: String, $first: Int, $after: String, $includeDeleted: Boolean) {
  orgKeyChanges(orgID: $orgID, first: $first, after: $after) {
    edges { cursor node { cursor
      ... on OrgKeyChanged { keyHash entry { version operation } key(includeDeleted: $includeDeleted) { keyID } }
      ... on OrgKeyNoticed { keyHash notice { kind } key(includeDeleted: $includeDeleted) { keyID } } } }
    pageInfo { endCursor hasNextPage } } }`;
const ask = (variables: object = {}, headers = {}) => t.graphql(query, variables, headers);
const names = new Map(['k1', 'k2'].map((name) => [hashOf(name), name]));
const namesIn = ({ edges }: Page) =>
  edges.map(({ node }) => `${names.get(node.keyHash ?? '')} ${node.entry?.version ?? node.notice?.kind}`);
const read = async (variables: object = {}, headers = {}) => dataOf<Page>(await ask(variables, headers));
const list = async (variables: object = {}, headers = {}) => namesIn(await read(variables, headers));
async function listAll(variables: object): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null, hasNext = true; hasNext;) {
    const page: Page = await read({ ...variables, after });
    found.push(...namesIn(page));
    ({ endCursor: after, hasNextPage: hasNext } = page.pageInfo);
  }
  return found;
}

const changes = async () => {
  await t.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'globex' });
  await t.update('k1', { alias: 'One' });
  await t.update('k2', { alias: 'Two' });
  await t.update('k1', { alias: 'Three' });
};
/** After `changes`. Keys of one import are in the order of their hashes. */
const all = ['k1 3', 'k2 2', 'k1 2', 'k1 1', 'k2 1'];

describe('orgKeyChanges', () => {
  it('lists every change of all keys, newest first, page after page', async () => {
    expect(await read()).toEqual({ edges: [], pageInfo: { endCursor: null, hasNextPage: false } });
    await changes();
    const listed = await list();
    expect([listed.slice(0, 3), listed.slice(3).toSorted()]).toEqual([all.slice(0, 3), all.slice(3).toSorted()]);
    for (const first of [1, 2, 5]) expect(await listAll({ first })).toEqual(listed);
    expect((await read({ first: 5 })).pageInfo.hasNextPage).toBe(false);
    expect((await read({ first: 4 })).pageInfo.hasNextPage).toBe(true);
    expect(await read({ first: 0 })).toMatchObject({ edges: [], pageInfo: { hasNextPage: true } });
    const { edges } = await read();
    expect(edges.map(({ node }) => node.cursor)).toEqual(edges.map(({ cursor }) => cursor));
  });

  it('has the cursors of orgKeyChanged', async () => {
    await changes();
    const { edges } = await read({ first: 2 });
    const following = `subscription { orgKeyChanged(after: "${edges[1]?.cursor}") { ... on OrgKeyChanged { keyHash entry { version } } } }`;
    const response = await t.post({ query: following }, { accept: 'text/event-stream' });
    expect(response.text).toContain(`"keyHash":"${hashOf('k1')}","entry":{"version":3}`);
  });

  it('has notices, and the keys as they are now, also deleted ones on request', async () => {
    await changes();
    await recordExpiryNotices(t.app.services, [7]);
    await t.update('k2', { expires: Math.floor(t.clock.now.getTime() / 1000) + 7 * 86_400 + 30 });
    t.clock.now = new Date(t.clock.now.getTime() + 60_000);
    await recordExpiryNotices(t.app.services, [7]);
    await sendRequest(t, 'DELETE', '/svc/org/keys/k2');
    const keysIn = ({ edges }: Page) =>
      edges.slice(0, 2).map(({ node: { entry, notice, key } }) => [entry?.operation ?? notice?.kind, key?.keyID]);
    expect(keysIn(await read())).toEqual([
      ['DELETE', undefined],
      ['EXPIRING', undefined],
    ]);
    expect(keysIn(await read({ includeDeleted: true }))).toEqual([
      ['DELETE', 'k2'],
      ['EXPIRING', 'k2'],
    ]);
  });

  it('shows a caller of one organization its own changes only, and a foreign one as without any', async () => {
    await changes();
    const { secret } = await t.issue('service', { orgID: 'globex' });
    const bound = { 'x-svc-authorization': secret };
    expect(await list({}, bound)).toEqual(['k2 2', 'k2 1']);
    expect(await list({ orgID: 'globex' }, bound)).toEqual(['k2 2', 'k2 1']);
    expect(await read({ orgID: 'acme' }, bound)).toEqual({
      edges: [],
      pageInfo: { endCursor: null, hasNextPage: false },
    });
    expect(await list({ orgID: 'acme' })).toEqual(['k1 3', 'k1 2', 'k1 1']);
    // The cursor of a change of another organization is a place, and shows nothing of it.
    const [newest] = (await read()).edges;
    expect(await list({ after: newest?.cursor }, bound)).toEqual(['k2 2', 'k2 1']);
    const { secret: writer } = await t.issue('service', { scopes: ['update'] });
    expect(codeOf(await ask({}, { 'x-svc-authorization': writer }))).toBe('FORBIDDEN');
  });

  it('finds the few changes of an organization among many, in pages that can be empty', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const many = Array.from({ length: 10_500 }, (_, index) => aChange(aKey(`other ${index}`, { orgID: 'globex' })));
    for (let from = 0; from < many.length; from += 500) await t.app.services.store.add(many.slice(from, from + 500));
    const page = await read({ orgID: 'acme' });
    expect(page).toMatchObject({ edges: [], pageInfo: { hasNextPage: true, endCursor: expect.any(String) as string } });
    expect(await listAll({ orgID: 'acme' })).toEqual(['k1 1']);
  });

  it('names each argument that is not valid', async () => {
    const issues = async (args: string) => issuesOf(await t.graphql(`{ orgKeyChanges(${args}) { edges { cursor } } }`));
    expect(await issues('first: -1')).toEqual(['first OUT_OF_RANGE']);
    expect(await issues('last: 2')).toEqual(['last MALFORMED_ARGUMENT']);
    expect(await issues('before: "x"')).toEqual(['before MALFORMED_ARGUMENT']);
    expect(await issues('after: "x"')).toEqual(['after MALFORMED_ARGUMENT']);
    expect(await issues(`after: "${Buffer.from('0.9999.').toString('base64url')}"`)).toEqual([
      'after MALFORMED_ARGUMENT',
    ]);
  });

  it('returns a change that fails its integrity check as an error, and all others, also after a restart', async () => {
    const folder = await temporaryFolder();
    t = await startOwnApp({ KEYFRONT_DATA: folder });
    await changes();
    await t.close();
    tamper(
      join(folder, 'keyfront.db'),
      `UPDATE history SET reason = 'forged' WHERE version = 2 AND key = ${rowIDOf(hashOf('k1'))}`,
    );
    t = await startOwnApp({ KEYFRONT_DATA: folder });
    const response = await ask();
    expect(errorsOf(response).map(({ path, extensions: { code } }) => [path?.join('.'), code])).toEqual(
      ['keyHash', 'entry', 'key'].map((field) => [`orgKeyChanges.edges.2.node.${field}`, 'INTERNAL']),
    );
    const { orgKeyChanges } = response.body['data'] as { orgKeyChanges: Page };
    expect(namesIn(orgKeyChanges).slice(0, 3)).toEqual(['k1 3', 'k2 2', 'undefined undefined']);
  });
});

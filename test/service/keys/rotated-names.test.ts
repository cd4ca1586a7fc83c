import { beforeEach, expect, it } from 'vitest';
import { retireIdentifiers } from '../../../src/keys/rotate.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
let place: EnginePlace;
/** The identifiers of the key: its first, which has retired, the one that is going to retire, and the present one. */
let names: { first: string; old: string; current: string };
const beginning = Buffer.from('0.0.').toString('base64url');
const day = 86_400_000;

const rotate = async (args: string) => {
  const { keyID } = dataOf<{ keyID: string }>(await t.graphql(`mutation { rotateOrgKey(${args}) { keyID } }`));
  return keyID;
};

/** Returns the hashes of the keys that a request has found. */
type Find = (condition: string, headers?: Record<string, string>) => Promise<readonly string[]>;

interface Edges {
  readonly edges: readonly { readonly node: { readonly keyHash: string } }[];
}

const hashesIn = ({ edges }: Edges) => edges.map(({ node }) => node.keyHash);
const page = '(first: 10, filter: { FILTER }) { edges { node { keyHash } } }';
const ask = async <Data>(query: string, filter: string, headers?: Record<string, string>) =>
  dataOf<Data>(await t.graphql(query.replaceAll('FILTER', filter), {}, headers));

/** Every place that takes a filter. */
const places: Readonly<Record<string, Find>> = {
  orgKeys: async (filter, headers) => hashesIn(await ask(`{ orgKeys${page} }`, filter, headers)),
  'orgKeys in an order, backwards': async (filter, headers) => {
    const query = '{ orgKeys(last: 10, orderBy: LAST_UPDATED, filter: { FILTER }) { edges { node { keyHash } } } }';
    return hashesIn(await ask(query, filter, headers));
  },
  'orgKeys with a term and an organization': async (filter, headers) =>
    hashesIn(await ask(`{ orgKeys${page} }`, `${filter}, tagsAll: ["t"], orgID: "acme"`, headers)),
  totalCount: async (filter, headers) => {
    const found = await ask<{ totalCount: number }>('{ orgKeys(filter: { FILTER }) { totalCount } }', filter, headers);
    return Array.from({ length: found.totalCount }, () => hashOf('k1'));
  },
  'orgKeys of an organization': async (filter, headers) => {
    const found = await ask<{ orgKeys: Edges }>(`{ organization(id: "acme") { orgKeys${page} } }`, filter, headers);
    return hashesIn(found.orgKeys);
  },
  'totalCount of an organization': async (filter, headers) => {
    const query = '{ organization(id: "acme") { orgKeys(filter: { FILTER }) { totalCount } } }';
    const found = await ask<{ orgKeys: { totalCount: number } }>(query, filter, headers);
    return Array.from({ length: found.orgKeys.totalCount }, () => hashOf('k1'));
  },
  updateOrgKeys: async (filter, headers) => {
    const query =
      'mutation { updateOrgKeys(filter: { FILTER }, patch: { alias: "x" }, dryRun: true) { items { keyHash } } }';
    const { items } = await ask<{ items: { keyHash: string }[] }>(query, filter, headers);
    return items.map(({ keyHash }) => keyHash);
  },
};

const byID = (...keyIDs: string[]) => `keyIDs: ${JSON.stringify(keyIDs)}`;
const byHash = (...keyIDs: string[]) => `keyHashes: ${JSON.stringify(keyIDs.map(hashOf))}`;

describeEngines('a rotated key is named by the identifiers that it has', (engine) => {
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys({ key_id: 'k2', org_id: 'acme' }, { key_id: 'k1', org_id: 'acme', tags: ['t'] });
    const old = await rotate('keyID: "k1", overlap: 0');
    names = { first: 'k1', old, current: await rotate(`keyID: "${old}"`) };
  });

  it.each(Object.entries(places))('in %s', async (_, find) => {
    const { first, old, current } = names;
    const key = [hashOf('k1')];
    // During the rotation.
    expect(await find(byID(old))).toStrictEqual(key);
    expect(await find(byID(current))).toStrictEqual(key);
    expect(await find(byID(old, current, first, 'unknown'))).toStrictEqual(key);
    expect(await find(byID(first))).toStrictEqual([]);
    expect(await find(byHash(first))).toStrictEqual(key);
    expect(await find(byHash(old))).toStrictEqual(key);
    expect(await find(byHash(current))).toStrictEqual(key);
    expect(await find(`${byID(old)}, ${byHash(current)}`)).toStrictEqual(key);
    expect(await find(`${byID(old)}, ${byHash('k2')}`)).toStrictEqual([]);
    // From the time of the retirement, whether or not it is recorded.
    t.clock.now = new Date(t.clock.now.getTime() + day - 1);
    expect(await find(byID(old))).toStrictEqual(key);
    t.clock.now = new Date(t.clock.now.getTime() + 1);
    const isRetired = async () => {
      expect(await find(byID(old))).toStrictEqual([]);
      expect(await find(byHash(old))).toStrictEqual([]);
      expect(await find(byID(first))).toStrictEqual([]);
      expect(await find(byID(current))).toStrictEqual(key);
      expect(await find(byHash(first))).toStrictEqual(key);
      expect(await find(byHash(current))).toStrictEqual(key);
    };
    await isRetired();
    expect(await retireIdentifiers(t.app.services, () => undefined)).toBe(1);
    await isRetired();
  });

  it.each(Object.entries(places))('in %s: after a cancellation, and not to another organization', async (_, find) => {
    const { old, current } = names;
    const { secret } = await t.issue('service', { orgID: 'globex' });
    const foreign = { 'x-svc-authorization': secret };
    const isFound = async (condition: string) => {
      const response = await find(condition, foreign).catch(() => []);
      expect(response).toStrictEqual([]);
      return (await find(condition)).length > 0;
    };
    expect(await isFound(byID(old))).toBe(true);
    expect(await isFound(byHash(current))).toBe(true);
    dataOf(await t.graphql(`mutation { cancelKeyRotation(keyID: "${old}") { version } }`));
    expect(await isFound(byID(current))).toBe(false);
    expect(await isFound(byHash(current))).toBe(false);
    expect(await isFound(byID(old))).toBe(true);
  });

  it('in the cursor of a list of several keys', async () => {
    const filter = byID(names.old, 'k2', names.current);
    const seen: string[] = [];
    for (let after: string | null = null, hasNextPage = true; hasNextPage;) {
      const { edges, pageInfo }: Edges & { pageInfo: { endCursor: string; hasNextPage: boolean } } = dataOf(
        await t.graphql(
          `query ($after: String) { orgKeys(first: 1, after: $after, filter: { ${filter} }) {
            edges { node { keyHash } } pageInfo { endCursor hasNextPage } } }`,
          { after },
        ),
      );
      seen.push(...hashesIn({ edges }));
      ({ endCursor: after, hasNextPage } = pageInfo);
    }
    expect(seen).toStrictEqual([hashOf('k1'), hashOf('k2')].toSorted());
  });

  it('in orgKeyChanged', async () => {
    const { first, old, current } = names;
    const follow = (args: string, headers?: Record<string, string>) =>
      t.graphql(
        `subscription { orgKeyChanged(after: "${beginning}", ${args}) {
          ... on OrgKeyChanged { keyHash entry { version } } } }`,
        {},
        headers,
      );
    const firstChange = { keyHash: hashOf('k1'), entry: { version: 1 } };
    for (const args of [
      `keyID: "${old}"`,
      `keyID: "${current}"`,
      `keyHash: "${hashOf(first)}"`,
      `keyHash: "${hashOf(old)}"`,
      `keyHash: "${hashOf(current)}"`,
    ]) {
      expect(dataOf(await follow(args)), args).toStrictEqual(firstChange);
    }
    expect(codeOf(await follow(`keyID: "${first}"`))).toBe('NOT_FOUND');
    expect(codeOf(await follow('keyID: "unknown"'))).toBe('NOT_FOUND');
    expect(issuesOf(await follow('keyID: "k1", keyHash: "00"'))).toStrictEqual(['keyID MALFORMED_ARGUMENT']);
    expect(issuesOf(await follow('keyID: ""'))).toStrictEqual(['keyID MALFORMED_KEY_ID']);
    const { secret } = await t.issue('service', { orgID: 'globex' });
    expect(codeOf(await follow(`keyID: "${old}"`, { 'x-svc-authorization': secret }))).toBe('NOT_FOUND');
    dataOf(await t.graphql(`mutation { deleteOrgKey(keyID: "${old}") { version } }`));
    expect(dataOf(await follow(`keyID: "${old}"`))).toStrictEqual(firstChange);
    t.clock.now = new Date(t.clock.now.getTime() + day);
    expect(codeOf(await follow(`keyID: "${old}"`))).toBe('NOT_FOUND');
    expect(dataOf(await follow(`keyHash: "${hashOf(current)}"`))).toStrictEqual(firstChange);
  });

  it('fails the list, as any damaged index, when a row of the table of identifiers was added', async () => {
    await place.tamper(
      `INSERT INTO identifiers (key_hash, key)
       SELECT ${place.bytes(hashOf('attacker'))}, id FROM keys WHERE key_hash = ${place.bytes(hashOf('k2'))}`,
    );
    expect(codeOf(await t.graphql(`{ orgKeys(filter: { ${byID('attacker')} }) { edges { cursor } } }`))).toBe(
      'INTERNAL',
    );
    expect(codeOf(await t.graphql(`subscription { orgKeyChanged(keyID: "attacker") { cursor } }`))).toBe('NOT_FOUND');
  });
});

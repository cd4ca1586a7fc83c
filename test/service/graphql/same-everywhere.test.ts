import { getNamedType, isLeafType, isObjectType, isRequiredArgument, type GraphQLNamedType } from 'graphql';
import { beforeEach, expect, it } from 'vitest';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { newestCursor } from '../../support/feed.js';
import { dataOf } from '../../support/responses.js';

type Node = Readonly<Record<string, unknown>>;

/** Selects every field that can be selected without an argument. */
function everyFieldOf(type: GraphQLNamedType | undefined, without: readonly string[] = []): string {
  if (!isObjectType(type)) return '__typename';
  const fields = Object.values(type.getFields()).filter(
    ({ name, args }) => !without.includes(name) && !args.some(isRequiredArgument),
  );
  return fields
    .map((field) => {
      const of = getNamedType(field.type);
      return isLeafType(of) ? field.name : `${field.name} { ${everyFieldOf(of)} }`;
    })
    .join(' ');
}

// Fields are read for all keys and organizations of a response together.
const ofKey = everyFieldOf(servedSchema.getType('OrgKey'), ['organization']);
const ofOrg = `${everyFieldOf(servedSchema.getType('Organization'), ['orgKeys'])} orgKeys(first: 3) { totalCount edges { node { keyHash } } }`;

describeEngines('every field of a key and of an organization', (engine) => {
  let place: EnginePlace;
  let t: TestApp;
  let start: string;

  const nodesOf = async (query: string) => {
    const { body } = await t.graphql(query);
    expect(body['errors']).toBeUndefined();
    return body['data'] as Record<string, Node>;
  };
  const listed = async <Item extends Node>(query: string) => {
    const { edges } = dataOf<{ edges: readonly { node: Item }[] }>(await t.graphql(`{ ${query} }`));
    return edges.map(({ node }) => node);
  };
  const change = async (field: string, secret = t.service) =>
    dataOf(await t.graphql(`mutation { ${field} }`, undefined, { 'x-svc-authorization': secret }));

  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    const sweep = () => recordExpiryNotices(t.app.services, [1]);
    await sweep();
    const expires = t.clock.now.getTime() / 1000 + 2 * 86_400;
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', quota_max: 5, tags: ['web'], hmac_string: 'any secret', expires },
      { key_id: 'k2', org_id: 'acme', access_rights: { a: { allowed_urls: [{ url: '/a', methods: ['GET'] }] } } },
      { key_id: 'k3', org_id: 'globex' },
    );
    start = await newestCursor(t, place);
    t.clock.now = new Date(t.clock.now.getTime() + 1.5 * 86_400_000);
    await sweep();
    await change('consumeOrgQuota(keyID: "k1", amount: 3) { allowed }');
    await change('patchOrgKey(keyID: "k1", patch: { alias: "changed" }) { version }');
    await change('rotateOrgKey(keyID: "k1") { version }');
    for (const alias of ['one', 'two']) {
      await change(`proposeKeyChange(keyID: "k3", change: { patch: { patch: { alias: "${alias}" } } }) { id }`);
      await change(`patchOrgKey(keyID: "k3", patch: { alias: "${alias} now" }) { version }`);
    }
    await t.app.flushUses();
    const cursor = await newestCursor(t, place);
    const { secret } = await t.issue('service', { scopes: ['read', 'deliver'] });
    await change(`acknowledgeChanges(gateway: "edge", cursor: "${cursor}") { isNew }`, secret);
  });

  it('has the same value wherever an operation selects the key, also several times', async () => {
    const keys = await listed(`orgKeys { edges { node { ${ofKey} } } }`);
    const byHash = new Map(keys.map((key) => [key['keyHash'], key]));
    expect(keys).toHaveLength(3);
    expect(keys).toContainEqual(
      expect.objectContaining({
        usage: expect.objectContaining({ allowed: 3 }) as unknown,
        notices: [expect.anything()],
      }),
    );
    const expectSame = (found: readonly Node[], count: number) => {
      expect(found).toHaveLength(count);
      expect(found).toEqual(found.map(({ keyHash }) => byHash.get(keyHash)));
    };

    for (const { keyHash, id } of keys) {
      const one = `orgKey(by: { keyHash: "${String(keyHash)}" }) { ${ofKey} }`;
      const node = `node(id: "${String(id)}") { ... on OrgKey { ${ofKey} } }`;
      expectSame(Object.values(await nodesOf(`{ a: ${one} b: ${one} ${node} }`)), 3);
    }
    // Different members, so that equal representations are not executed once.
    const representations = [...keys, ...keys].map(({ keyHash }, n) => ({ __typename: 'OrgKey', keyHash, n }));
    const entities = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on OrgKey { ${ofKey} } } }`;
    expectSame(dataOf<Node[]>(await t.graphql(entities, { of: representations })), 6);
    const proposals = await listed<{ orgKey: Node }>(`keyProposals { edges { node { orgKey { ${ofKey} } } } }`);
    expectSame(
      proposals.map(({ orgKey }) => orgKey),
      2,
    );
    const changes = await listed<{ key: Node }>(`orgKeyChanges(first: 20, after: "${start}") { edges { node {
      ... on OrgKeyChanged { key { ${ofKey} } } ... on OrgKeyNoticed { key { ${ofKey} } } } } }`);
    expectSame(
      changes.map(({ key }) => key),
      2,
    );
  });

  it('has the same value wherever an operation selects the organization, also several times', async () => {
    const organizations = await listed(`organizations(first: 10) { edges { node { ${ofOrg} } } }`);
    expect(organizations).toMatchObject([
      { id: 'acme', quotaSummary: { used: 3 }, keyUsage: { allowed: 3 }, orgKeys: { totalCount: 2 } },
      { id: 'globex' },
    ]);
    const byID = new Map(organizations.map((one) => [one['id'], one]));
    for (const [id, same] of byID) {
      const one = `organization(id: "${String(id)}") { ${ofOrg} }`;
      expect(await nodesOf(`{ a: ${one} b: ${one} }`)).toEqual({ a: same, b: same });
    }
    const keys = await listed<{ orgID: string; organization: Node }>(
      `orgKeys(first: 10) { edges { node { orgID organization { ${ofOrg} } } } }`,
    );
    expect(keys).toEqual(keys.map(({ orgID }) => ({ orgID, organization: byID.get(orgID) })));
  });
});

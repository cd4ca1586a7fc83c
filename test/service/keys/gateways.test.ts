import { createHash } from 'node:crypto';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Scope } from '../../../src/keys/key.js';
import { nameCursors } from '../../../src/wire/list-cursor.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../../support/engines.js';
import { newestCursor } from '../../support/feed.js';
import { readStream } from '../../support/event-stream.js';
import { hashOf } from '../../support/factories.js';
import { codeOf, dataOf, errorsOf } from '../../support/responses.js';
import { until } from '../../support/until.js';

interface Deployment {
  readonly gateway: string;
  readonly orgID: string | null;
  readonly version: number | null;
  readonly isCurrent: boolean;
}

interface Listed {
  readonly edges: readonly { readonly node: Record<string, unknown> }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const acknowledge = `mutation ($gateway: String!, $cursor: String, $digest: String, $orgID: String) {
  acknowledgeChanges(gateway: $gateway, cursor: $cursor, digest: $digest, orgID: $orgID) { isNew } }`;
const forget = `mutation ($gateway: String!, $orgID: String) { forgetGateway(gateway: $gateway, orgID: $orgID) { gateway } }`;
const list = `query ($orgID: String, $first: Int, $after: String) { gateways(orgID: $orgID, first: $first, after: $after) {
  edges { node { name orgID lag lastSeen cursor digest } } pageInfo { hasNextPage endCursor } } }`;
const deployed = `query ($id: ID!, $names: [String!]) { orgKey(by: { keyID: $id }, includeDeleted: true) {
  deployments(gateways: $names) { edges { node { gateway orgID version isCurrent } } } } }`;
const digestQuery = `query ($cursor: String!, $orgID: String, $after: String) {
  keyDigest(cursor: $cursor, orgID: $orgID, after: $after) { digest keys endCursor } }`;

let t: TestApp;
let place: EnginePlace;
let adapter: Record<string, string>;

const credential = async (options: { readonly scopes?: readonly Scope[]; readonly orgID?: string }) => ({
  'x-svc-authorization': (await t.issue('service', options)).secret,
});
const cursorNow = () => newestCursor(t, place);
const ack = (variables: object, headers = adapter) => t.graphql(acknowledge, variables, headers);
const ackNow = async (gateway: string, others: object = {}, headers = adapter) =>
  dataOf(await ack({ gateway, cursor: await cursorNow(), ...others }, headers));
const deploymentsOf = async (id: string, variables: object = {}, headers?: Record<string, string>) => {
  const key = dataOf<{ deployments: { edges: { node: Deployment }[] } } | null>(
    await t.graphql(deployed, { id, ...variables }, headers),
  );
  return key?.deployments.edges.map(({ node }) => node);
};
const gateways = async (variables: object = {}, headers?: Record<string, string>) =>
  dataOf<Listed>(await t.graphql(list, variables, headers));
const change = async (keyID: string) =>
  dataOf(await t.graphql('mutation ($id: ID!) { deleteOrgKey(keyID: $id) { orgKey { version } } }', { id: keyID }));
const digestOf = (keys: Readonly<Record<string, number>>) =>
  Object.entries(keys)
    .map(([id, version]) =>
      createHash('sha256')
        .update(`${hashOf(id)}:${version}`)
        .digest('hex'),
    )
    .reduce((sum, hex) => (sum + BigInt(`0x${hex}`)) % 2n ** 256n, 0n)
    .toString(16)
    .padStart(64, '0');

describeEngines('what gateways have', (engine) => {
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    adapter = await credential({ scopes: ['read', 'deliver'] });
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme' },
      { key_id: 'k2', org_id: 'acme' },
      { key_id: 'g1', org_id: 'globex' },
    );
  });

  it('is current from the acknowledgement of the newest change on, and no longer after the next change', async () => {
    expect(await deploymentsOf('k1')).toEqual([]);
    const before = await cursorNow();
    expect(await ackNow('edge-1')).toEqual({ isNew: true });
    const current = { gateway: 'edge-1', orgID: null, version: 1, isCurrent: true };
    expect(await deploymentsOf('k1')).toEqual([current]);

    await change('k1');
    expect(await deploymentsOf('k1')).toEqual([{ ...current, isCurrent: false }]);
    expect(await deploymentsOf('k2')).toEqual([current]);
    expect(dataOf(await ack({ gateway: 'edge-1', cursor: before }))).toEqual({ isNew: false });
    expect(await deploymentsOf('k1')).toEqual([{ ...current, isCurrent: false }]);
    await ackNow('edge-1');
    expect(await deploymentsOf('k1')).toEqual([{ ...current, version: 2 }]);
    // An earlier cursor is legitimate, and takes back what was current.
    await ack({ gateway: 'edge-1', cursor: before });
    expect(await deploymentsOf('k1')).toEqual([{ ...current, isCurrent: false }]);
    // So does an adapter that reads all keys anew: nothing is known of its copy.
    await ack({ gateway: 'edge-1' });
    expect(await deploymentsOf('k2')).toEqual([{ ...current, version: null, isCurrent: false }]);
  });

  it('lists gateways in pages, with their lag in seconds', async () => {
    await ackNow('b');
    await ackNow('a', { orgID: 'globex' });
    await ackNow('a', { orgID: 'acme', digest: 'ab'.repeat(32) });
    await ackNow('a');
    await change('k1');
    t.clock.now = new Date('2026-01-31T12:01:30Z');
    const { edges, pageInfo } = await gateways({ first: 3 });
    const lastSeen = '2026-01-31T12:00:00.000Z';
    const cursor = expect.any(String) as unknown;
    expect(edges.map(({ node }) => node)).toEqual([
      { name: 'a', orgID: null, lag: 90, lastSeen, cursor, digest: null },
      { name: 'a', orgID: 'acme', lag: 90, lastSeen, cursor, digest: 'ab'.repeat(32) },
      { name: 'a', orgID: 'globex', lag: 0, lastSeen, cursor, digest: null },
    ]);
    expect(pageInfo.hasNextPage).toBe(true);
    const second = await gateways({ first: 3, after: pageInfo.endCursor });
    expect(second.edges.map(({ node }) => node['name'])).toEqual(['b']);
    expect(second.pageInfo.hasNextPage).toBe(false);
    expect(await t.app.services.gateways.maxLag(t.clock.now)).toBe(90);

    for (const name of ['a', 'b']) await ackNow(name);
    await ackNow('a', { orgID: 'acme' });
    expect((await gateways()).edges.map(({ node }) => node['lag'])).toEqual([0, 0, 0, 0]);
    await ack({ gateway: 'b' });
    t.clock.now = new Date('2026-01-31T12:02:00Z');
    await ack({ gateway: 'b' });
    // Since it began to read all keys, and not since it said so last.
    expect(await t.app.services.gateways.maxLag(t.clock.now)).toBe(30);
  });

  it('compares a copy by a digest at its cursor, which later changes do not affect', async () => {
    const cursor = await cursorNow();
    const at = async (variables: object, headers?: Record<string, string>) =>
      dataOf(await t.graphql(digestQuery, { cursor, ...variables }, headers));
    const all = { digest: digestOf({ k1: 1, k2: 1, g1: 1 }), keys: 3, endCursor: null };
    // The rows of keys are numbered by their hashes, up to 63 bits.
    const after = nameCursors.encode(String(2n ** 63n - 1n));
    expect(await at({ cursor, after })).toEqual({ digest: '0'.repeat(64), keys: 0, endCursor: null });
    expect(await at({})).toEqual(all);
    await change('k1');
    await t.importKeys({ key_id: 'k3', org_id: 'acme' });
    for (const alias of ['two', 'three']) {
      const patch =
        'mutation ($alias: String) { patchOrgKey(keyID: "k2", patch: { alias: $alias }) { orgKey { version } } }';
      dataOf(await t.graphql(patch, { alias }));
    }
    expect(await at({})).toEqual(all);
    expect(await at({ orgID: 'acme' })).toMatchObject({ digest: digestOf({ k1: 1, k2: 1 }), keys: 2 });
    expect(await at({ cursor: await cursorNow() })).toEqual({
      digest: digestOf({ k2: 3, k3: 1, g1: 1 }),
      keys: 3,
      endCursor: null,
    });
    const acme = await credential({ orgID: 'acme' });
    expect(await at({ cursor: await cursorNow() }, acme)).toMatchObject({ digest: digestOf({ k2: 3, k3: 1 }) });
    expect(codeOf(await t.graphql(digestQuery, { cursor, orgID: 'globex' }, acme))).toBe('FORBIDDEN');
  });

  it('shows and lets an organization acknowledge its own gateways, and those with all keys', async () => {
    const acme = await credential({ orgID: 'acme', scopes: ['read', 'update', 'deliver'] });
    await ackNow('own', {}, acme);
    await ackNow('all');
    await ackNow('other', { orgID: 'globex' });
    const names = async (variables: object, headers?: Record<string, string>) =>
      (await gateways(variables, headers)).edges.map(({ node }) => node['name']);
    expect(await names({}, acme)).toEqual(['all', 'own']);
    expect(await names({ orgID: 'globex' }, acme)).toEqual([]);
    expect(await names({ orgID: 'globex' })).toEqual(['all', 'other']);
    expect((await deploymentsOf('k1', {}, acme))?.map(({ gateway }) => gateway)).toEqual(['all', 'own']);
    expect((await deploymentsOf('g1'))?.map(({ gateway }) => gateway)).toEqual(['all', 'other']);
    expect(await deploymentsOf('g1', {}, acme)).toBeUndefined();
    // Its name is its own, also if a gateway with all keys has it.
    await change('k1');
    await ackNow('all', {}, acme);
    expect(await deploymentsOf('k1', { names: ['all'] })).toMatchObject([
      { orgID: null, isCurrent: false },
      { orgID: 'acme', isCurrent: true },
    ]);
    const reader = await credential({ scopes: ['read'] });
    for (const query of [acknowledge, forget]) {
      expect(codeOf(await t.graphql(query, { gateway: 'other', orgID: 'globex' }, acme))).toBe('FORBIDDEN');
      expect(codeOf(await t.graphql(query, { gateway: 'own' }, reader))).toBe('FORBIDDEN');
    }
    expect(errorsOf(await t.graphql(forget, { gateway: 'other' }, acme))).toMatchObject([
      { message: 'There is no such gateway.', extensions: { code: 'NOT_FOUND' } },
    ]);
  });

  it('rejects names, cursors and digests that are malformed, and changes nothing', async () => {
    const cursor = await cursorNow();
    const otherPlace = await makeOwnPlace(engine);
    const other = await startOwnApp(otherPlace.env);
    await other.importKeys(...Array.from({ length: 9 }, (_, n) => ({ key_id: `o${n}`, org_id: 'acme' })));
    const foreign = await newestCursor(other, otherPlace);
    for (const [variables, path] of [
      [{ gateway: '' }, 'gateway'],
      [{ gateway: 'x'.repeat(65) }, 'gateway'],
      [{ gateway: '../etc' }, 'gateway'],
      [{ gateway: 'a\u0000b' }, 'gateway'],
      [{ gateway: 'x', orgID: ' ' }, 'orgID'],
      [{ gateway: 'x', cursor: 'none' }, 'cursor'],
      [{ gateway: 'x', cursor: 'x'.repeat(100_000) }, 'cursor'],
      [{ gateway: 'x', cursor: foreign }, 'cursor'],
      [{ gateway: 'x', cursor, digest: 'AB'.repeat(32) }, 'digest'],
      [{ gateway: 'x', digest: 'ab'.repeat(32) }, 'digest'],
    ] as const) {
      const response = await ack(variables);
      expect([variables, errorsOf(response)[0]?.extensions]).toMatchObject([
        variables,
        { code: 'INVALID', issues: [{ path }] },
      ]);
    }
    expect((await gateways()).edges).toEqual([]);
    const tooMany = { names: Array.from({ length: 101 }, (_, n) => `n${n}`) };
    expect(codeOf(await t.graphql(deployed, { id: 'k1', ...tooMany }))).toBe('INVALID');
    for (const after of ['x', nameCursors.encode('-5'), nameCursors.encode(String(2n ** 63n))]) {
      expect(codeOf(await t.graphql(digestQuery, { cursor, after }))).toBe('INVALID');
    }
  });

  it('holds at most 1,000 gateways of an organization, and forgets one that is gone', async () => {
    const { gateways: store } = t.app.services;
    const at = t.clock.now;
    for (let n = 0; n < 1_000; n += 1) {
      await store.acknowledge({ orgID: 'acme', name: `g${n}`, cursor: undefined, digest: undefined, at });
    }
    expect(codeOf(await ack({ gateway: 'one-more', orgID: 'acme' }))).toBe('CONFLICT');
    expect(await ackNow('g0', { orgID: 'acme' })).toEqual({ isNew: false });
    expect(await ackNow('one-more', { orgID: 'globex' })).toEqual({ isNew: true });
    expect(dataOf(await t.graphql(forget, { gateway: 'g0', orgID: 'acme' }))).toEqual({ gateway: 'g0' });
    expect(codeOf(await t.graphql(forget, { gateway: 'g0', orgID: 'acme' }))).toBe('NOT_FOUND');
    expect(await ackNow('one-more', { orgID: 'acme' })).toEqual({ isNew: true });
  });

  it('logs the first acknowledgement of a gateway, each rejection, and that it is forgotten', async () => {
    await ackNow('edge-1');
    await ackNow('edge-1');
    await ack({ gateway: 'edge-1', cursor: 'none' });
    await t.graphql(forget, { gateway: 'edge-1' });
    const lines = t
      .logLines('Gateway')
      .concat(t.logLines('acknowledgeChanges'))
      .filter(({ level, event }) => level === 'info' && (event === 'change' || event === 'delivery'))
      .map(({ operation, verdict, code, gateway }) => [operation, verdict, gateway ?? code]);
    expect(lines).toEqual([
      ['forgetGateway', 'accepted', 'edge-1'],
      ['acknowledgeChanges', 'accepted', 'edge-1'],
      ['acknowledgeChanges', 'rejected', 'INVALID'],
    ]);
  });

  it('streams what gateways have of a key until all of them have its newest change', async () => {
    await ackNow('a');
    await ackNow('b');
    await change('k1');
    const subscription =
      'subscription ($id: ID!, $names: [String!]!) { orgKeyDeployed(keyID: $id, gateways: $names) { gateway isCurrent } }';
    const body = JSON.stringify({ query: subscription, variables: { id: 'k1', names: ['a', 'b'] } });
    const headers = { ...t.credentials, 'content-type': 'application/json', accept: 'text/event-stream' };
    const events = readStream(
      await t.app.fetch(new Request('http://keyfront.test/graphql', { method: 'POST', headers, body })),
    );
    const states = async () =>
      ((await events.next())?.data as { orgKeyDeployed: Deployment[] } | undefined)?.orgKeyDeployed.map(
        ({ isCurrent }) => isCurrent,
      );
    const reads = vi.spyOn(t.app.services.gateways, 'deployments');
    expect(await states()).toEqual([false, false]);
    // Nothing comes as long as nothing changes.
    const changed = states();
    const before = reads.mock.calls.length;
    await until(() => reads.mock.calls.length > before, 'another read');
    await ackNow('b');
    expect(await changed).toEqual([false, true]);
    await ackNow('a');
    expect(await states()).toEqual([true, true]);
    expect(await events.next()).toBeUndefined();
  });
});

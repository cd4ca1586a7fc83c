import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeOf, dataOf } from '../../support/responses.js';
import { startApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, postgresAndRedis, type EnginePlace, type TestEngine } from '../../support/engines.js';

const path = '/svc/org/keys/k1';

let place: EnginePlace;
let reader: TestApp;
let writer: TestApp;

function onEach({ make }: TestEngine, env: Record<string, string> = {}): void {
  beforeEach(async () => {
    place = await make();
    reader = await startApp({ ...place.env, ...env });
    writer = await startApp({ ...place.env, ...env });
    await writer.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'first', quota_max: 100 });
    await writer.update('k1', { alias: 'second', quota_max: 100 });
  });
  afterEach(async () => {
    await Promise.all([reader.close(), writer.close()]);
    await place.remove();
  });
}

/** Commits a change through another service each time the reader has read a row of a key, before it reads on. */
function changeAfterEachRead(change: () => Promise<unknown>): void {
  const { store } = reader.app.services;
  const original = { ...store };
  const changing = async <Result>(read: Promise<Result>): Promise<Result> => {
    const found = await read;
    await change();
    return found;
  };
  store.find = (keyHash) => changing(original.find(keyHash));
  store.findMany = (keyHashes) => changing(original.findMany(keyHashes));
  store.list = (query) => changing(original.list(query));
}

async function changeAll(): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-svc-authorization': writer.service };
  expect((await writer.send(`${path}/quota`, { method: 'POST', headers, body: '{"amount":7}' })).status).toBe(200);
  expect((await writer.update('k1', { alias: 'third', quota_max: 200 })).status).toBe(200);
}

const fields = `version definition { alias } quota { max used }
  newest: history(last: 1) { edges { node { version } } }
  before: history(last: 1, before: "9") { edges { node { version } } }
  all: history { edges { cursor node { version } } pageInfo { hasNextPage endCursor } }
  later: history(first: 1, after: "2") { edges { node { version } } pageInfo { hasNextPage } }`;

describeConfigurations('one read of a key', (engine) => {
  onEach(engine);
  const isApart = engine === postgresAndRedis;
  const asRead = {
    version: 2,
    definition: { alias: 'second' },
    // A counter in Redis is read after the key.
    quota: { max: 100, used: isApart ? 7 : 0 },
    newest: { edges: [{ node: { version: 2 } }] },
    before: { edges: [{ node: { version: 2 } }] },
    all: {
      edges: [1, 2].map((version) => ({ cursor: String(version), node: { version } })),
      pageInfo: { hasNextPage: false, endCursor: '2' },
    },
    later: { edges: [], pageInfo: { hasNextPage: false } },
  };

  it('returns the history, definition and quota of the version it returns from GraphQL', async () => {
    changeAfterEachRead(changeAll);
    const response = await reader.graphql(`{ orgKey(by: { keyID: "k1" }) { ${fields} } }`);
    expect(dataOf(response)).toStrictEqual(asRead);
  });

  it('returns the same for keys of a list', async () => {
    changeAfterEachRead(changeAll);
    const response = await reader.graphql(`{ orgKeys { edges { node { ${fields} } } } }`);
    expect(dataOf(response)).toStrictEqual({ edges: [{ node: asRead }] });
  });

  it('returns the same for nodes and entities', async () => {
    const id = dataOf<{ id: string }>(await reader.graphql('{ orgKey(by: { keyID: "k1" }) { id } }')).id;
    changeAfterEachRead(changeAll);
    const node = await reader.graphql(`query ($id: ID!) { node(id: $id) { ... on OrgKey { ${fields} } } }`, { id });
    expect(dataOf(node)).toStrictEqual(asRead);
  });

  it('returns the history up to the change that a mutation made', async () => {
    const { store } = reader.app.services;
    const original = { ...store };
    store.update = async (keyHash, apply) => {
      const done = await original.update(keyHash, apply);
      await changeAll();
      return done;
    };
    const response = await reader.graphql(
      'mutation { updateOrgKey(keyID: "k1", input: { alias: "own" }) { version orgKey { version history(last: 1) { edges { node { version } } } } } }',
    );
    expect(dataOf(response)).toStrictEqual({
      version: 3,
      orgKey: { version: 3, history: { edges: [{ node: { version: 3 } }] } },
    });
  });

  it('returns an ETag of the version whose definition it returns from REST', async () => {
    changeAfterEachRead(changeAll);
    const response = await reader.send(path, { headers: { 'x-svc-authorization': reader.service } });
    expect(response.headers.get('etag')).toBe('"2"');
    expect(response.body).toMatchObject({
      version: 2,
      data: { alias: 'second', quota_max: 100 },
      quota: { used: isApart ? 7 : 0 },
    });
  });
});

describeConfigurations('one read of a key that is purged meanwhile', (engine) => {
  onEach(engine, { KEYFRONT_RESTORE_DAYS: '0' });

  const removed = async () => {
    const headers = { 'x-svc-authorization': writer.service };
    expect((await writer.send(path, { method: 'DELETE', headers })).status).toBe(200);
    expect(await writer.app.services.store.purge(new Date(writer.clock.now.getTime() + 1))).toBe(1);
  };
  const read = () =>
    reader.graphql('{ orgKey(by: { keyID: "k1" }) { version history { edges { node { version } } } } }');

  it('rejects reading its history with NOT_FOUND', async () => {
    changeAfterEachRead(removed);
    expect(codeOf(await read())).toBe('NOT_FOUND');
  });

  it('rejects reading the history of a key that was created again under its identifier', async () => {
    changeAfterEachRead(async () => {
      await removed();
      writer.clock.now = new Date(writer.clock.now.getTime() + 1000);
      await writer.importKeys({ key_id: 'k1', org_id: 'acme' });
      await writer.update('k1', { alias: 'other' });
      await writer.update('k1', { alias: 'another' });
    });
    expect(codeOf(await read())).toBe('NOT_FOUND');
  });

  it('rejects reverting a key that was created again since the version was read', async () => {
    const { store } = reader.app.services;
    const original = { ...store };
    store.definitionAt = async (keyHash, version) => {
      const found = await original.definitionAt(keyHash, version);
      await removed();
      writer.clock.now = new Date(writer.clock.now.getTime() + 1000);
      await writer.importKeys({ key_id: 'k1', org_id: 'acme' });
      return found;
    };
    expect(codeOf(await reader.graphql('mutation { revertOrgKey(keyID: "k1", toVersion: 1) { version } }'))).toBe(
      'NOT_FOUND',
    );
  });
});

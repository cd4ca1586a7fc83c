import { GraphQLError } from 'graphql';
import { expect, it } from 'vitest';
import { maskResult, responseLimitBytes, stringifyWithin } from '../../../src/graphql/execution/response.js';
import type { Ports } from '../../../src/keys/ports.js';
import { createLogger } from '../../../src/lib/log.js';
import { startSharedApp } from '../../support/app.js';
import { serveWith } from '../../support/overridden-server.js';
import { timersDueWithin } from '../../support/until.js';

const t = await startSharedApp();

const aliases = Array.from({ length: 15 }, (_, n) => `a${n}: previewKey(input: $input) { keyHash }`);
const query = `query ($input: PreviewKeyInput!) { ${aliases.join(' ')} }`;

/** A server that counts the stages and time slices that are waited for. */
function countSlices(overridden: Parameters<typeof serveWith>[1] = {}) {
  let slices = 0;
  const count = () => void (slices += 1);
  const { graphql } = serveWith(t, { ...overridden, nextSlice: count, nextStage: () => Promise.resolve(count()) });
  return async (...request: Parameters<typeof graphql>) => {
    slices = 0;
    const { body } = await graphql(...request);
    return { body, slices };
  };
}

it('starts every root field in its own time slice', async () => {
  const events: string[] = [];
  const { graphql } = serveWith(t, {
    nextSlice: () => {
      events.push('slice');
      return new Promise((resolve) => setImmediate(resolve)).then(() => void events.push('begin'));
    },
  });
  const { body } = await graphql(query, { input: { alias: 'a' } });
  expect(body).not.toHaveProperty('errors');
  const isOfFields = Array<string>(15).fill('slice').join();
  expect(events.join()).toContain(isOfFields);
  expect(events.join()).not.toContain(`${isOfFields},slice`);
});

it.each<[string, Parameters<typeof countSlices>[0]]>([
  ['the fast path', undefined],
  ['Yoga', { plugins: [] }],
])(
  'waits before it parses a body and an unknown document, before execution, and before the response, with %s',
  async (_, overridden) => {
    const send = countSlices(overridden);
    const body = { data: { __typename: 'Query' } };
    expect(await send('{ __typename }')).toStrictEqual({ body, slices: 4 });
    expect(await send('{ __typename }')).toStrictEqual({ body, slices: 3 });
  },
);

it('waits for a time slice before each root field, and before it sends a large response', async () => {
  const send = countSlices();
  const query = 'query ($alias: String) { previewKey(input: { alias: $alias }) { keyHash data { alias } } }';
  const slicesOf = async (length: number) => (await send(query, { alias: 'x'.repeat(length) })).slices;
  await slicesOf(0);
  expect(await slicesOf(100)).toBe(4);
  expect(await slicesOf(20_000)).toBe(5);
});

it('validates a large document of a router in seven stages', async () => {
  const send = countSlices();
  const headers = { 'x-svc-authorization': (await t.issue('service', { scopes: ['router'] })).secret };
  const small = await send('{ a: __typename }', {}, headers);
  const large = await send(`{ b: __typename } # ${'x'.repeat(15_000)}`, {}, headers);
  expect(large.body).toEqual({ data: { b: 'Query' } });
  expect(large.slices).toBe(small.slices + 7);
});

it('waits for a time slice before it explains rejected variables, and before each error', async () => {
  const send = countSlices();
  const query = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash } }';
  const { body, slices } = await send(query, { input: { unknown: 1 } });
  expect(JSON.stringify(body)).toContain('INVALID');
  // And four others: before the body and the document are parsed, before the execution and before the response.
  expect(slices).toBe(6);
});

it.each([
  ['applies and compares an update', 'previewOrgKeyUpdate', 'UpdateKeyInput', 'input', 2],
  ['patches, applies and compares a patch', 'previewOrgKeyPatch', 'PatchKeyInput', 'patch', 3],
])('%s in time slices of its own, in each of 15 dry runs', async (_, field, type, argument, count) => {
  await t.importKeys({ key_id: field, org_id: 'acme', alias: 'before' });
  let slices = 0;
  const { graphql } = serveWith(t, { ports: { nextSlice: () => void (slices += 1) } });
  const previews = Array.from(
    { length: 15 },
    (_, n) => `a${n}: ${field}(keyID: "${field}", ${argument}: $value) { changed }`,
  );
  const { body } = await graphql(`query ($value: ${type}!) { ${previews.join(' ')} }`, { value: { alias: 'after' } });
  expect(body).toEqual({ data: Object.fromEntries(previews.map((_, n) => [`a${n}`, { changed: true }])) });
  expect(slices).toBe(15 * count);
});

it('asks for a time slice directly before it patches a key, in each of several dry runs', async () => {
  const metaData = { team: 'billing' };
  await t.importKeys({ key_id: 'several', org_id: 'acme', meta_data: metaData });
  const { store } = t.app.services.ports;
  const events: string[] = [];
  const isRead = () => {
    if (events.at(-1) !== 'patch') events.push('patch');
  };
  const { graphql } = serveWith(t, {
    ports: {
      nextSlice: () => void events.push('slice'),
      store: {
        ...store,
        find: async (...key) => {
          const stored = await store.find(...key);
          // Only patching reads a value that the patch leaves.
          return stored && { ...stored, definition: { ...stored.definition, metaData: watched(metaData, isRead) } };
        },
      },
    },
  });
  const previews = [1, 2, 3].map((n) => `a${n}: previewOrgKeyPatch(keyID: "several", patch: $patch) { changed }`);
  const { body } = await graphql(`query ($patch: PatchKeyInput!) { ${previews.join(' ')} }`, {
    patch: { alias: 'after' },
  });
  const changed = { changed: true };
  expect(body).toEqual({ data: { a1: changed, a2: changed, a3: changed } });
  expect(events.filter((event) => event === 'patch')).toHaveLength(3);
});

/** Changes all keys of an organization, in a service with some ports replaced. */
async function changeAll(orgID: string, overridden: { readonly ports: Partial<Ports> }) {
  const { graphql } = serveWith(t, overridden);
  const change =
    'updateOrgKeys(filter: $filter, patch: { alias: "after" }, dryRun: false) { items { change { changed } } }';
  const item = { change: { changed: true } };
  const { body } = await graphql(`mutation ($filter: OrgKeyFilter!) { ${change} }`, { filter: { orgID } });
  expect(body).toMatchObject({ data: { updateOrgKeys: { items: [item, item] } } });
}

it('changes each key of a bulk update in its own time slice', async () => {
  await t.importKeys({ key_id: 'bulk-1', org_id: 'sliced' }, { key_id: 'bulk-2', org_id: 'sliced' });
  const events: string[] = [];
  const { store } = t.app.services.ports;
  await changeAll('sliced', {
    ports: {
      nextSlice: () => void events.push('slice'),
      store: {
        ...store,
        update: (...change) => {
          events.push('update');
          return store.update(...change);
        },
      },
    },
  });
  expect(events).toStrictEqual(['slice', 'update', 'slice', 'update']);
});

it('reads a key that the store no longer keeps before the transaction that changes it', async () => {
  await t.importKeys({ key_id: 'kept', org_id: 'evicted' }, { key_id: 'not-kept', org_id: 'evicted' });
  const { store, hashKeyID } = t.app.services.ports;
  const events: string[] = [];
  await changeAll('evicted', {
    ports: {
      nextSlice: () => void events.push('slice'),
      store: {
        ...store,
        recent: (keyHash) => (keyHash === hashKeyID('kept') ? store.recent(keyHash) : undefined),
        find: (keyHash, orgID) => {
          events.push(`find ${keyHash}`);
          return store.find(keyHash, orgID);
        },
        update: (keyHash, ...change) => {
          events.push(`update ${keyHash}`);
          return store.update(keyHash, ...change);
        },
      },
    },
  });
  const [kept, notKept] = [hashKeyID('kept'), hashKeyID('not-kept')];
  const ofKept = ['slice', `update ${kept}`];
  const ofOther = [`find ${notKept}`, 'slice', `update ${notKept}`];
  expect(events).toStrictEqual(kept < notKept ? [...ofKept, ...ofOther] : [...ofOther, ...ofKept]);
});

/** A value that calls `isRead` for each of its members that is read. */
function watched(value: object, isRead: () => void): object {
  return new Proxy(value, {
    get: (...of) => {
      isRead();
      return Reflect.get(...of) as unknown;
    },
    ownKeys: (of) => {
      isRead();
      return Reflect.ownKeys(of);
    },
  });
}

it('reads no value that a patch leaves, in the transaction', async () => {
  const metaData = { team: 'billing' };
  await t.importKeys(
    { key_id: 'left-1', org_id: 'left', meta_data: metaData },
    { key_id: 'left-2', org_id: 'left', meta_data: metaData },
  );
  let reads = 0;
  const isRead = () => void (reads += 1);
  const { store } = t.app.services.ports;
  await changeAll('left', {
    ports: {
      store: {
        ...store,
        update: (keyHash, change, orgID) =>
          store.update(
            keyHash,
            (stored) =>
              change(
                stored && { ...stored, definition: { ...stored.definition, metaData: watched(metaData, isRead) } },
              ),
            orgID,
          ),
      },
    },
  });
  expect(reads).toBe(0);
});

it('waits for a time slice between measuring a response and stringifying it', async () => {
  let slices = 0;
  await maskResult(
    { log: createLogger('fatal'), nextSlice: () => void (slices += 1) },
    { data: { text: 'x'.repeat(400_000) } },
    'id',
  );
  // And after the text, and after the rest of the data.
  expect(slices).toBe(3);
});

it('masks errors and stringifies a large response in time slices', async () => {
  let slices = 0;
  const nextSlice = () => void (slices += 1);
  const log = createLogger('fatal');
  const errors = Array.from({ length: 1_000 }, (_, n) => new GraphQLError('Failed.', { path: [n] }));
  await maskResult({ log, nextSlice }, { errors, data: null }, 'id');
  expect(slices).toBeGreaterThanOrEqual(1_000);
  slices = 0;
  const items = Array.from({ length: 40_000 }, () => ({ name: 'a'.repeat(20) }));
  expect(await stringifyWithin(items, responseLimitBytes, nextSlice)).toBe(JSON.stringify(items));
  expect(slices).toBeGreaterThan(70);
});

it('takes no time slice for a field whose credential is missing', async () => {
  const send = countSlices();
  const nothing = await send('{ __typename }', {}, { authorization: '' });
  const { body, slices } = await send('{ previewKey(input: {}) { keyHash } }', {}, { authorization: '' });
  expect(JSON.stringify(body)).toContain('UNAUTHENTICATED');
  // And one for the error.
  expect(slices).toBe(nothing.slices + 1);
});

it('starts no field of a query past its deadline', async () => {
  let previews = 0;
  const { graphql } = serveWith(t, {
    deadlineMs: 1,
    nextSlice: () => timersDueWithin(20),
    keys: {
      preview: () => {
        previews += 1;
        throw new Error('not to be called');
      },
    },
  });
  const { body } = await graphql(query, { input: {} });
  expect(JSON.stringify(body)).toContain('UNAVAILABLE');
  await timersDueWithin(30);
  expect(previews).toBe(0);
});

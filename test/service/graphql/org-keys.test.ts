import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { codeOf, dataOf, errorsOf, issuesOf } from '../../support/responses.js';
import { statementsDuring } from '../../support/statements.js';
import { startApp, startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { dateTime } from '../../support/date-time.js';
import { hashOf } from '../../support/factories.js';

const now = 1769860800;

interface Key {
  readonly key_id: string;
  readonly org_id: string;
  readonly alias?: string;
  readonly tags?: string[];
  readonly apply_policies?: string[];
  readonly access_rights?: Record<string, { api_id?: string }>;
  readonly is_inactive?: boolean;
  readonly expires?: number;
  readonly last_updated?: string;
  readonly date_created?: string;
}

/** The keys to list. One or more updates for each day, so that the order has ties. */
const many: readonly Key[] = [
  { alias: 'Billing', tags: ['paid', 'eu'], apply_policies: ['gold'], access_rights: { inv: { api_id: 'invoices' } } },
  { alias: 'Billing', tags: ['paid'], expires: now + 100, access_rights: { invoices: {} } },
  { alias: 'Billing 100%', tags: ['eu'], apply_policies: ['gold', 'silver'] },
  { alias: 'Billing_100', is_inactive: true },
  { alias: 'billing', is_inactive: true, expires: now - 1 },
  { alias: '🔑 keys', tags: ['🔑', '%'], expires: now },
  { alias: '🔑 keys\u{10ffff}', tags: ["'; DROP TABLE keys;--"] },
  { alias: '🔐', expires: -5 },
  { alias: '%', expires: 0 },
  { alias: '_' },
  { alias: 'é', apply_policies: ['silver'] },
  { alias: 'e\u0301', expires: now + 1 },
  {},
  { tags: ['paid'] },
].flatMap((definition, index) =>
  ['acme', 'globex'].map((org_id) => ({
    ...definition,
    key_id: `${org_id}-${index}`,
    org_id,
    last_updated: String(now - 86_400 * (index % 4)),
    date_created: `2025-12-${10 + (index % 3)}T12:00:00${['', '.5', '.123456'][index % 3]}Z`,
  })),
);
const keys = [
  ...many,
  { key_id: 'last', org_id: 'initech', last_updated: String(now), date_created: '2025-12-11T13:00:00.499999+01:00' },
];
const deleted = ['acme-2', 'globex-9'];

let t: TestApp;
let bound: string;
beforeAll(async () => {
  t = await startApp();
  await t.importKeys(...keys);
  for (const keyID of deleted) {
    dataOf(await t.graphql('mutation ($id: ID!) { deleteOrgKey(keyID: $id) { version } }', { id: keyID }));
  }
  bound = (await t.issue('service', { orgID: 'acme' })).secret;
});
afterAll(async () => t.close());

interface Page {
  readonly edges: { readonly cursor: string; readonly node: { readonly keyID: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount?: number;
}

const listing = (extra = '') => `query (
    $filter: OrgKeyFilter, $orderBy: OrgKeyOrder, $descending: Boolean,
    $first: Int, $after: String, $last: Int, $before: String
  ) {
    orgKeys(filter: $filter, orderBy: $orderBy, descending: $descending,
      first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { keyID } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      ${extra}
    } }`;
const list = async (args: object, extra = '', headers = {}, app = t) =>
  dataOf<Page>(await app.graphql(listing(extra), args, headers));
const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.keyID);
const boundHeaders = () => ({ 'x-svc-authorization': bound });

/** Every key that a query names, gathered page by page in one direction or the other. */
async function walk(args: object, size: number, backward = false, headers = {}, app = t): Promise<string[]> {
  const found: string[] = [];
  let place: string | null = null;
  for (;;) {
    const page: Page = await list(
      { ...args, ...(backward ? { last: size, before: place } : { first: size, after: place }) },
      '',
      headers,
      app,
    );
    expect(page.edges.length).toBeLessThanOrEqual(size);
    if (backward) found.unshift(...idsOf(page));
    else found.push(...idsOf(page));
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    expect(startCursor).toBe(page.edges[0]?.cursor ?? null);
    expect(endCursor).toBe(page.edges.at(-1)?.cursor ?? null);
    expect(backward ? hasNextPage : hasPreviousPage).toBe(place !== null);
    place = backward ? startCursor : endCursor;
    if (!(backward ? hasPreviousPage : hasNextPage)) return found;
  }
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const orders: Record<string, (a: Key, b: Key) => number> = {
  KEY_HASH: () => 0,
  ALIAS: (a, b) => byBytes(a.alias ?? '', b.alias ?? ''),
  LAST_UPDATED: (a, b) => Number(a.last_updated) - Number(b.last_updated),
  EXPIRES: (a, b) => (a.expires ?? 0) - (b.expires ?? 0),
  CREATED: (a, b) => Date.parse(a.date_created ?? '') - Date.parse(b.date_created ?? ''),
};

function expected(matches: (key: Key) => boolean, order = 'KEY_HASH', descending = false): string[] {
  const compare = orders[order] ?? (() => 0);
  const sorted = keys
    .filter(matches)
    .toSorted((a, b) => compare(a, b) || byBytes(hashOf(a.key_id), hashOf(b.key_id)))
    .map(({ key_id }) => key_id);
  return descending ? sorted.reverse() : sorted;
}

const isHere = ({ key_id }: Key) => !deleted.includes(key_id);
const isExpired = ({ expires = 0 }: Key) => expires >= 1 && expires <= now;
const hasAPI = (apiID: string) => (key: Key) =>
  Object.entries(key.access_rights ?? {}).some(([label, { api_id }]) => (api_id ?? label) === apiID);
const prefixed = (prefix: string) => (key: Key) => (key.alias ?? '').startsWith(prefix);

/** Each condition beside what it means. The texts that look like a statement or a pattern are in `storage/statements.test.ts`. */
const filters: [object, (key: Key) => boolean][] = [
  [{ orgID: 'acme' }, ({ org_id }) => org_id === 'acme'],
  [{ orgID: 'ACME' }, () => false],
  ...['Billing', 'b', 'é', ''].map((prefix): [object, (key: Key) => boolean] => [
    { aliasPrefix: prefix },
    prefixed(prefix),
  ]),
  ...['ill', 'É', '', 'none'].map((text): [object, (key: Key) => boolean] => [
    { aliasContains: text },
    ({ alias = '' }) => alias.toLowerCase().includes(text.toLowerCase()),
  ]),
  [
    { aliasContains: 'billing', orgID: 'globex', tagsAny: ['eu'] },
    ({ key_id }) => ['globex-0', 'globex-2'].includes(key_id),
  ],
  ...['paid', 'pai', 'gold'].map((tag): [object, (key: Key) => boolean] => [
    { tagsAll: [tag] },
    ({ tags }) => tags?.includes(tag) ?? false,
  ]),
  [{ tagsAny: ['eu', 'none'] }, ({ tags }) => tags?.includes('eu') ?? false],
  [{ tagsAll: ['paid', 'eu'] }, ({ tags = [] }) => tags.includes('paid') && tags.includes('eu')],
  [{ keyIDs: ['acme-0', 'globex-1', 'none'] }, ({ key_id }) => ['acme-0', 'globex-1'].includes(key_id)],
  [{ keyHashes: [hashOf('acme-0'), 'no hash'] }, ({ key_id }) => key_id === 'acme-0'],
  [{ keyIDs: ['acme-0'], keyHashes: [hashOf('globex-1')] }, () => false],
  [{ policy: 'gold' }, ({ apply_policies }) => apply_policies?.includes('gold') ?? false],
  [{ apiID: 'invoices' }, hasAPI('invoices')],
  [{ apiID: 'inv' }, hasAPI('inv')],
  [{ states: ['ACTIVE'] }, (key) => !key.is_inactive && !isExpired(key)],
  [{ states: ['INACTIVE'] }, (key) => key.is_inactive === true],
  [{ states: ['EXPIRED'] }, (key) => !key.is_inactive && isExpired(key)],
  [{ expiresBefore: dateTime(now + 1) }, ({ expires = 0 }) => expires >= 1 && expires < now + 1],
  [{ expiresBefore: dateTime(now + 0.5) }, ({ expires = 0 }) => expires >= 1 && expires <= now],
  [{ expiresBefore: '9999-12-31T23:59:59Z' }, ({ expires = 0 }) => expires >= 1 && expires < 253402300799],
  [{ expiresBefore: '0000-01-01T00:00:00Z' }, () => false],
  [{ updatedSince: dateTime(now - 86_400) }, ({ last_updated }) => Number(last_updated) >= now - 86_400],
  [{ updatedSince: dateTime(now + 1) }, () => false],
  // None was used.
  [{ unusedSince: dateTime(now) }, () => true],
  [{ unusedSince: '1969-12-31T23:59:59Z' }, () => false],
  // The keys were changed in the second before.
  [{ updatedSince: `${dateTime(now).slice(0, 19)}.0001Z` }, ({ last_updated }) => Number(last_updated) > now],
];

describe('orgKeys', () => {
  it('lists all keys that are not deleted, by hash, 20 per page by default', async () => {
    const all = await walk({}, 100);
    expect(all).toStrictEqual(expected(isHere));
    expect(idsOf(await list({}))).toStrictEqual(all.slice(0, 20));
    expect(
      idsOf(await list({ filter: { orgID: null, tagsAll: null }, orderBy: null, descending: null, first: null })),
    ).toStrictEqual(all.slice(0, 20));
  });

  it.each(filters)('lists exactly the matching keys for %j', async (filter, matches) => {
    const isAlias = Object.entries(filter).some(([name, value]) => name.startsWith('alias') && value !== '');
    const order = isAlias ? 'ALIAS' : 'KEY_HASH';
    expect(await walk({ filter }, 100)).toStrictEqual(expected((key) => isHere(key) && matches(key), order));
    expect(await walk({ filter, orderBy: 'KEY_HASH' }, 100)).toStrictEqual(
      expected((key) => isHere(key) && matches(key)),
    );
  });

  it.each([
    ['more than 256 characters', 'a'.repeat(257)],
    ['half of a surrogate pair', '\ud83d'],
  ])('rejects a text to search for with %s, with its path', async (_, text) => {
    for (const field of [
      'orgKeys(filter: $filter) { totalCount }',
      'organization(id: "acme") { orgKeys(filter: $filter) { totalCount } }',
    ]) {
      const response = await t.graphql(`query ($filter: OrgKeyFilter) { ${field} }`, {
        filter: { aliasContains: text },
      });
      const message = 'must have at most 256 characters, without half of a surrogate pair';
      expect(errorsOf(response)[0]?.extensions).toMatchObject({
        code: 'INVALID',
        issues: [{ path: 'filter.aliasContains', code: 'MALFORMED_ARGUMENT', message }],
      });
    }
    const patch =
      'mutation ($filter: OrgKeyFilter!) { updateOrgKeys(filter: $filter, patch: { rate: 7 }) { modified } }';
    expect(codeOf(await t.graphql(patch, { filter: { aliasContains: text } }))).toBe('INVALID');
  });

  it('finds aliases of its own organization only, for a credential that is bound to one', async () => {
    const args = { filter: { aliasContains: 'BILL' } };
    const isOurs = ({ org_id, alias = '' }: Key) => org_id === 'acme' && alias.toLowerCase().includes('bill');
    const wanted = expected((key) => isHere(key) && isOurs(key), 'ALIAS');
    for (const orderBy of [undefined, 'KEY_HASH', 'LAST_UPDATED']) {
      const found = await walk({ ...args, orderBy }, 2, false, boundHeaders());
      expect(found.toSorted()).toStrictEqual(wanted.toSorted());
    }
    expect(await list(args, 'totalCount', boundHeaders())).toMatchObject({ totalCount: wanted.length });
    const ofOthers = { filter: { ...args.filter, orgID: 'globex' } };
    expect(await list(ofOthers, 'totalCount', boundHeaders())).toMatchObject({ edges: [], totalCount: 0 });
  });

  it.each(['2026-01-31', '2026-01-31T12:00:00', 'yesterday', '', String(now)])(
    'rejects %j as a time of a filter, with its path',
    async (time) => {
      for (const name of ['expiresBefore', 'updatedSince']) {
        const response = await t.graphql(`{ orgKeys(filter: { ${name}: "${time}" }) { totalCount } }`);
        expect([codeOf(response), issuesOf(response)]).toEqual(['INVALID', [`filter.${name} MALFORMED_DATE`]]);
      }
    },
  );

  it('rejects a list of a filter that has no items or more than 100', async () => {
    for (const name of ['keyIDs', 'keyHashes', 'tagsAny', 'tagsAll', 'states']) {
      for (const [count, code] of [
        [0, 'EMPTY'],
        [101, 'TOO_MANY'],
      ] as const) {
        const items: string[] = Array.from({ length: count }, () => (name === 'states' ? 'ACTIVE' : 'a'));
        const response = await t.graphql(listing(), { filter: { [name]: items } });
        expect([codeOf(response), issuesOf(response)]).toEqual(['INVALID', [`filter.${name} ${code}`]]);
      }
    }
  });

  it('lists only deleted keys for state DELETED', async () => {
    expect(await walk({ filter: { states: ['DELETED'] } }, 100)).toStrictEqual(expected((key) => !isHere(key)));
    expect(await walk({ filter: { states: ['DELETED'], orgID: 'globex' } }, 100)).toStrictEqual(['globex-9']);
    expect(await walk({ filter: { states: ['DELETED'], tagsAll: ['eu'], policy: 'gold' } }, 100)).toStrictEqual([
      'acme-2',
    ]);
  });

  it.each(Object.keys(orders).flatMap((order) => [false, true].map((descending) => ({ orderBy: order, descending }))))(
    'pages through every key once by $orderBy, descending: $descending, forwards and backwards',
    async ({ orderBy, descending }) => {
      const filter = { updatedSince: dateTime(0), orgID: 'acme' };
      const wanted = expected((key) => isHere(key) && key.org_id === 'acme', orderBy, descending);
      for (const size of orderBy === 'ALIAS' ? [1, 2, wanted.length, wanted.length + 1] : [5]) {
        expect(await walk({ filter, orderBy, descending }, size)).toStrictEqual(wanted);
        expect(await walk({ filter, orderBy, descending }, size, true)).toStrictEqual(wanted);
      }
    },
  );

  it('lists keys between two cursors', async () => {
    const all = await list({ first: 100, orderBy: 'ALIAS' });
    const [third, ninth] = [all.edges[2]?.cursor, all.edges[8]?.cursor];
    const between = idsOf(all).slice(3, 8);
    const range = { orderBy: 'ALIAS', after: third, before: ninth };
    expect(idsOf(await list(range))).toStrictEqual(between);
    expect(idsOf(await list({ ...range, first: 2 }))).toStrictEqual(between.slice(0, 2));
    expect(idsOf(await list({ ...range, last: 2 }))).toStrictEqual(between.slice(-2));
    expect(idsOf(await list({ orderBy: 'ALIAS', before: third }))).toStrictEqual(idsOf(all).slice(0, 2));
  });

  it('returns an empty page without cursors, also for `first: 0`', async () => {
    const page = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
    expect(await list({ filter: { tagsAll: ['none'] } })).toStrictEqual({ edges: [], pageInfo: page });
    expect(await list({ first: 0 })).toStrictEqual({ edges: [], pageInfo: { ...page, hasNextPage: true } });
    const last = (await list({ last: 1 })).pageInfo.endCursor;
    expect(await list({ after: last })).toStrictEqual({ edges: [], pageInfo: { ...page, hasPreviousPage: true } });
  });

  it('rejects a cursor of another order', async () => {
    for (const from of Object.keys(orders)) {
      const { endCursor } = (await list({ orderBy: from, first: 2 })).pageInfo;
      for (const to of Object.keys(orders).filter((order) => order !== from)) {
        const response = await t.graphql(listing(), { orderBy: to, after: endCursor });
        expect([codeOf(response), issuesOf(response)]).toStrictEqual(['INVALID', ['after MALFORMED_ARGUMENT']]);
      }
    }
  });

  it('rejects a cursor of another filter, and of the list of another organization', async () => {
    const inOrg = async (keyID: string, after: string | null) =>
      t.graphql(
        `query ($keyID: ID!, $after: String) { orgKey(by: { keyID: $keyID }) { organization { orgKeys(first: 1, after: $after) {
          pageInfo { endCursor } } } } }`,
        { keyID, after },
      );
    const cursorIn = (result: TestResponse) => /"endCursor":"([^"]+)"/.exec(result.text)?.[1] ?? '';
    const ofAcme = cursorIn(await inOrg('acme-0', null));
    const page = await inOrg('acme-0', ofAcme);
    expect([codeOf(page), cursorIn(page)]).toStrictEqual([undefined, expect.stringMatching(/./)]);
    const { endCursor } = (await list({ filter: { tagsAll: ['paid'] }, first: 1 })).pageInfo;
    const rejected = [
      await t.graphql(listing(), { filter: { tagsAll: ['eu'] }, after: endCursor }),
      await t.graphql(listing(), { after: endCursor }),
      await t.graphql(listing(), { filter: { orgID: 'globex' }, after: ofAcme }),
      await inOrg('globex-0', ofAcme),
    ];
    for (const response of rejected) {
      expect([codeOf(response), issuesOf(response)]).toStrictEqual(['INVALID', ['after MALFORMED_ARGUMENT']]);
    }
    // The order of the conditions, and null for an absent one, make no difference.
    const same = { filter: { orgID: null, states: ['ACTIVE'], tagsAll: ['paid'] }, first: 1 };
    const cursor = (await list(same)).pageInfo.endCursor;
    expect(await list({ filter: { tagsAll: ['paid'], states: ['ACTIVE'] }, after: cursor })).toBeDefined();
  });

  const encoded = (value: string) => Buffer.from(value).toString('base64url');
  it.each([
    '',
    ' ',
    'x',
    '%00',
    '\ud800',
    encoded('{}'),
    encoded('null'),
    encoded('[]'),
    encoded('["LAST_UPDATED"]'),
    encoded('["LAST_UPDATED",1.5,"x"]'),
    encoded('["LAST_UPDATED",1e300,"x"]'),
    encoded('["LAST_UPDATED",9223372036854775808,"x"]'),
    encoded('["LAST_UPDATED","1","x"]'),
    encoded('["LAST_UPDATED",1,2]'),
    encoded('["__proto__",1,"x"]'),
    encoded('["LAST_UPDATED",1,"x"'),
  ])('rejects %j as a cursor, and names the argument', async (malformed) => {
    const { startCursor } = (await list({ orderBy: 'LAST_UPDATED', first: 1 })).pageInfo;
    const [ofList] = JSON.parse(Buffer.from(startCursor ?? '', 'base64url').toString()) as [string];
    const cursor = malformed.startsWith('W')
      ? encoded(Buffer.from(malformed, 'base64url').toString().replace('LAST_UPDATED', ofList))
      : malformed;
    const after = await t.graphql(listing(), { orderBy: 'LAST_UPDATED', after: cursor });
    expect([codeOf(after), issuesOf(after)]).toStrictEqual(['INVALID', ['after MALFORMED_ARGUMENT']]);
    const before = await t.graphql(listing(), { orderBy: 'LAST_UPDATED', last: 1, before: cursor });
    expect([codeOf(before), issuesOf(before)]).toStrictEqual(['INVALID', ['before MALFORMED_ARGUMENT']]);
  });

  it('counts all matching keys only if selected', async () => {
    const count = vi.spyOn(t.app.services.store, 'count');
    onTestFinished(() => count.mockRestore());
    await list({ first: 2 });
    expect(count).not.toHaveBeenCalled();
    const page = await list({ filter: { tagsAll: ['paid'] }, first: 2 }, 'totalCount');
    expect([page.totalCount, page.edges.length, count.mock.calls.length]).toStrictEqual([6, 2, 1]);
    expect((await list({ filter: { orgID: 'none' } }, 'totalCount')).totalCount).toBe(0);
    expect((await list({}, 'totalCount')).totalCount).toBe(keys.length - deleted.length);
    expect((await list({ filter: { states: ['DELETED'] } }, 'totalCount')).totalCount).toBe(2);
  });

  it('keeps its position while keys are created, deleted and reordered', async () => {
    const own = await startOwnApp();
    const ids = Array.from({ length: 30 }, (_, index) => `k${index}`);
    await own.importKeys(...ids.map((key_id) => ({ key_id, org_id: 'acme' })));
    const sorted = ids.toSorted((a, b) => byBytes(hashOf(a), hashOf(b)));
    const gone = [sorted[3], sorted[20]];
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = await list({ first: 5, after }, '', {}, own);
      seen.push(...idsOf(page));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      if (seen.length === 5) {
        for (const id of gone)
          await own.graphql('mutation ($id: ID!) { deleteOrgKey(keyID: $id) { version } }', { id });
        await own.importKeys(...Array.from({ length: 10 }, (_, index) => ({ key_id: `new${index}`, org_id: 'acme' })));
        await own.update(String(sorted[10]), { alias: 'moved' });
      }
    } while (after !== null);
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = seen.filter((id) => ids.includes(id));
    expect(stayed).toStrictEqual(sorted.filter((id) => id !== sorted[20]));
  });

  it('pages exactly through update times beyond 53 bits', async () => {
    const own = await startOwnApp();
    const moments = Array.from({ length: 6 }, (_, index) => String(9_000_000_000_000_000_001n + BigInt(index >> 1)));
    await own.importKeys(
      ...moments.map((last_updated, index) => ({ key_id: `k${index}`, org_id: 'acme', last_updated })),
    );
    const found = await walk({ orderBy: 'LAST_UPDATED' }, 1, false, {}, own);
    expect([found.length, new Set(found).size]).toStrictEqual([6, 6]);
  });
});

describe('the flags of a page of keys', () => {
  let own: TestApp;
  const flagsOf = async (args: string) => {
    const result = await own.graphql(
      `{ orgKeys(orderBy: ALIAS, ${args}) { pageInfo { ...Flags } } } fragment Flags on PageInfo { hasPreviousPage hasNextPage }`,
    );
    const { pageInfo } = dataOf<{ pageInfo: Record<string, boolean> }>(result);
    return [pageInfo['hasPreviousPage'], pageInfo['hasNextPage']];
  };
  const cursors = new Map<string, string>();
  beforeAll(async () => {
    own = await startApp();
    await own.importKeys(...['a', 'b', 'c', 'd'].map((name) => ({ key_id: name, org_id: 'acme', alias: name })));
    const all = await own.graphql('{ orgKeys(orderBy: ALIAS) { edges { cursor node { keyID } } } }');
    const { edges } = dataOf<{ edges: { cursor: string; node: { keyID: string } }[] }>(all);
    for (const { cursor, node } of edges) cursors.set(node.keyID, cursor);
    // Its cursor is now before all keys.
    await own.graphql('mutation { deleteOrgKey(keyID: "a") { version } }');
  });
  afterAll(() => own.close());

  it.each([
    ['first: 3', [false, false]],
    ['first: 2', [false, true]],
    ['first: 2, after: a', [false, true]],
    ['first: 2, after: b', [true, false]],
    ['first: 2, after: d', [true, false]],
    ['first: 0, after: a', [false, true]],
    ['last: 2', [true, false]],
    ['last: 3, before: d', [false, true]],
    ['last: 1, before: b', [false, true]],
    ['last: 1, before: a', [false, true]],
    ['descending: true, first: 1, after: b', [true, false]],
    ['descending: true, first: 3', [false, false]],
    ['first: 1, after: b, before: d', [true, false]],
    ['last: 1, after: b, before: d', [false, true]],
  ])('are exact for orgKeys(%s), where a is deleted and b, c and d remain', async (args, flags) => {
    expect(
      await flagsOf(
        args.replaceAll(/(after|before): (\w)/g, (_, name: string, key: string) => `${name}: "${cursors.get(key)}"`),
      ),
    ).toEqual(flags);
  });

  it('cost no statement unless they are selected', async () => {
    const sendRequest = (selected: string) =>
      own.graphql(`{ orgKeys(orderBy: ALIAS, first: 1, after: "${cursors.get('b')}") { ${selected} } }`);
    const statements = async (selected: string) =>
      (await statementsDuring(async () => void (await sendRequest(selected)))).length;
    expect(await statements('pageInfo { hasNextPage }')).toBeLessThan(await statements('pageInfo { hasPreviousPage }'));
  });
});

describe('orgKey', () => {
  const one = `query ($by: OrgKeyByInput!) { orgKey(by: $by) {
    id keyHash keyID orgID version state createdAt updatedAt deletedAt
    definition { alias tags orgID dateCreated lastUpdated } quota { max used remaining renewsAt } } }`;
  const read = async (by: object, headers = {}) =>
    dataOf<Record<string, unknown> | null>(await t.graphql(one, { by }, headers));

  it('returns a key by its identifier and by its hash', async () => {
    const key = await read({ keyID: 'acme-0' });
    expect(key).toStrictEqual({
      id: expect.any(String),
      keyHash: hashOf('acme-0'),
      keyID: 'acme-0',
      orgID: 'acme',
      version: 1,
      state: 'ACTIVE',
      createdAt: '2025-12-10T12:00:00Z',
      updatedAt: '2026-01-31T12:00:00.000Z',
      deletedAt: null,
      definition: {
        alias: 'Billing',
        tags: ['paid', 'eu'],
        orgID: 'acme',
        dateCreated: '2025-12-10T12:00:00Z',
        lastUpdated: String(now),
      },
      quota: { max: null, used: 0, remaining: null, renewsAt: null },
    });
    expect(await read({ keyHash: hashOf('acme-0') })).toStrictEqual(key);
  });

  it.each([
    [{ keyID: 'absent' }],
    [{ keyHash: hashOf('absent') }],
    [{ keyHash: hashOf('acme-0').toUpperCase() }],
    [{ keyHash: '' }],
    [{ keyID: deleted[0] }],
    [{ keyHash: hashOf(String(deleted[0])) }],
  ])('returns null for %j, which is unknown or deleted', async (args) => {
    expect(await read(args)).toBeNull();
  });

  it.each([
    [{}],
    [{ keyID: null }],
    [{ keyID: null, keyHash: null }],
    [{ keyID: 'acme-0', keyHash: null }],
    [{ keyID: 'acme-0', keyHash: hashOf('acme-0') }],
  ])('rejects %j, which is not exactly one field', async (by) => {
    const result = await t.graphql(one, { by });
    expect([codeOf(result), issuesOf(result)]).toStrictEqual(['INVALID', ['by MALFORMED_ARGUMENT']]);
  });

  it('returns no `updatedAt` for an imported time that dates cannot represent', async () => {
    const own = await startOwnApp();
    await own.importKeys({ key_id: 'far', org_id: 'acme', last_updated: '9223372032559808511' });
    const result = await own.graphql('{ orgKey(by: { keyID: "far" }) { updatedAt definition { lastUpdated } } }');
    expect(dataOf(result)).toEqual({ updatedAt: null, definition: { lastUpdated: '9223372032559808511' } });
  });

  it('rejects an identifier that is not valid', async () => {
    expect(issuesOf(await t.graphql(one, { by: { keyID: 'a/b' } }))).toStrictEqual(['keyID MALFORMED_KEY_ID']);
  });

  it.each([
    ['acme-0', 'ACTIVE'],
    ['acme-1', 'ACTIVE'],
    ['acme-3', 'INACTIVE'],
    ['acme-4', 'INACTIVE'],
    ['acme-5', 'EXPIRED'],
    ['acme-7', 'ACTIVE'],
    ['acme-8', 'ACTIVE'],
  ])('returns the state of %s as %s', async (keyID, state) => {
    expect(await read({ keyID })).toMatchObject({ state });
  });
});

describe('node', () => {
  const node = 'query ($id: ID!) { node(id: $id) { id __typename ... on OrgKey { keyID } } }';
  const idOf = async (keyID: string) =>
    dataOf<{ id: string }>(await t.graphql('query ($k: ID!) { orgKey(by: { keyID: $k }) { id } }', { k: keyID })).id;

  it('returns a key by its global identifier', async () => {
    const id = await idOf('acme-0');
    expect(dataOf(await t.graphql(node, { id }))).toStrictEqual({ id, __typename: 'OrgKey', keyID: 'acme-0' });
  });

  it('returns null for a key that is deleted or unknown', async () => {
    for (const keyID of [String(deleted[0]), 'absent']) {
      const id = btoa(`OrgKey:${hashOf(keyID)}`);
      expect(dataOf(await t.graphql(node, { id }))).toBeNull();
    }
  });

  it.each(['', 'hunter2', btoa('hunter2'), btoa('hunter2:1'), btoa('Quota:hunter2'), btoa(':x'), btoa('OrgKey:')])(
    'rejects %j, which is not a global identifier, without quoting it',
    async (id) => {
      const response = await t.graphql(node, { id });
      expect(codeOf(response)).toBe('INVALID');
      expect(errorsOf(response)[0]?.message).not.toContain('hunter2');
    },
  );
});

describe('a credential that is bound to an organization', () => {
  const foreign = 'globex-0';

  it('lists only keys of its organization, for every filter and order', async () => {
    const own = (key: Key) => key.org_id === 'acme';
    for (const orderBy of Object.keys(orders)) {
      expect(await walk({ orderBy }, 3, false, boundHeaders())).toStrictEqual(
        expected((key) => isHere(key) && own(key), orderBy),
      );
    }
    for (const [filter, matches] of filters) {
      expect(await walk({ filter, orderBy: 'KEY_HASH' }, 100, false, boundHeaders())).toStrictEqual(
        expected((key) => isHere(key) && own(key) && matches(key)),
      );
    }
    expect(await walk({ filter: { states: ['DELETED'] } }, 100, true, boundHeaders())).toStrictEqual(['acme-2']);
  });

  it('lists and counts nothing if the filter names another organization', async () => {
    const page = await list({ filter: { orgID: 'globex' } }, 'totalCount', boundHeaders());
    expect(page.edges).toStrictEqual([]);
    expect(page.totalCount).toBe(0);
    expect((await list({}, 'totalCount', boundHeaders())).totalCount).toBe(many.length / 2 - 1);
  });

  it('cannot page to keys of another organization from a cursor of a list of all keys', async () => {
    const { edges } = await list({ first: 1 });
    const page = await list({ after: edges[0]?.cursor }, '', boundHeaders());
    expect(idsOf(page).length).toBeGreaterThan(0);
    expect(idsOf(page).filter((id) => !id.startsWith('acme-'))).toStrictEqual([]);
  });

  it('receives null for a key of another organization by identifier, hash and id', async () => {
    const query =
      'query ($id: ID!, $hash: String!, $node: ID!) { a: orgKey(by: { keyID: $id }) { keyID } b: orgKey(by: { keyHash: $hash }) { keyID } c: node(id: $node) { id } }';
    const sendRequest = (keyID: string): Promise<TestResponse> =>
      t.graphql(query, { id: keyID, hash: hashOf(keyID), node: btoa(`OrgKey:${hashOf(keyID)}`) }, boundHeaders());
    expect((await sendRequest(foreign)).body['data']).toStrictEqual({ a: null, b: null, c: null });
    expect((await sendRequest(foreign)).text).toBe((await sendRequest('absent')).text);
    expect((await sendRequest('acme-0')).body['data']).toMatchObject({
      a: { keyID: 'acme-0' },
      b: { keyID: 'acme-0' },
    });
  });
});

describe('organizations and their tags', () => {
  it('are listed in pages, forwards and backwards, and to a bound credential only its own', async () => {
    const own = await startOwnApp();
    await own.importKeys(
      ...['c', 'a', 'b', 'd'].map((orgID) => ({
        key_id: `of-${orgID}`,
        org_id: orgID,
        tags: [`${orgID}2`, `${orgID}1`],
      })),
    );
    await own.graphql('mutation { deleteOrgKey(keyID: "of-d") { version } }');
    interface Page {
      readonly edges: { readonly node: { readonly id: string } }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string; readonly startCursor: string };
    }
    const read = async (args: string, headers?: Record<string, string>) => {
      const query = `{ organizations${args} { edges { node { id } } pageInfo { hasNextPage endCursor startCursor } } }`;
      const { edges, pageInfo } = dataOf<Page>(await own.graphql(query, {}, headers));
      return { ids: edges.map(({ node }) => node.id), ...pageInfo };
    };
    const first = await read('(first: 2)');
    expect([first.ids, first.hasNextPage]).toStrictEqual([['a', 'b'], true]);
    const next = await read(`(first: 2, after: "${first.endCursor}")`);
    expect([next.ids, next.hasNextPage]).toStrictEqual([['c'], false]);
    expect((await read('(last: 2)')).ids).toStrictEqual(['b', 'c']);
    expect((await read(`(last: 1, before: "${next.startCursor}")`)).ids).toStrictEqual(['b']);
    const bound = { 'x-svc-authorization': (await own.issue('service', { orgID: 'b' })).secret };
    expect((await read('', bound)).ids).toStrictEqual(['b']);
    expect((await read(`(after: "${first.endCursor}")`, bound)).ids).toStrictEqual([]);

    const tags = '{ edges { node { tag } } }';
    const query = `{ a: organization(id: "a") { keyTags ${tags} } d: organization(id: "d") { keyTags ${tags} } }`;
    expect((await own.graphql(query)).body).toStrictEqual({
      data: {
        a: { keyTags: { edges: [{ node: { tag: 'a1' } }, { node: { tag: 'a2' } }] } },
        d: { keyTags: { edges: [] } },
      },
    });
    for (const cursor of ['x', '', Buffer.from('["names"]').toString('base64url')]) {
      const response = await own.graphql(`{ organizations(after: "${cursor}") { edges { cursor } } }`);
      expect(issuesOf(response)).toStrictEqual(['after MALFORMED_ARGUMENT']);
    }
  });
});

describe('viewer and organization', () => {
  const query =
    '{ viewer { kind label scopes isRestricted orgID } own: organization(id: "globex") { id } other: organization(id: "acme") { id } }';

  it('return the credential of the request, and the organization that it can see', async () => {
    const { secret } = await t.issue('service', { orgID: 'globex', scopes: ['read'] });
    const { body } = await t.graphql(query, {}, { 'x-svc-authorization': secret });
    expect(body).toEqual({
      data: {
        viewer: { kind: 'service', label: 'test service', scopes: ['READ'], isRestricted: true, orgID: 'globex' },
        own: { id: 'globex' },
        other: null,
      },
    });
  });

  it('return every scope but that of a router, and no organization, for a credential without restrictions', async () => {
    const { body } = await t.graphql('{ viewer { scopes isRestricted orgID } }');
    const scopes = ['READ', 'CREATE', 'UPDATE', 'DELETE', 'CONSUME', 'VERIFY', 'ADMIN', 'PROPOSE', 'APPROVE', 'ACTOR'];
    expect(body).toEqual({ data: { viewer: { scopes, isRestricted: false, orgID: null } } });
  });
});

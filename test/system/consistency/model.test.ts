import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { configurations, postgresAndRedis, sqlite, type EnginePlace, type TestEngine } from '../../support/engines.js';
import { dateTime } from '../../support/date-time.js';
import { generated, itDetects, runs } from '../../support/generated.js';
import { createModel, restoreWindow, type Definition, type ListQuery, type Model } from './model.js';
import { lifecycleMutants, type StoreMutant } from './store-mutants.js';

const numRuns = runs('MODEL_RUNS', 50);
/** A run has half as many on average. */
const maxCommands = runs('MODEL_COMMANDS', 40);
const keyIDs = ['k0', 'k1', 'k2'];
const noon = Date.parse('2026-01-31T12:00:00Z') / 1000;

/** The service under test, over a place that outlives its restarts. */
interface Real {
  t: TestApp;
  readonly restart: () => Promise<void>;
}

/** Two installations in one place, which receive the requests in turn. */
function taking(turns: readonly [TestApp, TestApp]): TestApp {
  const [first, second] = turns;
  let count = 0;
  return {
    ...first,
    clock: {
      get now() {
        return first.clock.now;
      },
      set now(now) {
        for (const { clock } of turns) clock.now = now;
      },
    },
    // The second's own credential: what one has issued, the other lets in, which other tests are about.
    graphql: (...args) => ((count += 1) % 2 === 0 ? first : second).graphql(...args),
    close: async () => {
      await first.close();
      await second.close();
    },
  };
}

async function open(
  { env, folder, database }: EnginePlace,
  now: number,
  mutant: StoreMutant | undefined,
): Promise<TestApp> {
  const t = database ? taking([await startApp(env), await startApp(env)]) : await startApp(env);
  t.clock.now = new Date(now * 1000);
  await mutant?.(t.app, folder);
  return t;
}

const keyFields = `
  keyID orgID version updatedAt deletedAt state
  definition { alias tags isInactive expires quotaMax quotaRenewalRate quotaRemaining quotaRenews }
  quota { max used remaining renewsAt }`;

/** The result of the only root field of an operation, or the code of its rejection. */
async function sendQuery({ t }: Real, operation: string, variables: object): Promise<unknown> {
  const { body }: TestResponse = await t.graphql(operation, variables);
  const errors = body['errors'] as { extensions: { code: string } }[] | undefined;
  return errors?.[0]?.extensions.code ?? Object.values(body['data'] as object)[0];
}

/** A response in the shape of the model's: a key without what it lacks. */
function seen(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response;
  if ('orgKey' in response) return seen(response.orgKey);
  if (!('definition' in response)) return response;
  const { keyID: _, definition, ...key } = response as { keyID: string; definition: object };
  const given = Object.entries(definition).filter(([, value]) => value !== null);
  return { ...key, definition: Object.fromEntries(given) };
}

const change = (name: string, parameters: string, args: string) =>
  `mutation ($keyID: ID!${parameters}) { ${name}(keyID: $keyID${args}) { orgKey { ${keyFields} } } }`;
const operations = {
  create: change('createOrgKey', ', $input: CreateKeyInput!', ', input: $input'),
  update: change(
    'updateOrgKey',
    ', $input: UpdateKeyInput!, $isReset: Boolean, $expected: Int',
    ', input: $input, resetQuota: $isReset, expectedVersion: $expected',
  ),
  delete: change('deleteOrgKey', ', $expected: Int', ', expectedVersion: $expected'),
  restore: change('restoreOrgKey', '', ''),
  revert: change('revertOrgKey', ', $toVersion: Int!', ', toVersion: $toVersion'),
  consume: `mutation ($keyID: ID!, $amount: Int64) {
    consumeOrgQuota(keyID: $keyID, amount: $amount) { allowed refusal quota { max used remaining renewsAt } }
  }`,
  read: `query ($keyID: ID!) { orgKey(by: { keyID: $keyID }) { ${keyFields} } }`,
  list: `query ($filter: OrgKeyFilter, $orderBy: OrgKeyOrder, $descending: Boolean, $first: Int, $after: String) {
    orgKeys(filter: $filter, orderBy: $orderBy, descending: $descending, first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { keyID } }
    }
  }`,
};

interface Page {
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly edges: readonly { readonly node: { readonly keyID: string } }[];
}

async function list(
  real: Real,
  { orderBy, descending, tag, state, ...filter }: ListQuery,
  first: number,
): Promise<string[]> {
  const found: string[] = [];
  const times = Object.entries(filter).map(([name, value]) => [
    name,
    typeof value === 'number' ? dateTime(value) : value,
  ]);
  const lists = { tagsAll: tag && [tag], states: state && [state] };
  const sent: unknown = { ...Object.fromEntries(times), ...lists };
  for (let after: string | null = null; ;) {
    const page = (await sendQuery(real, operations.list, { filter: sent, orderBy, descending, first, after })) as Page;
    found.push(...page.edges.map(({ node }) => node.keyID));
    after = page.pageInfo.endCursor;
    if (page.pageInfo.hasNextPage) continue;
    expect(page.totalCount).toBe(found.length);
    return found;
  }
}

/** The history in storage has one entry for each change in the model's, with the same operation. */
async function expectSameHistory(model: Model, { t: { app } }: Real, keyID: string): Promise<void> {
  const { ports, store } = app.services;
  const entries = await store.historyOf(ports.hashKeyID(keyID));
  expect(
    entries.map(({ operation, versionBefore, versionAfter, quotaUsedBeforeReset: used }) => ({
      operation,
      versions: [versionBefore, versionAfter],
      used: used === undefined ? undefined : Number(used),
    })),
  ).toStrictEqual(
    model.history(keyID).map(({ operation, version, quotaUsedBeforeReset: used }) => ({
      operation,
      versions: [version - 1, version],
      used,
    })),
  );
}

async function expectComplete(model: Model, real: Real): Promise<void> {
  for (const keyID of keyIDs) {
    expect(seen(await sendQuery(real, operations.read, { keyID }))).toStrictEqual(model.read(keyID));
    await expectSameHistory(model, real, keyID);
  }
  const broken: string[] = [];
  for await (const {
    keyHash,
    key,
    isHistoryIntact: isHistoryComplete,
    isIndexed: isListed,
  } of real.t.app.services.store.verifyIntegrity()) {
    if (!key || !isHistoryComplete || !isListed) broken.push(keyHash);
  }
  expect(broken).toStrictEqual([]);
}

type Command = fc.AsyncCommand<Model, Real>;

/** A command that changes, or may change, one key: the two results and the two histories must be equal. */
function ofOneKey<Args extends { keyID: string }>(
  name: keyof typeof operations,
  args: { readonly [Name in keyof Args]: fc.Arbitrary<Args[Name]> },
  expected: (model: Model, args: Args) => { response: unknown; variables?: object },
): fc.Arbitrary<Command> {
  return fc.record(args).map((made) => ({
    check: () => true,
    toString: () => `${name} ${JSON.stringify(made)}`,
    async run(model, real) {
      const before = model.view(made.keyID);
      const { response, variables } = expected(model, made);
      expect(seen(await sendQuery(real, operations[name], { ...made, ...variables }))).toStrictEqual(response);
      await expectSameHistory(model, real, made.keyID);
      // The model is held to what is promised of it, too.
      const after = model.view(made.keyID);
      if (before && after && after.version !== before.version) {
        expect(after.version).toBe(before.version + 1);
        expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
      }
    },
  }));
}

const other = (text: string, run: Command['run']): Command => ({ check: () => true, toString: () => text, run });

const keyID = fc.constantFrom(...keyIDs);
const alias = fc.constantFrom('Alpha', 'Alpha 2', 'alpha', 'Beta');
const input: fc.Arbitrary<Definition> = fc.record(
  {
    alias,
    tags: fc.constantFrom(['a'], ['b'], ['a', 'b'], ['c', 'a', 'b']),
    isInactive: fc.constantFrom(false, false, true),
    expires: fc.integer({ min: -6, max: 3 }).map((hours) => (hours < 1 ? hours : noon + hours * 3600)),
    quotaMax: fc.constantFrom(-1, 0, 3, 10, 20, 20),
    quotaRenewalRate: fc.constantFrom(0, 60, 3600),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const orgID = fc.constantFrom('acme', 'umbrella');
const tag = fc.constantFrom('a', 'b');
const state = fc.constantFrom('ACTIVE', 'INACTIVE', 'EXPIRED', 'DELETED');
const filter = fc.oneof(
  fc.constant({}),
  fc.record({ orgID }),
  fc.record({ tag }),
  fc.record({ orgID, tag }),
  fc.record({ state }),
  fc.record({ orgID, state }),
  fc.record({ aliasPrefix: fc.constantFrom('Alpha', 'al') }),
  fc.record({ updatedSince: fc.constant(noon) }),
  fc.record({ expiresBefore: fc.constant(noon + 7201) }),
);
/** The version that a caller names: none, the one it is, or one that it is not. */
const expectation = fc.constantFrom(undefined, 0, 0, -1, 1);
const expectedBy = (model: Model, id: string, off: number | undefined) =>
  off === undefined ? undefined : model.version(id) + off;

const kinds = [
  ofOneKey<{ keyID: string; input: Definition; orgID: string }>('create', { keyID, input, orgID }, (model, args) => ({
    response: model.create(args.keyID, args.orgID, args.input),
    variables: { orgID: undefined, input: { ...args.input, orgID: args.orgID } },
  })),
  ofOneKey<{ keyID: string; input: Definition; isReset: boolean; off: number | undefined }>(
    'update',
    { keyID, input, isReset: fc.boolean(), off: expectation },
    (model, args) => {
      const expected = expectedBy(model, args.keyID, args.off);
      const response = model.update(args.keyID, args.input, args.isReset, expected);
      return { response, variables: { off: undefined, expected } };
    },
  ),
  ofOneKey<{ keyID: string; amount: number }>(
    'consume',
    { keyID, amount: fc.integer({ min: 1, max: 8 }) },
    (model, args) => ({ response: model.consume(args.keyID, args.amount) }),
  ),
  ofOneKey<{ keyID: string; off: number | undefined }>('delete', { keyID, off: expectation }, (model, args) => {
    const expected = expectedBy(model, args.keyID, args.off);
    return { response: model.delete(args.keyID, expected), variables: { off: undefined, expected } };
  }),
  ofOneKey<{ keyID: string }>('restore', { keyID }, (model, args) => ({ response: model.restore(args.keyID) })),
  ofOneKey<{ keyID: string; back: number }>(
    'revert',
    { keyID, back: fc.integer({ min: 0, max: 4 }) },
    (model, args) => {
      const toVersion = model.version(args.keyID) - args.back;
      return { response: model.revert(args.keyID, toVersion), variables: { back: undefined, toVersion } };
    },
  ),
  ofOneKey<{ keyID: string }>('read', { keyID }, (model, args) => ({ response: model.read(args.keyID) })),
  fc
    .record({
      filter,
      orderBy: fc.constantFrom('KEY_HASH', 'ALIAS', 'LAST_UPDATED'),
      descending: fc.boolean(),
      first: fc.integer({ min: 1, max: 2 }),
    })
    .map(({ filter, first, ...order }) =>
      other(`list ${JSON.stringify({ filter, first, ...order })}`, async (model, real) => {
        const query = { ...filter, ...order } as ListQuery;
        expect(await list(real, query, first)).toStrictEqual(model.list(query));
      }),
    ),
  fc.constantFrom(1, 59, 60, 3600, 90_000, restoreWindow, -1, -3600, -90_000).map((seconds) =>
    other(`clock ${seconds}`, async (model, { t }) => {
      model.clock.now += seconds;
      t.clock.now = new Date(model.clock.now * 1000);
    }),
  ),
  fc.constantFrom(0, restoreWindow + 1).map((seconds) =>
    other(`purge after ${seconds}`, async (model, { t }) => {
      model.clock.now += seconds;
      t.clock.now = new Date(model.clock.now * 1000);
      await t.app.services.store.purge(new Date((model.clock.now - restoreWindow) * 1000));
      model.purge(model.clock.now);
    }),
  ),
  fc.constant(
    other('restart', async (model, real) => {
      await real.restart();
      // What starts looks for what is to be purged, by the clock that it starts with.
      model.purge(noon);
      await expectComplete(model, real);
    }),
  ),
];

/** Some kinds come more often: nothing follows a deletion but a restoration, and some things take several updates. */
const [create, update, consume, , restore] = kinds;
const commands = [...kinds, create, update, update, consume, consume, restore].filter((kind) => kind !== undefined);

/** Runs commands against the service and the model. Returns the failure and how to reproduce it; null without one. */
async function findDifference(engine: TestEngine, most: number, mutant?: StoreMutant): Promise<string | null> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), async (cmds) => {
    const place = await engine.make();
    const real: Real = {
      t: await open(place, noon, mutant),
      restart: async () => {
        const now = real.t.clock.now.getTime() / 1000;
        await real.t.close();
        real.t = await open(place, now, mutant);
      },
    };
    const { ports } = real.t.app.services;
    const model = createModel(ports.hashKeyID);
    model.clock.now = noon;
    try {
      for (const keyID of keyIDs.slice(1)) {
        const input = { alias: 'Alpha', tags: ['a'], quotaMax: 10, quotaRenewalRate: 3600 };
        const response = await sendQuery(real, operations.create, { keyID, input: { ...input, orgID: 'acme' } });
        expect(seen(response)).toStrictEqual(model.create(keyID, 'acme', input));
      }
      await fc.asyncModelRun(() => ({ model, real }), cmds);
      await expectComplete(model, real);
    } finally {
      await real.t.close();
      await place.remove();
    }
  });
  const result = await fc.check(property, { ...generated(most), endOnFailure: mutant !== undefined });
  if (!result.failed) return null;
  return `FUZZ_SEED=${result.seed}\n${fc.defaultReportMessage(result)}\n${inspect(result.errorInstance, { depth: 8 })}`;
}

describe('the life of keys, command by command', () => {
  for (const engine of configurations) {
    // Two services have to be started for each run on a server, and again for each of its restarts.
    const most = engine === sqlite ? numRuns : runs('MODEL_RUNS', engine === postgresAndRedis ? 6 : 15);
    const name = `is that of a simple model, ${engine === sqlite ? 'on' : 'in two services on'} ${engine.name}`;
    it.skipIf(engine.isMissing)(name, { timeout: 240_000 + most * maxCommands * 200 }, async () => {
      expect(await findDifference(engine, most)).toBeNull();
    });
  }
});

describe('the model over a mutant', () => {
  itDetects.each(Object.entries(lifecycleMutants))('detects %s', { timeout: 240_000 }, async (_, mutant) => {
    expect(await findDifference(sqlite, 60, mutant)).toMatch(/^FUZZ_SEED=/);
  });
});

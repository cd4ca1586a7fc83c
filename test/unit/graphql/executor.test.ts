import fc from 'fast-check';
import {
  buildSchema,
  execute,
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type ExecutionArgs,
  type ExecutionResult,
} from 'graphql';
import { createYoga } from 'graphql-yoga';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/graphql/execution/deadline.js';
import { maskError } from '../../../src/graphql/errors.js';
import { executeCompiled } from '../../../src/graphql/execution/executor/execute.js';
import { createOperationCache } from '../../../src/graphql/execution/operation-cache.js';
import { createRandom, generated, runs, seed } from '../../support/generated.js';
import { executorOf, graphqlJS, type ExecuteDocument as Execute } from './executors.js';
import { generateOperation } from './generated-operations.js';
import { buildFailingSchema, rootValue, sdl, text, type FailureOptions } from './failing-schema.js';

/*
 * The executor returns what graphql-js returns. EXECUTOR_RUNS=20000 is the full run; FUZZ_SEED repeats a run.
 *
 * There is one difference, and none in the result: when a type fails to serialize a value with a GraphQLError, the cause
 * of ours is a plain Error, as with Yoga's executor, so that it is masked as an internal error.
 */

const createOwn = executorOf;

const schema = buildFailingSchema();

/** A valid operation with its generated variables, and with the opposite conditions; undefined for an invalid one. */
function validCase(from: number): readonly [ExecutionArgs, ExecutionArgs] | undefined {
  const { query, operationName, variables } = generateOperation(schema, createRandom(from));
  const document = parse(query);
  if (validate(schema, document, specifiedRules).length > 0) return undefined;
  const turned = Object.entries(variables).map(([name, value]) => [name, /^b\d$/.test(name) ? value === false : value]);
  const args = { schema, document, operationName, rootValue };
  return [
    { ...args, variableValues: variables },
    { ...args, variableValues: Object.fromEntries(turned) as Record<string, unknown> },
  ];
}

interface Outcome {
  readonly isPromise: boolean;
  readonly members: readonly string[];
  readonly data: unknown;
  readonly errors: readonly object[];
  /** The calls of resolvers in order, with their arguments. */
  readonly calls: readonly string[];
}

async function outcomeOf(run: Execute, args: ExecutionArgs, failure: Omit<FailureOptions, 'calls'>): Promise<Outcome> {
  const calls: string[] = [];
  const given = run({ ...args, contextValue: { ...failure, calls } });
  const result = await given;
  // Resolvers below a field that is null by now continue, and their calls are compared too.
  await idle();
  const errors = (result.errors ?? []).map((error) => {
    const { nodes, source, positions, originalError } = error;
    const isOne = error instanceof GraphQLError;
    const places = nodes?.map(({ loc }) => loc?.start);
    return {
      ...error.toJSON(),
      isOne,
      places,
      isOfSource: source?.body.length,
      positions,
      cause: causeOf(originalError),
    };
  });
  return { isPromise: given instanceof Promise, members: Object.keys(result), data: result.data, errors, calls };
}

function causeOf(error: Error | undefined): unknown {
  if (!error) return undefined;
  const isRejection = / cannot represent |^Rejected by serialize/.test(error.message);
  return [isRejection ? 'Error' : error.constructor.name, error.message];
}

/** The first response that differs from graphql-js's, beside it; undefined where none of the generated ones does. */
async function firstDifference(run: Execute, numRuns: number): Promise<string | undefined> {
  for (let from = seed; from < seed + numRuns; from += 1) {
    for (const args of validCase(from) ?? []) {
      const expected = text(await outcomeOf(graphqlJS, args, { seed: from }));
      const actual = text(await outcomeOf(run, args, { seed: from }));
      if (actual !== expected) return `${from}\n${expected}\n${actual}`;
    }
  }
  return undefined;
}

async function idle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Counts unhandled rejections, each of which would end the process, while the function `during` runs. */
async function withUnheard<T>(during: (count: () => Promise<number>) => Promise<T>): Promise<T> {
  const event = 'unhandledRejection';
  const listeners = process.listeners(event);
  let unheard = 0;
  const onUnheard = () => {
    unheard += 1;
  };
  process.removeAllListeners(event);
  process.on(event, onUnheard);
  try {
    return await during(async () => {
      await idle();
      const count = unheard;
      unheard = 0;
      return count;
    });
  } finally {
    process.off(event, onUnheard);
    for (const listener of listeners) process.on(event, listener);
  }
}

describe(`The executor (FUZZ_SEED=${seed})`, () => {
  it('returns what graphql-js returns: data, errors and calls of resolvers', { timeout: 3_600_000 }, async () => {
    const run = createOwn(schema);
    const seen = { operations: 0, executions: 0, rejected: 0, withoutData: 0, withErrors: 0, later: 0 };
    let unheardByGraphQLJS = 0;
    await withUnheard(async (countUnheard) => {
      const compare = async (args: ExecutionArgs, from: number, times: number, known?: Outcome) => {
        const expected = known ?? (await outcomeOf(graphqlJS, args, { seed: from }));
        unheardByGraphQLJS += await countUnheard();
        const actual = await Promise.all(Array.from({ length: times }, () => outcomeOf(run, args, { seed: from })));
        for (const outcome of actual) expect(text(outcome)).toBe(text(expected));
        expect(await countUnheard()).toBe(0);
        seen.executions += times;
        if (expected.data === undefined) seen.rejected += times;
        if (expected.data === null) seen.withoutData += times;
        if (expected.errors.length > 0) seen.withErrors += times;
        if (expected.isPromise) seen.later += times;
        return expected;
      };
      const property = fc.asyncProperty(fc.noShrink(fc.nat()), async (from) => {
        const variants = validCase(from);
        fc.pre(variants !== undefined);
        seen.operations += 1;
        const [asGenerated, turned] = variants;
        const expected = await compare(asGenerated, from, 1);
        await compare(turned, from, 1);
        // Now the operation is compiled, and is executed twice at the same time.
        await compare(asGenerated, from, 2, expected);
      });
      await fc.assert(property, generated(runs('EXECUTOR_RUNS', 150)));
    });
    console.log(`executor: ${JSON.stringify({ ...seen, unheardByGraphQLJS })}`);
    for (const name of ['rejected', 'withoutData', 'withErrors', 'later'] as const) {
      expect(seen[name]).toBeGreaterThan(seen.executions / 50);
      expect(seen[name]).toBeLessThan(seen.executions);
    }
  });

  it("returns the data that Yoga's executor returns", { timeout: 3_600_000 }, async () => {
    const yoga = createYoga({ schema, maskedErrors: false }).getEnveloped({}).execute as Execute;
    const run = createOwn(schema);
    const seen = { responses: 0, otherErrors: 0 };
    const property = fc.asyncProperty(fc.noShrink(fc.nat()), async (from) => {
      const [args] = validCase(from) ?? [];
      // Yoga's executor takes a response with a field that is called `then` for a promise, and fails.
      fc.pre(args !== undefined && !args.document.loc?.source.body.includes('then:'));
      const failure = { seed: from, isTame: true };
      const [expected, actual] = [await outcomeOf(yoga, args, failure), await outcomeOf(run, args, failure)];
      if (expected.data === undefined) return;
      // Yoga's executor rejects default values of variables that graphql-js 17 accepts, such as `null` in an input object.
      if (text(expected.errors).includes('Argument \\"')) return;
      expect(text(actual.data)).toBe(text(expected.data));
      expect(actual.errors.length > 0).toBe(expected.errors.length > 0);
      seen.responses += 1;
      if (text(actual.errors) !== text(expected.errors)) seen.otherErrors += 1;
    });
    await withUnheard(async () => fc.assert(property, generated(runs('EXECUTOR_RUNS', 150))));
    console.log(`executor and Yoga's: ${JSON.stringify(seen)}`);
    // It also reports errors below a null; and where several race to make one thing null, another may win.
    expect(seen.otherErrors).toBeLessThan(seen.responses / 10);
  });

  it.each<[string, () => Execute]>([
    [
      'ignores the operation name',
      () => {
        const run = createOwn(schema);
        return (args) => run({ ...args, operationName: args.operationName && 'O0' });
      },
    ],
    [
      'returns null for a non-nullable field',
      () => {
        const twin = buildFailingSchema(sdl.replaceAll('sure: Thing!', 'sure: Thing'));
        return createOwn(twin);
      },
    ],
    [
      'omits a default argument',
      () => {
        const twin = buildFailingSchema(
          sdl.replace('float: Float text: String', 'float: Float text: String = "surprise"'),
        );
        return createOwn(twin);
      },
    ],
    [
      'drops the last error',
      () => {
        const run = createOwn(schema);
        return async (args) => {
          const { errors = [], ...rest } = await run(args);
          return errors.length > 0 ? { errors: errors.slice(0, -1), ...rest } : rest;
        };
      },
    ],
  ])('detects an executor that %s', { timeout: 120_000 }, async (_, mutant) => {
    expect(await withUnheard(async () => firstDifference(mutant(), 4_000))).toBeDefined();
  });

  it('executes a field named like a member of Object.prototype', async () => {
    const query = '{ __proto__: __typename constructor: __typename toString: __typename then: __typename }';
    const run = createOwn(schema);
    const { data } = await run({ schema, document: parse(query) });
    expect(text(data)).toBe('{"__proto__":"Query","constructor":"Query","toString":"Query","then":"Query"}');
  });

  it('runs no text of a client as code', async () => {
    // What graphql-jit 0.8.9 takes for its own mark of a date, and puts into the code of its plan as it stands.
    const mark = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
    const query = `{ echo(text: "${mark}globalThis.overridden=1") }`;
    const run = createOwn(schema);
    for (let time = 0; time < 5; time += 1)
      await run({ schema, document: parse(query), contextValue: { seed: 1, calls: [] } });
    expect(globalThis).not.toHaveProperty('overridden');
  });
});

/** An iterable that returns these items and then throws. */
function* failingAfter(...items: readonly unknown[]): Generator<unknown> {
  yield* items;
  throw new Error('an iterator');
}

describe('Compiled operations', () => {
  const hello = buildSchema(
    'type Query { a: String b: String sure: String! many: [Query!] } type Subscription { a: String }',
  );
  const source = { a: 'A', b: 'B' };

  /** Counts the compiled operations by the calls of `getRootType` with which each of them begins. */
  function createCounted(maxFields?: number) {
    const rootTypes = vi.spyOn(hello, 'getRootType');
    const own = createOwn(hello, maxFields);
    let count = 0;
    /** All resolvers of this schema are synchronous. */
    const run = (query: string | ReturnType<typeof parse>, args: Partial<ExecutionArgs> = {}) => {
      rootTypes.mockClear();
      const result = own({
        schema: hello,
        document: typeof query === 'string' ? parse(query) : query,
        rootValue: source,
        ...args,
      });
      if (rootTypes.mock.calls.length > 0) count += 1;
      if (result instanceof Promise) throw new Error('The result is a promise.');
      return result;
    };
    return { run, begun: () => count };
  }

  it('are compiled once for each operation of a document', () => {
    const { run, begun } = createCounted();
    const document = parse('query A { a } query B { b }');
    for (let time = 0; time < 3; time += 1) {
      expect(run(document, { operationName: 'A' })).toEqual({ data: { a: 'A' } });
      expect(run(document, { operationName: 'B' })).toEqual({ data: { b: 'B' } });
    }
    expect(begun()).toBe(2);
  });

  it('are discarded when they have too many fields, and compiled again', () => {
    const { run, begun } = createCounted(10);
    const small = parse('{ a }');
    for (let time = 0; time < 5; time += 1) run(small);
    expect(begun()).toBe(1);
    for (let time = 0; time < 12; time += 1) run(parse('{ a b }'));
    expect(begun()).toBe(13);
    expect(run(small)).toEqual({ data: { a: 'A' } });
    expect(begun()).toBe(14);
  });

  it('keep the fields of 16 combinations of conditions, and execute all of them', () => {
    const { run } = createCounted();
    const names = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'];
    const document = parse(
      `query (${names.map((name) => `$${name}: Boolean!`).join()}) { ${names.map((name) => `${name}: a @include(if: $${name})`).join(' ')} }`,
    );
    // Called when fields are compiled.
    const compiled = vi.spyOn(hello, 'getQueryType');
    const isCompiled = (bits: number) => {
      compiled.mockClear();
      const chosen = names.filter((_, index) => (bits >> index) & 1);
      const variableValues = Object.fromEntries(names.map((name) => [name, chosen.includes(name)]));
      const data = Object.fromEntries(chosen.map((name) => [name, 'A']));
      expect(run(document, { variableValues })).toEqual({ data });
      return compiled.mock.calls.length > 0;
    };
    const combinations = Array.from({ length: 63 }, (_, index) => index + 1);
    for (const bits of combinations) expect(isCompiled(bits)).toBe(true);
    expect(combinations.filter((bits) => !isCompiled(bits))).toHaveLength(16);
  });

  it.each<[string, string, Partial<ExecutionArgs>?]>([
    ['a missing variable', 'query ($a: Int!) { a @skip(if: $a) }'],
    ['variables that are not valid', 'query ($a: Int!, $b: [Boolean!]) { a }', { variableValues: { a: 'x', b: [1] } }],
    [
      'more errors than graphql-js reports',
      'query ($a: [Int]) { a }',
      { variableValues: { a: Array.from({ length: 60 }, () => 'x') } },
    ],
    ['a variable of no input type', 'query ($a: Query) { a }', { variableValues: { a: {} } }],
    ['a mutation in a schema without mutations', 'mutation { a }'],
    ['an event of a subscription', 'subscription { a }', { rootValue: { a: 'event' } }],
    ['an event of a subscription that fails', 'subscription { a }', { rootValue: { a: new Error('event') } }],
    ['introspection', '{ __schema { queryType { name } } __type(name: "Query") { name } }'],
    [
      'introspection below the root',
      '{ many { __typename __schema { queryType { name } } } }',
      { rootValue: { many: [{}] } },
    ],
    ['a directive that graphql-js does not execute', '{ ... @hint { a } }'],
    ['an unknown field', '{ a unknown }'],
    ['an unknown fragment', '{ a ...Unknown }'],
    ['a fragment on an unknown type', '{ a ... on Unknown { b } }'],
    ['a field named like a fragment before it', '{ ...a a } fragment a on Query { b }'],
    ['a field of introspection in a type other than Query', 'subscription { a __schema { queryType { name } } }'],
  ])('return what graphql-js returns for %s', (_, query, args = {}) => {
    const { run } = createCounted();
    const document = parse(query);
    const expected = execute({ schema: hello, document, rootValue: source, ...args }) as ExecutionResult;
    const actual = run(document, args);
    expect(text(actual)).toBe(text(expected));
    expect(Object.keys(actual)).toEqual(Object.keys(expected));
  });

  it('return only the error of a condition that is null', () => {
    const { run } = createCounted();
    const query = 'query ($if: Boolean = true) { a @include(if: $if) }';
    const { data, errors } = run(query, { variableValues: { if: null } });
    expect(data).toBeNull();
    expect(errors?.map(({ message }) => message)).toEqual([
      'Argument "@include(if:)" has invalid value: Expected variable "$if" provided to non-null type "Boolean!" not to be null.',
    ]);
  });

  it('compile the fields of an object once for all of its executions', () => {
    const { run, begun } = createCounted(10);
    const document = parse('{ many { a b } }');
    for (let time = 0; time < 12; time += 1) {
      expect(run(document, { rootValue: { many: [source] } })).toEqual({ data: { many: [source] } });
    }
    expect(begun()).toBe(1);
  });

  it('compile fields once for all values of the variables of other directives', () => {
    const { run } = createCounted();
    const document = parse('query ($text: String) { ... @hint(label: $text) { a } }');
    const compiled = vi.spyOn(hello, 'getQueryType');
    for (const text of ['one', 'two']) {
      compiled.mockClear();
      expect(run(document, { variableValues: { text } })).toEqual({ data: { a: 'A' } });
    }
    expect(compiled).not.toHaveBeenCalled();
  });

  it('throw if graphql-js accepts variables that were rejected', () => {
    const document = parse('{ a }');
    const prepared = createOperationCache(hello).prepare(document, undefined)?.compiled;
    if (!prepared) throw new Error('There is no operation.');
    const compiled = { ...prepared, coerceVariables: () => undefined };
    const run = () => executeCompiled(compiled, { variableValues: {}, contextValue: {} });
    expect(run).toThrow('graphql-js accepts variables that the executor rejected.');
  });

  it.each([
    ['an item that was begun', () => [{ sure: Promise.reject(new Error('later')) }, null]],
    ['an item that comes after', () => [null, Promise.reject(new Error('later'))]],
    ['an item that comes after in a Set', () => new Set([null, Promise.reject(new Error('later'))])],
    ['an item before one that cannot be read', () => failingAfter(null, Promise.reject(new Error('later')))],
  ])('handle the rejection of %s in a list that has failed', async (_, many) => {
    const unheard = await withUnheard(async (count) => {
      const { run } = createCounted();
      const { data } = run('{ many { sure } }', { rootValue: { many } });
      expect(data).toEqual({ many: null });
      return count();
    });
    expect(unheard).toBe(0);
  });

  it('handle the rejection of a check of a type that another check makes unnecessary', async () => {
    const typed = buildSchema(
      'type Query { named: Named } interface Named { a: Int } type First implements Named { a: Int } type Second implements Named { a: Int }',
    );
    Object.assign(typed.getType('First') ?? {}, { isTypeOf: () => Promise.reject(new Error('later')) });
    Object.assign(typed.getType('Second') ?? {}, { isTypeOf: () => true });
    const unheard = await withUnheard(async (count) => {
      const args = { schema: typed, document: parse('{ named { a } }'), rootValue: { named: { a: 1 } } };
      expect(await createOwn(typed)(args)).toEqual({ data: { named: { a: 1 } } });
      return count();
    });
    expect(unheard).toBe(0);
  });

  it('report a value that cannot be serialized as an internal error, and do not quote it', async () => {
    const canary = 'c4n4ry';
    const typed = buildSchema(
      'type Query { number: Int thing: Thing named: Named } type Thing implements Named { id: ID } interface Named { id: ID }',
    );
    Object.assign(typed.getType('Thing') ?? {}, { isTypeOf: () => false });
    Object.assign(typed.getType('Named') ?? {}, { resolveType: () => ({ secret: canary }) });
    const document = parse('{ number thing { id } named { id } }');
    const root = { number: canary, thing: { secret: canary }, named: { secret: canary } };
    const own = createOwn(typed)({ schema: typed, document, rootValue: root });
    const responses = [own, execute({ schema: typed, document, rootValue: root })] as ExecutionResult[];
    for (const { errors = [] } of responses) {
      expect(errors).toHaveLength(3);
      expect(JSON.stringify(errors.map(maskError))).not.toContain(canary);
    }
    expect(responses[0]?.errors?.map((error) => maskError(error).extensions['code'])).toEqual([
      'INTERNAL',
      'INVALID',
      'INVALID',
    ]);
    // For the log.
    expect(responses[0]?.errors?.[0]?.originalError?.cause).toBeInstanceOf(GraphQLError);
  });
});

describe('The value of a field', () => {
  const typed = buildSchema(`
    scalar Loud
    type Query {
      text: Text called: Text many: [String] sure: [String!] loud: [Loud]
      own(times: Int): String strict(times: Int!): String resolved: String plain: Int!
    }
    type Text { length: Int name: String }
  `);
  Object.assign(typed.getType('Loud') ?? {}, { coerceOutputValue: (value: unknown) => `${String(value)}!` });
  const { resolved } = typed.getQueryType()?.getFields() ?? {};
  if (resolved) resolved.resolve = () => 'by its resolver';
  const named = Object.defineProperty(() => 'called', 'name', { value: 'a function' });
  const thenable = (value: unknown) =>
    Object.assign(() => 'not called', { then: (resolve: (result: unknown) => void) => resolve(value) });
  const failing = {
    get many() {
      throw new Error('a getter');
    },
  };

  it.each<[string, string, unknown]>([
    ['no property of a text', '{ text { length } }', { text: 'abc' }],
    ['a property of a function', '{ called { name } }', { called: () => named }],
    [
      'the result of a method with arguments',
      '{ own(times: 2) }',
      { own: ({ times }: { times: number }) => 'x'.repeat(times) },
    ],
    ['a property, also when the field has arguments', '{ own(times: 2) }', { own: 'plain' }],
    ['the result of its resolver, in place of a property', '{ resolved }', { resolved: 'a property' }],
    ['a list with null, a number and an error', '{ many }', { many: ['a', null, 1, new Error('failed')] }],
    ['a list without null', '{ sure }', { sure: ['a', 'b'] }],
    ['a list that must not contain null', '{ sure }', { sure: ['a', null] }],
    ['a text in place of a list', '{ many }', { many: 'abc' }],
    ['a list of a scalar that has a form for everything', '{ loud }', { loud: ['a', undefined, null, false] }],
    ['an error for a missing argument, also in place of a property', '{ strict }', { strict: 'plain' }],
    ['a Set without null', '{ sure }', { sure: new Set(['a', 'b']) }],
    ['a Set that must not contain null', '{ sure }', { sure: new Set(['a', null, 'b']) }],
    ['a list that can be read once', '{ many }', { many: () => ['a', null, 1].values() }],
    ['a list that cannot be read to its end', '{ many }', { many: () => failingAfter('a', null) }],
    ['the value of a function with a `then`', '{ many }', { many: () => thenable(['a']) }],
    ['a getter that throws', '{ many }', failing],
    ['a value that must not be null', '{ plain }', {}],
    ['a value that cannot be serialized', '{ plain }', { plain: 'x' }],
    ['a function that returns nothing', '{ many plain }', { many: () => undefined, plain: () => 1 }],
    ['nothing of a root that is null', '{ many }', null],
  ])('is, as in graphql-js, %s', async (_, query, root) => {
    const args = { schema: typed, document: parse(query), rootValue: root };
    expect(text(await createOwn(typed)(args))).toBe(text(await execute(args)));
  });
});

describe('An execution that is finished', () => {
  const typed = buildSchema(
    'type Query { sure: Int! part: Part named: Named checked: Checked } interface Named { a: Int } type Part implements Named { a: Int } type Checked { a: Int }',
  );
  let decide: (value: unknown) => void;
  const decision = () => new Promise((resolve) => (decide = resolve));
  Object.assign(typed.getType('Named') ?? {}, { resolveType: decision });
  Object.assign(typed.getType('Checked') ?? {}, { isTypeOf: decision });

  it.each([
    ['a value', 'part', () => ({ part: decision() }), (a: () => number) => ({ a })],
    ['the type of a value', 'named', (a: () => number) => ({ named: { a } }), () => 'Part'],
    ['a check of a type', 'checked', (a: () => number) => ({ checked: { a } }), () => true],
  ])('calls no resolver for %s that arrives later', async (_, field, root, arriving) => {
    const a = vi.fn(() => 1);
    const document = parse(`{ ${field} { a } sure }`);
    const later = { sure: Promise.reject(new Error('failed')), ...root(a) };
    const { data } = await createOwn(typed)({ schema: typed, document, rootValue: later });
    expect(data).toBeNull();
    decide(arriving(a));
    await idle();
    expect(a).not.toHaveBeenCalled();
  });
});

describe('An operation with a deadline', () => {
  const slow = buildSchema('type Query { first: Part second: String } type Part { now: String }');
  const run = createOwn(slow);
  const document = parse('{ first { now } second }');
  const timeoutMs = 60_000;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('rejects when the deadline expires, and calls no further resolver', async () => {
    const deadline = new Deadline(timeoutMs, () => new Error('too long'));
    let begun = 0;
    let arrive: (part: object) => void = () => undefined;
    const root = {
      first: () => new Promise((resolve) => (arrive = resolve)),
      second: 'now',
    };
    const result = run({ schema: slow, document, rootValue: root, deadline }) as Promise<unknown>;
    vi.advanceTimersByTime(timeoutMs);
    await expect(result).rejects.toBe(deadline.error);
    arrive({
      get now() {
        begun += 1;
        return 'late';
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toBe(0);
  });

  it('calls no resolver when the deadline has expired before', () => {
    const first = vi.fn();
    const deadline = new Deadline(timeoutMs, () => new Error('too late'));
    vi.advanceTimersByTime(timeoutMs);
    expect(() => run({ schema: slow, document, rootValue: { first }, deadline })).toThrow('too late');
    expect(first).not.toHaveBeenCalled();
  });

  it('is executed to its end when the deadline does not expire', async () => {
    const deadline = new Deadline(timeoutMs, () => new Error('never'));
    const root = { first: async () => ({ now: 'in time' }), second: 'at once' };
    const result = await run({ schema: slow, document, rootValue: root, deadline });
    expect(result).toEqual({ data: { first: { now: 'in time' }, second: 'at once' } });
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
  });
});

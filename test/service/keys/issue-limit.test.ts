import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import { inputs, parseDefinition } from '../../../src/keys/definition/parse.js';
import { withoutExcess } from '../../../src/keys/definition/issues.js';
import { startOwnApp } from '../../support/app.js';
import { errorsOf } from '../../support/responses.js';

const many = 7_000;
const counted = (entry: (n: number) => readonly [string, unknown]) =>
  Object.fromEntries(Array.from({ length: many }, (_, n) => entry(n)));
/** A definition with thousands of problems, by what is wrong with it. */
const definitions: Record<string, Record<string, unknown>> = {
  'unknown fields': counted((n) => [`x${n}`, 1]),
  'list members of the wrong type': { tags: Array<number>(100).fill(1), applyPolicies: Array<number>(100).fill(1) },
  'members of nested lists': {
    accessRights: Array.from({ length: 200 }, (_, n) => ({ label: `a${n}`, versions: Array<number>(50).fill(1) })),
  },
  'labels that repeat': { accessRights: Array<object>(1_000).fill({ label: 'one' }) },
  'names in free-form JSON': { metaData: counted((n) => [`\0${n}`, 1]) },
};

function errorOf(definition: unknown): AppError {
  try {
    parseDefinition('update', definition);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('The definition was accepted.');
}

const message = 'The key definition has 100 problems and more; only the first 100 problems are listed.';

describe('the issues of a definition', () => {
  it.each(Object.entries(definitions))('end after the first 100: %s', (_, definition) => {
    const { issues, ...error } = errorOf(definition);
    expect(error).toMatchObject({ code: 'INVALID' });
    expect(errorOf(definition).message).toBe(message);
    expect(issues).toHaveLength(100);
  });

  it('are all listed if there are 100', () => {
    const definition = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x${n}`, 1]));
    expect(errorOf(definition).message).toBe('The key definition has 100 problems.');
    expect(errorOf(definition).issues).toHaveLength(100);
  });

  it('name the invalid members, beside any number of valid ones', () => {
    const definition = {
      tags: Array<number>(60).fill(1),
      applyPolicies: Array<number>(60).fill(1),
      accessRights: Array.from({ length: 90 }, (_, n) => ({ label: `a${n}` })),
      metaData: counted((n) => [`m${n}`, n]),
      rate: 1,
    };
    expect(new Set(errorOf(definition).issues.map(({ path }) => path[0]))).toEqual(new Set(['tags', 'applyPolicies']));
  });
});

describe('the limit of 100 issues', () => {
  const methods = Array.from({ length: 50 }, (_, n) => `item ${n}`);
  const urls = [{ methods }, { methods }, { methods }];

  it.each<[string, Record<string, unknown>]>([
    ['first', { label: '', allowedUrls: urls }],
    ['last', { allowedUrls: urls, label: '' }],
  ])('lists the same issues when an invalid required field is sent %s', (_, right) => {
    const { issues } = errorOf({ accessRights: [right] });
    expect(issues).toHaveLength(100);
    expect(issues.filter(({ path }) => path.at(-1) === 'label')).toEqual([expect.objectContaining({ code: 'EMPTY' })]);
  });
});

describe('validation of many issues', () => {
  const partsOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum: number, member) => sum + partsOf(member), 1)
      : 1;

  it.each(['unknown fields', 'members of nested lists'])('receives no more values than it can report: %s', (name) => {
    expect(partsOf(withoutExcess(inputs.update, definitions[name]))).toBeLessThan(200);
  });

  it('receives a definition with few problems unchanged', () => {
    const definition = { tags: ['a', 1], accessRights: [{ label: 1 }, { label: 'b', x: 1 }], x: null, rate: 'fast' };
    expect(withoutExcess(inputs.update, definition)).toEqual(definition);
  });
});

it('lists the first 100 problems of all literals of an operation', async () => {
  const app = await startOwnApp();
  const fields = Array.from({ length: 80 }, (_, n) => `x${n}: 1`).join(' ');
  const [error] = errorsOf(
    await app.graphql(
      `{ a: previewKey(input: {${fields}}) { keyHash } b: previewKey(input: {${fields}}) { keyHash } }`,
    ),
  );
  expect(error?.message).toBe(message);
  expect(error?.extensions.issues).toHaveLength(100);
});

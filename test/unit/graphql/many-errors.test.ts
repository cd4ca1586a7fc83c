import { buildSchema, getOperationAST, GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';
import { maskError } from '../../../src/graphql/errors.js';
import { executeCompiled } from '../../../src/graphql/execution/executor/execute.js';
import { compileOperation } from '../../../src/graphql/execution/executor/compile.js';
import { createReadBudget } from '../../../src/keys/read-budget.js';
import { AppError } from '../../../src/lib/errors.js';
import { withoutStackTraces } from '../../../src/lib/stack-traces.js';

it('creates errors for clients without stack traces', () => {
  const thrown = new GraphQLError('Field error.', { originalError: new AppError('UNAVAILABLE', 'Try again.') });
  expect(maskError(thrown).stack).not.toContain('\n    at ');
  expect(new Error('later').stack).toContain('\n    at ');
});

it('restores stack traces when work throws', () => {
  const limit = Error.stackTraceLimit;
  expect(() =>
    withoutStackTraces(() => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(Error.stackTraceLimit).toBe(limit);
});

it('fails all reads of a request past its deadline with one error', () => {
  const reads = createReadBudget(5_000, 1_000, () => 0);
  expect(reads.expired()).toBe(reads.expired());
});

const schema = buildSchema('scalar JSON input I { a: Int } type Query { f(input: I, json: JSON): Int }');
const document = parse('query ($input: I) { f(input: $input) }');
const operation = getOperationAST(document);
if (!operation) throw new Error('The document has no operation.');
const compiled = compileOperation(schema, document, operation, () => undefined);
const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, n]));

it.each([
  ['ends after the first error in large variables, whose messages would repeat all of them', 600, 2],
  ['reports up to 50 errors in small variables', 100, 51],
])('%s', async (_, members, errors) => {
  const result = await executeCompiled(compiled, { variableValues: { input: unknown(members) }, contextValue: {} });
  expect(result.errors).toHaveLength(errors);
});

import { readFileSync } from 'node:fs';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const linter = new ESLint();
const schema = 'schema/schema.graphql';
const operations = 'test/service/graphql/operations.graphql';

/** The rules that a file of contracts breaks, once a fault is faulty in a copy of it. */
async function brokenRules(file: string, original: RegExp, faulty: string): Promise<string[]> {
  const text = readFileSync(file, 'utf8');
  if (!original.test(text)) throw new Error(`${file} has nothing like ${String(original)} to plant a fault in.`);
  const [result] = await linter.lintText(text.replace(original, faulty), { filePath: file });
  return [...new Set(result?.messages.map(({ ruleId, message }) => ruleId?.split('/').at(-1) ?? message))];
}

describe('the linter', () => {
  it.each([schema, operations])('accepts the current %s', async (file) => {
    expect(await brokenRules(file, /$/, '')).toEqual([]);
  });

  it.each([
    ['a field without a description', /"""[^"]+"""(\s+keyHash:)/, '$1', 'require-description'],
    ['an argument without a description', /"""[^"]+"""(\s+toVersion:)/, '$1', 'require-description'],
    ['an enum value without a description', /"""[^"]+"""(\s+INACTIVE\s)/, '$1', 'require-description'],
    ['an identifier that does not end in ID', /keyID: ID!/, 'keyId: ID!', 'naming-convention'],
    ['an acronym in capitals', /jwtData: KeyJwtData\s/, 'dataJWT: KeyJwtData\n', 'naming-convention'],
    ['an input that is not called one', /input KeyLimitInput/, 'input KeyLimitArgs', 'naming-convention'],
    ['a name with an underscore', /keyHash: String!/, 'key_hash: String!', 'naming-convention'],
    ['a deprecation without a reason', /@deprecated\([^)]+\)/, '@deprecated', 'require-deprecation-reason'],
    ['a list that cannot be paged', /first: Int\s+"""([^"]+"""\s+last: Int)/, 'size: Int\n"""$1', 'relay-arguments'],
    ['a page without its position', /pageInfo: PageInfo!/, 'place: PageInfo!', 'relay-connection-types'],
    [
      'a mutation that returns a scalar',
      /(toVersion: Int!\s+\)): \w+/,
      '$1: Boolean',
      'no-scalar-result-type-on-mutation',
    ],
    [
      'a type that nothing leads to',
      /$/,
      '\n"""Unreachable."""\ntype Unreachable {\n  """No."""\n  no: Int\n}\n',
      'no-unreachable-types',
    ],
  ])('rejects %s in the schema', async (_, original, faulty, rule) => {
    expect(await brokenRules(schema, original, faulty)).toContain(rule);
  });

  it.each([
    ['an unknown field', /\n {2}previewKey\(input: \$input\) {/, '$& unknown', 'fields-on-correct-type'],
    ['a variable that nothing uses', /query PreviewKey\(/, '$&$other: Int, ', 'no-unused-variables'],
    ['an object selected without its id', /\n {4}id\n/, '\n', 'require-selections'],
  ])('rejects %s in the operations', async (_, original, faulty, rule) => {
    expect(await brokenRules(operations, original, faulty)).toEqual([rule]);
  });
});

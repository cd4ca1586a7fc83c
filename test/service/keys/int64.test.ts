import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { runCommand } from '../../support/cli.js';
import { stateOf } from '../../support/state.js';

/* 64-bit integers from the caller's digits to the database and back, and every way of writing a number on the way. */

const max = '9223372036854775807';
const min = '-9223372036854775808';
const data = mkdtempSync(join(tmpdir(), 'keyfront-int64-'));
let t: TestApp;

beforeAll(async () => {
  t = await startApp({ KEYFRONT_DATA: data });
  await t.importKeys({ key_id: 'k', org_id: 'acme' });
});

afterAll(async () => {
  await t.close();
  rmSync(data, { recursive: true, force: true });
});

const fields = 'quotaMax expires lastCheck accessRights { limit { quotaMax } } metaData';
const previewing = (input: string, declared = '') =>
  `query${declared} { previewKey(input: ${input}) { data { ${fields} } } }`;
const updating = (input: string, declared = '') =>
  `mutation${declared} { updateOrgKey(keyID: "k", input: ${input}) { orgKey { definition { ${fields} } } } }`;

/** A GraphQL request whose variables are text, because no double holds their numbers. */
const withVariables = (query: string, input: string) =>
  t.post(`{"query":${JSON.stringify(query)},"variables":{"input":${input}}}`);

const asREST = (high: string, low: string) =>
  `{"quota_max":${high},"expires":${low},"last_check":${high},"access_rights":{"a":{"limit":{"quota_max":${high}}}},"meta_data":{"n":[${high},${low}]}}`;
const asVariables = (high: string, low: string) =>
  `{"quotaMax":${high},"expires":${low},"lastCheck":${high},"accessRights":[{"label":"a","limit":{"quotaMax":${high}}}],"metaData":{"n":[${high},${low}]}}`;
const asLiteral = (high: string, low: string) => asVariables(high, low).replace(/"(\w+)":/g, '$1:');

const shown = {
  quotaMax: max,
  expires: min,
  lastCheck: max,
  accessRights: [{ limit: { quotaMax: max } }],
  metaData: { n: [max, min] },
};

type Send = (operation: 'preview' | 'update') => Promise<TestResponse>;
const inREST =
  (high: string, low: string): Send =>
  (operation) =>
    operation === 'preview' ? t.preview(asREST(high, low)) : t.update('k', asREST(high, low));
const inVariables: Send = (operation) => {
  const input = asVariables(`"${max}"`, `"${min}"`);
  return operation === 'preview'
    ? withVariables(previewing('$input', '($input: PreviewKeyInput!)'), input)
    : withVariables(updating('$input', '($input: UpdateKeyInput!)'), input);
};

/** Every way to send the two ends of the range, in a preview and in an update. */
const ways: readonly (readonly [string, Send])[] = [
  ['a bare number in REST', inREST(max, min)],
  ['with a fraction of zero in REST', inREST(`${max}.0`, `${min}.00`)],
  ['with an exponent in REST', inREST('9.223372036854775807e18', '-9223372036854775808E0')],
  [
    'text in a GraphQL literal',
    (operation) => t.graphql((operation === 'preview' ? previewing : updating)(asLiteral(`"${max}"`, `"${min}"`))),
  ],
  ['text in GraphQL variables', inVariables],
];

describe('both ends of the 64-bit range, exact when sent as', () => {
  it.each(ways)('%s', async (_, send) => {
    const previewed = await send('preview');
    expect(previewed.status, previewed.text).toBe(200);
    if (previewed.text.startsWith('{"data":{"previewKey"')) {
      expect(previewed.body['data']).toEqual({ previewKey: { data: shown } });
    } else {
      expect(previewed.text).toContain(
        `"data":{"access_rights":{"a":{"limit":{"quota_max":${max}}}},"expires":${min},"last_check":${max},"meta_data":{"n":[${max},${min}]},"quota_max":${max}}`,
      );
    }

    await t.update('k', {});
    const updated = await send('update');
    expect(updated.status, updated.text).toBe(200);
    const isGraphQL = updated.body['data'] !== undefined;
    if (isGraphQL) expect(updated.body['data']).toEqual({ updateOrgKey: { orgKey: { definition: shown } } });
    expect((await stateOf(t, 'k')).key?.definition).toEqual({
      accessRights: [{ label: 'a', limit: { quotaMax: BigInt(max) } }],
      expires: BigInt(min),
      lastCheck: BigInt(max),
      // A double holds this end exactly. In GraphQL, free-form JSON takes integers of this size as text only.
      metaData: { n: isGraphQL ? [max, min] : [BigInt(max), Number(min)] },
      quotaMax: BigInt(max),
    });
  });

  it('R-07 keeps both ends of the range in the database, responses and exports after a restart', async () => {
    await t.update('k', asREST(max, min), '?reset_quota=1');
    await t.close();
    t = await startApp({ KEYFRONT_DATA: data });
    const { key } = await stateOf(t, 'k');
    expect(key?.definition).toMatchObject({
      quotaMax: BigInt(max),
      expires: BigInt(min),
      // A double holds this end exactly, and free-form JSON has no larger type.
      metaData: { n: [BigInt(max), Number(min)] },
    });
    expect(key?.definition.quotaRemaining).toBe(BigInt(max));

    const { code, out: exported } = await runCommand(['keys', 'export'], { KEYFRONT_DATA: data });
    expect(code).toBe(0);
    for (const member of [
      `"quota_max":${max}`,
      `"quota_remaining":${max}`,
      `"expires":${min}`,
      `"n":[${max},${min}]`,
    ]) {
      expect(exported).toContain(member);
    }
  });
});

/** `OK value`, or `code path` of the only issue. */
function outcome({ body, text }: TestResponse): string {
  const error = body['code']
    ? body
    : (body['errors'] as { extensions: Record<string, unknown> }[] | undefined)?.[0]?.extensions;
  if (error) {
    const [issue] = (error['issues'] ?? []) as { code: string; path: string }[];
    return issue ? `${issue.code} ${issue.path.replace(/^variables\.input\./, '')}` : String(error['code']);
  }
  return `OK ${/"(?:expires|rate|maxQueryDepth|max_query_depth)":("?)([^,"}]+)\1/.exec(text)?.[2]}`;
}

const inPreview = async (field: string, token: string) => {
  const rest = field === 'maxQueryDepth' ? 'max_query_depth' : field;
  const select = (input: string, declared = '') =>
    `query${declared} { previewKey(input: ${input}) { data { ${field} } } }`;
  const responses = [
    await t.preview(`{"${rest}":${token}}`),
    await withVariables(select('$input', '($input: PreviewKeyInput!)'), `{"${field}":${token}}`),
    await t.graphql(select(`{${field}: ${token}}`)),
  ];
  return responses.map((response) => outcome(response).replace(rest, field));
};

/**
 * The outcome in GraphQL: a number beyond 2^53-1 may have been rounded by a gateway, which makes 2^63 of the largest
 * 64-bit integer, and writes it as 9223372036854776000.
 */
const inGraphQL = (token: string, expected: string) => {
  const isRounded = Number.isInteger(Number(token)) && !Number.isSafeInteger(Number(token));
  return isRounded && Math.abs(Number(token)) <= 2 ** 63 ? 'IMPRECISE expires' : expected;
};

describe('R-07 a number has the same outcome in REST, in variables and in a literal, up to 2^53-1', () => {
  it.each<[string, string]>([
    ['1.723207234e+09', 'OK 1723207234'],
    ['1723207234.0', 'OK 1723207234'],
    ['17232072340e-1', 'OK 1723207234'],
    ['0', 'OK 0'],
    ['-0', 'OK 0'],
    ['-0.0', 'OK 0'],
    ['0e5', 'OK 0'],
    ['9007199254740991', 'OK 9007199254740991'],
    ['9007199254740992', 'OK 9007199254740992'],
    ['9007199254740993', 'OK 9007199254740993'],
    ['-9007199254740993', 'OK -9007199254740993'],
    ['9007199254740993.0', 'OK 9007199254740993'],
    ['9.007199254740993e15', 'OK 9007199254740993'],
    ['1e18', 'OK 1000000000000000000'],
    [max, `OK ${max}`],
    [min, `OK ${min}`],
    ['9223372036854775808', 'OUT_OF_RANGE expires'],
    ['9223372036854776000', 'OUT_OF_RANGE expires'],
    ['-9223372036854775809', 'OUT_OF_RANGE expires'],
    ['9223372036854779000', 'OUT_OF_RANGE expires'],
    ['9.223372036854775808e18', 'OUT_OF_RANGE expires'],
    ['18446744073709551616', 'OUT_OF_RANGE expires'],
    ['1e19', 'OUT_OF_RANGE expires'],
    ['1e300', 'OUT_OF_RANGE expires'],
    ['1e400', 'OUT_OF_RANGE expires'],
    ['123456789012345678901234567890', 'OUT_OF_RANGE expires'],
    ['1.5', 'NOT_INTEGER expires'],
    ['-0.5', 'NOT_INTEGER expires'],
    ['1e-1', 'NOT_INTEGER expires'],
    ['0.99999999999999999', 'IMPRECISE expires'],
    ['9007199254740992.5', 'IMPRECISE expires'],
    ['1e-400', 'IMPRECISE expires'],
    ['true', 'WRONG_TYPE expires'],
    ['[]', 'WRONG_TYPE expires'],
  ])('as a 64-bit integer: %s', async (token, expected) => {
    const expectedInGraphQL = inGraphQL(token, expected);
    expect(await inPreview('expires', token)).toEqual([expected, expectedInGraphQL, expectedInGraphQL]);
  });

  it.each<[string, string]>([
    ['1.5', 'OK 1.5'],
    ['-1', 'OK -1'],
    ['-0', 'OK 0'],
    ['5e-324', 'OK 5e-324'],
    ['0.1234567890123456', 'OK 0.1234567890123456'],
    ['0.12345678901234567890', 'OK 0.12345678901234568'],
    ['123456789.12345678', 'OK 123456789.12345678'],
    ['9007199254740992', 'OK 9007199254740992'],
    ['1e300', 'OK 1e+300'],
    ['1.7976931348623157e308', 'OK 1.7976931348623157e+308'],
    ['9007199254740993', 'IMPRECISE rate'],
    ['9007199254740993.5', 'IMPRECISE rate'],
    ['9223372036854775807', 'IMPRECISE rate'],
    ['1e-400', 'IMPRECISE rate'],
    ['1e400', 'OUT_OF_RANGE rate'],
    ['-1.0000000000000002', 'OUT_OF_RANGE rate'],
    ['-2', 'OUT_OF_RANGE rate'],
    ['"5"', 'WRONG_TYPE rate'],
  ])('as a double: %s', async (token, expected) => {
    expect(new Set(await inPreview('rate', token))).toEqual(new Set([expected]));
  });

  it.each<[string, string]>([
    ['12', 'OK 12'],
    ['-1', 'OK -1'],
    ['2147483647', 'OK 2147483647'],
    ['2147483648', 'OUT_OF_RANGE maxQueryDepth'],
    ['-2', 'OUT_OF_RANGE maxQueryDepth'],
    ['-2147483649', 'OUT_OF_RANGE maxQueryDepth'],
    ['9223372036854775808', 'OUT_OF_RANGE maxQueryDepth'],
    ['1.5', 'NOT_INTEGER maxQueryDepth'],
    ['"5"', 'WRONG_TYPE maxQueryDepth'],
  ])('as a 32-bit integer: %s', async (token, expected) => {
    expect(new Set(await inPreview('maxQueryDepth', token))).toEqual(new Set([expected]));
  });

  it('rejects a literal with a fraction or an exponent for the Int of GraphQL only', async () => {
    expect(await inPreview('maxQueryDepth', '1e3')).toEqual(['OK 1000', 'OK 1000', 'INVALID']);
    expect(await inPreview('maxQueryDepth', '7.0')).toEqual(['OK 7', 'OK 7', 'INVALID']);
  });
});

describe('decimal text for a 64-bit integer in GraphQL', () => {
  it.each<[string, string]>([
    ['"0"', 'OK 0'],
    ['"-1"', 'OK -1'],
    ['"007"', 'OK 7'],
    [`"${max}"`, `OK ${max}`],
    ['"9223372036854775808"', 'OUT_OF_RANGE expires'],
    ['"-9223372036854775809"', 'OUT_OF_RANGE expires'],
    ['"123456789012345678901234567890"', 'OUT_OF_RANGE expires'],
    ['"1.0"', 'WRONG_TYPE expires'],
    ['"1e3"', 'WRONG_TYPE expires'],
    ['"+1"', 'WRONG_TYPE expires'],
    ['" 1"', 'WRONG_TYPE expires'],
    ['""', 'WRONG_TYPE expires'],
    ['"0x1"', 'WRONG_TYPE expires'],
    ['"١"', 'WRONG_TYPE expires'],
  ])('%s', async (token, expected) => {
    const [, variable, literal] = await inPreview('expires', token);
    expect([variable, literal]).toEqual([expected, expected]);
  });
});

it('returns a number up to 2^53-1 and decimal text beyond it in GraphQL, and digits in REST', async () => {
  const query =
    '{ previewKey(input: {expires: 9007199254740991, quotaRenews: "9007199254740992", lastCheck: "-9007199254740992"}) { data { expires quotaRenews lastCheck } } }';
  expect((await t.graphql(query)).text).toContain(
    '{"expires":9007199254740991,"quotaRenews":"9007199254740992","lastCheck":"-9007199254740992"}',
  );
  const rest = await t.preview('{"expires":9007199254740991,"quota_renews":9007199254740993}');
  expect(rest.text).toContain('"expires":9007199254740991,"quota_renews":9007199254740993');
});

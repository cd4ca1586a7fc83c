import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';

/* One verdict for each kind of hostile JSON: the same in a REST body and in GraphQL variables. */

let t: TestApp;

beforeAll(async () => {
  t = await startApp();
  await t.importKeys({ key_id: 'k', org_id: 'acme' });
});

afterAll(() => t.close());

type Body = string | Uint8Array<ArrayBuffer>;

const bytes = (...parts: (string | number[])[]): Uint8Array<ArrayBuffer> =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

const query = JSON.stringify(
  'query($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash data { alias rate expires metaData } } }',
);
const updateQuery = JSON.stringify(
  'mutation($input: UpdateKeyInput!) { updateOrgKey(keyID: "k", input: $input) { version } }',
);

/** A definition's text in GraphQL names; only fields whose two names differ by their underscores stand in it. */
const camel = (text: string) =>
  text.replace(/"([a-z]+(?:_[a-z]+)+)"(?=:)/g, (name) =>
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );

function wrapped(operation: string, definition: Body): Body {
  const before = `{"query":${operation},"variables":{"input":`;
  if (typeof definition === 'string') return `${before}${camel(definition)}}}`;
  return bytes(before, [...definition], '}}');
}

function post(path: string, body: Body): Promise<TestResponse> {
  return t.send(path, {
    method: path.startsWith('/svc') ? 'PUT' : 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${t.management}`,
      'x-svc-authorization': t.service,
    },
    body,
  });
}

/** The result of all four ways for a definition: `OK`, or `code path` of each issue in the names of REST. */
async function verdicts(definition: Body, ways: { update?: boolean } = {}): Promise<string[]> {
  const responses = [await post('/api/keys/preview', definition), await post('/graphql', wrapped(query, definition))];
  if (ways.update !== false) {
    responses.push(await post('/svc/org/keys/k', definition), await post('/graphql', wrapped(updateQuery, definition)));
  }
  return responses.map(verdict);
}

function verdict({ status, body, text }: TestResponse): string {
  expect(status, text).toBeLessThan(500);
  const error = body['code']
    ? body
    : (body['errors'] as { extensions: Record<string, unknown> }[] | undefined)?.[0]?.extensions;
  if (!error) return 'OK';
  const issues = (error['issues'] ?? []) as { code: string; path: string }[];
  return (
    issues
      .map(({ code, path }) =>
        `${code} ${path.replace(/^variables\.input\.?/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`.trim(),
      )
      .join(', ') || String(error['code'])
  );
}

const nested = (levels: number, inside = '1') => `${'{"a":'.repeat(levels)}${inside}${'}'.repeat(levels)}`;
const listed = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"m${index}":1`).join(',')}}`;
const text = (length: number) => `"${'x'.repeat(length)}"`;

describe('R-04 R-06 R-08 a definition gets the same response in both APIs and both operations:', () => {
  it.each<[string, string, string]>([
    ['a member that comes twice', '{"alias":"a","alias":"a"}', 'DUPLICATE_MEMBER alias'],
    ['a member that comes twice, once escaped', '{"alias":"a","\\u0061lias":"b"}', 'DUPLICATE_MEMBER alias'],
    ['a nested member that comes twice', '{"meta_data":{"a":[{"b":1,"b":2}]}}', 'DUPLICATE_MEMBER meta_data.a[0].b'],
    [
      'a reserved member that comes twice',
      '{"meta_data":{"__proto__":1,"__proto__":2}}',
      'DUPLICATE_MEMBER meta_data.__proto__',
    ],
    ['what looks like two members inside a text', '{"alias":"{\\"a\\":1,\\"a\\":2}"}', 'OK'],
    ['__proto__ for a field', '{"__proto__":{"polluted":true}}', 'UNKNOWN_FIELD __proto__'],
    ['constructor for a field', '{"constructor":{"prototype":{"polluted":true}}}', 'UNKNOWN_FIELD constructor'],
    ['prototype for a field', '{"prototype":{"polluted":true}}', 'UNKNOWN_FIELD prototype'],
    ['toString for a field', '{"toString":1}', 'UNKNOWN_FIELD toString'.replace('S', '_s')],
    ['__proto__ for a nested field', '{"monitor":{"__proto__":{"polluted":true}}}', 'UNKNOWN_FIELD monitor.__proto__'],
    ['constructor for a nested field', '{"smoothing":{"constructor":1}}', 'UNKNOWN_FIELD smoothing.constructor'],
    ['__proto__ in metadata', '{"meta_data":{"__proto__":{"polluted":true}}}', 'RESERVED_NAME meta_data.__proto__'],
    [
      'an escaped __proto__ in metadata',
      '{"meta_data":{"\\u005f_proto__":{"polluted":true}}}',
      'RESERVED_NAME meta_data.__proto__',
    ],
    [
      'constructor deep in metadata',
      '{"meta_data":{"a":[{"b":{"constructor":{"prototype":{"polluted":true}}}}]}}',
      'RESERVED_NAME meta_data.a[0].b.constructor',
    ],
    ['prototype in the OAuth keys', '{"oauth_keys":{"prototype":1}}', 'RESERVED_NAME oauth_keys.prototype'],
    [
      '__proto__ deep in the OAuth keys',
      '{"oauth_keys":{"a":{"__proto__":{"polluted":true}}}}',
      'RESERVED_NAME oauth_keys.a.__proto__',
    ],
    ['names that only begin like reserved ones', '{"meta_data":{"__proto":1,"constructors":2,"Prototype":3}}', 'OK'],
    ['metadata of 32 levels', `{"meta_data":${nested(32)}}`, 'OK'],
    ['metadata of 33 levels', `{"meta_data":${nested(33)}}`, `TOO_DEEP meta_data${'.a'.repeat(32)}`],
    ['lists of 33 levels', `{"meta_data":{"l":${listed(33)}}}`, `TOO_DEEP meta_data.l${'[0]'.repeat(31)}`],
    ['metadata of 65 levels', `{"meta_data":${nested(65)}}`, 'TOO_DEEP'],
    ['lists of 50,000 levels', `{"meta_data":${listed(50_000)}}`, 'TOO_DEEP'],
    ['brackets that are never closed', `{"meta_data":${'['.repeat(100_000)}`, 'TOO_DEEP'],
    ['10,000 members in metadata', `{"meta_data":${members(10_000)}}`, 'OK'],
    ['10,001 members in metadata', `{"meta_data":${members(10_001)}}`, 'TOO_MANY meta_data'],
    ['10,001 unknown levels of nothing', `{"oauth_keys":{"a":[${'{},'.repeat(10_001)}{}]}}`, 'TOO_MANY oauth_keys'],
    ['a text of 65,536 characters in metadata', `{"meta_data":{"a":${text(65_536)}}}`, 'OK'],
    ['a text of 65,537 characters in metadata', `{"meta_data":{"a":${text(65_537)}}}`, 'TOO_LONG meta_data.a'],
    ['a text of 257 characters', `{"alias":${text(257)}}`, 'TOO_LONG alias'],
    ['a text of 100,000 characters', `{"alias":${text(100_000)}}`, 'TOO_LONG alias'],
    ['101 tags', `{"tags":[${Array.from({ length: 101 }, () => '"a"').join(',')}]}`, 'TOO_MANY tags'],
    ['an escaped half of a surrogate pair', '{"alias":"\\ud800"}', 'MALFORMED_TEXT alias'],
    ['the other half', '{"tags":["a","\\udc00x"]}', 'MALFORMED_TEXT tags[1]'],
    ['halves in the wrong order', '{"alias":"\\ude00\\ud83d"}', 'MALFORMED_TEXT alias'],
    ['both halves, escaped', '{"alias":"\\ud83d\\ude00"}', 'OK'],
    ['a half in metadata', '{"meta_data":{"a":"\\udfff"}}', 'MALFORMED_TEXT meta_data.a'],
    ['a half in a name', '{"meta_data":{"\\ud800":1}}', 'MALFORMED_TEXT meta_data["\\ud800"]'],
    ['NUL', '{"alias":"a\\u0000b"}', 'MALFORMED_TEXT alias'],
    ['NUL in metadata', '{"meta_data":{"a":["\\u0000"]}}', 'MALFORMED_TEXT meta_data.a[0]'],
    ['NUL in a name', '{"meta_data":{"\\u0000":1}}', 'MALFORMED_TEXT meta_data["\\u0000"]'],
    ['a bare NUL', '{"alias":"a\u0000b"}', 'MALFORMED_JSON'],
    ['a bare line break in a text', '{"alias":"a\nb"}', 'MALFORMED_JSON'],
    ['an escaped control character', '{"alias":"a\\u0001\\u001b"}', 'OK'],
    ['1e400 in metadata', '{"meta_data":{"a":[1e400]}}', 'OUT_OF_RANGE meta_data.a[0]'],
    ['-0', '{"rate":-0,"expires":-0,"meta_data":{"a":-0}}', 'OK'],
    ['NaN', '{"rate":NaN}', 'MALFORMED_JSON'],
    ['Infinity', '{"rate":-Infinity}', 'MALFORMED_JSON'],
    ['null for everything', '{"alias":null,"rate":null,"tags":null,"monitor":null,"meta_data":null}', 'OK'],
    ['a comment', '{"alias":"a"/*b*/}', 'MALFORMED_JSON'],
    ['a comma too many', '{"alias":"a",}', 'MALFORMED_JSON'],
    ['single quotes', "{'alias':'a'}", 'MALFORMED_JSON'],
    ['nothing where a value belongs', '{"alias":}', 'MALFORMED_JSON'],
  ])('%s', async (_, definition, expected) => {
    expect(new Set(await verdicts(definition))).toEqual(new Set([expected]));
  });

  it('a byte that is never UTF-8', async () => {
    expect(new Set(await verdicts(bytes('{"alias":"', [0xff], '"}')))).toEqual(new Set(['MALFORMED_TEXT']));
  });
});

describe('R-09 a whole body gets the same response in both APIs:', () => {
  const inREST = async (change: (body: string) => Body) =>
    verdict(await post('/api/keys/preview', change('{"alias":"a"}')));
  const inGraphQL = async (change: (body: string) => Body) =>
    verdict(await post('/graphql', change(`{"query":${query},"variables":{"input":{"alias":"a"}}}`)));

  it.each<[string, (body: string) => Body, string]>([
    ['with white space around it', (body) => ` \t\r\n${body}\n\n`, 'OK'],
    ['with a byte order mark', (body) => bytes([0xef, 0xbb, 0xbf], body), 'OK'],
    ['with two byte order marks', (body) => bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], body), 'MALFORMED_JSON'],
    ['with a byte order mark at its end', (body) => `${body}\ufeff`, 'MALFORMED_JSON'],
    ['with other white space around it', (body) => `\u00a0${body}`, 'MALFORMED_JSON'],
    ['with something behind it', (body) => `${body} x`, 'MALFORMED_JSON'],
    ['with a brace behind it', (body) => `${body}}`, 'MALFORMED_JSON'],
    ['with a comma behind it', (body) => `${body},`, 'MALFORMED_JSON'],
    ['with NUL behind it', (body) => `${body}\0`, 'MALFORMED_JSON'],
    ['that comes twice', (body) => body + body, 'MALFORMED_JSON'],
    ['that comes twice, in lines', (body) => `${body}\n${body}\n`, 'MALFORMED_JSON'],
    ['cut off', (body) => body.slice(0, -1), 'MALFORMED_JSON'],
    ['in UTF-16', (body) => bytes([...Buffer.from(body, 'utf16le')]), 'MALFORMED_JSON'],
    ['in UTF-16 with its mark', (body) => bytes([0xff, 0xfe], [...Buffer.from(body, 'utf16le')]), 'MALFORMED_TEXT'],
    ['that is empty', () => '', 'MALFORMED_JSON'],
    ['that is white space', () => ' \n ', 'MALFORMED_JSON'],
  ])('%s', async (_, change, expected) => {
    expect([await inREST(change), await inGraphQL(change)]).toEqual([expected, expected]);
  });

  it.each(['null', '[]', '"x"', '1', 'true'])('%s, which is no definition and no operation', async (body) => {
    expect(verdict(await post('/api/keys/preview', body))).toBe('WRONG_TYPE');
    expect(verdict(await post('/svc/org/keys/k', body))).toBe('WRONG_TYPE');
    expect(verdict(await post('/graphql', body))).toBe('INVALID');
  });
});

it.each(['__proto__', 'constructor', 'prototype'])('R-05 rejects the label %s', async (label) => {
  const rest = await post('/api/keys/preview', `{"access_rights":{"a":{},"${label}":{"api_id":"x"}}}`);
  expect(verdict(rest)).toBe(`RESERVED_NAME access_rights.${label}`);
  const graphql = await post('/graphql', wrapped(query, `{"access_rights":[{"label":"a"},{"label":"${label}"}]}`));
  expect(verdict(graphql)).toBe('RESERVED_NAME access_rights[1].label');
});

it('R-04 rejects a repeated label', async () => {
  const rest = await post('/api/keys/preview', '{"access_rights":{"a":{},"\\u0061":{}}}');
  expect(verdict(rest)).toBe('DUPLICATE_MEMBER access_rights.a');
  const graphql = await post('/graphql', wrapped(query, '{"access_rights":[{"label":"a"},{"label":"a"}]}'));
  expect(verdict(graphql)).toBe('DUPLICATE_LABEL access_rights[1].label');
});

it('R-08 stores exactly what was sent: emoji, joiners, direction marks and zero', async () => {
  const sent = { alias: '👩‍👩‍👧‍👦 e\u0301 \u202ertl\u202c', meta_data: { '🗝️': 'ﷺ\u2028' }, rate: -0 };
  const response = await t.preview(sent);
  expect(response.body['data']).toEqual({ ...sent, rate: 0 });
  expect(response.text).toContain('"rate":0');
});

it('R-05 changes no prototype', () => {
  const { polluted } = {} as { polluted?: unknown };
  expect(polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

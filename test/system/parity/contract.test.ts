import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredKey } from '../../../src/keys/key.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { fullPreview, fullUpdate } from '../../support/factories.js';
import { stateOf } from '../../support/state.js';
import { everything, fields, graphqlOf, jsonText, restOf, type WireObject } from './wire.js';

/* Every field of section 2 of the key API's document, in both operations and through both APIs. parity.test.ts compares the APIs for generated definitions. */

type Operation = 'preview' | 'update' | 'both';

interface Row {
  readonly field: string;
  readonly example: WireObject[string];
  readonly of: Operation;
}

/** Values that the normal form does not keep as they were sent, and of fields that it does not have. */
const changed: Readonly<Record<string, Omit<Row, 'field' | 'of'>>> = {
  access_rights: { example: { ...fullUpdate.access_rights, empty: {} } },
  apply_policy_id: { example: 'bronze' },
  date_created: { example: '2024-05-06T07:08:09+02:00' },
  enable_detail_recording: { example: true },
  is_inactive: { example: true },
  last_updated: { example: '1700000001' },
  per: { example: 60.5 },
};
const ofOne: Readonly<Record<string, Operation>> = {
  enable_detail_recording: 'update',
  enable_http_signature_validation: 'update',
  key_id: 'preview',
  mtls_static_certificate_bindings: 'preview',
  rsa_certificate_id: 'update',
};

/** The document's table, in the order of the document. */
const table = Object.keys(fields).map((field): Row => {
  const examples: Readonly<Record<string, WireObject[string]>> = { ...fullPreview, ...fullUpdate };
  return { field, of: ofOne[field] ?? 'both', example: examples[field] ?? null, ...changed[field] };
});

const ofPreview = table.filter((row) => row.of !== 'update');
const ofUpdate = table.filter((row) => row.of !== 'preview');

const together = (rows: readonly Row[]): WireObject =>
  Object.fromEntries(rows.map(({ field, example }) => [field, example]));

let t: TestApp;
let keyNumber = 0;
let keyID = '';

beforeAll(async () => {
  t = await startApp();
});

beforeEach(async () => {
  keyID = `key-${(keyNumber += 1)}`;
  await t.importKeys({
    key_id: keyID,
    org_id: 'acme',
    date_created: '2025-01-01T00:00:00Z',
    last_updated: '1750000000',
  });
});

afterAll(() => t.close());

async function stored(id = keyID): Promise<StoredKey> {
  const { key } = await stateOf(t, id);
  if (!key) throw new Error(`There is no key ${id}.`);
  return key;
}

const previewQuery = `query($input: PreviewKeyInput!) { previewKey(input: $input) { keyID keyHash data ${everything} } }`;
const updateQuery = `mutation($id: ID!, $input: UpdateKeyInput!) {
  updateOrgKey(keyID: $id, input: $input) { action key keyHash status version orgKey { definition ${everything} } }
}`;

async function previewThroughGraphQL(definition: WireObject): Promise<TestResponse> {
  return t.graphql(previewQuery, { input: graphqlOf(definition) as object });
}

async function updateThroughGraphQL(definition: WireObject): Promise<TestResponse> {
  return t.graphql(updateQuery, { id: keyID, input: graphqlOf(definition) as object });
}

function shown({ body }: TestResponse): object {
  const { previewKey, updateOrgKey } = body['data'] as Record<
    string,
    { data?: object; orgKey?: { definition: object } } | undefined
  >;
  return restOf(previewKey?.data ?? updateOrgKey?.orgKey?.definition) as object;
}

/** The definition as GraphQL shows it: without what is secret, and without an object that held nothing else. */
function withoutSecrets(definition: WireObject): WireObject {
  const { hmac_string: _hmac, ...rest } = definition;
  return rest['jwt_data'] ? { ...rest, jwt_data: {} } : rest;
}

it('contains every field of the document, 40 of them', () => {
  expect(new Set(table.map(({ field }) => field)).size).toBe(40);
  expect(ofPreview).toHaveLength(37);
  expect(ofUpdate).toHaveLength(38);
});

describe('previews through both APIs', () => {
  it('accept all of them together, and return them in the order of the document', async () => {
    const all = together(ofPreview);
    const { date_created: _created, last_updated: _updated, apply_policy_id: _policy, ...plain } = all;
    const rest = await t.preview(jsonText(all));
    expect(rest.body).toMatchObject({ api_model: {}, key_id: 'my-key' });
    expect(rest.body['data']).toEqual({ ...plain, apply_policies: ['gold', 'silver'] });
    expect(Object.keys(rest.body['data'] as object)).toEqual(Object.keys(plain));
    expect(shown(await previewThroughGraphQL(all))).toEqual(
      withoutSecrets({ ...plain, apply_policies: ['gold', 'silver'] }),
    );
  });

  it.each(table.filter((row) => row.of === 'update'))(
    'R-10 reject $field, which belongs to the update',
    async (row) => {
      await rejectedByBoth(row);
    },
  );

  it.each([true, 'text', 1.5, ['a', null]])('accept meta_data that is no object: %j', async (value) => {
    const sent = { meta_data: value };
    expect((await t.preview(jsonText(sent))).body['data']).toEqual(sent);
    expect(shown(await previewThroughGraphQL(sent))).toEqual(sent);
  });
});

describe('updates through both APIs', () => {
  it('accept all of them together', async () => {
    const all = together(ofUpdate);
    const rest = await t.update(keyID, jsonText(all));
    expect(rest.status, rest.text).toBe(200);
    const afterREST = await stored();
    const graphql = await updateThroughGraphQL(all);
    const { apply_policy_id: _policy, enable_detail_recording: _recording, ...plain } = all;
    expect(shown(graphql)).toEqual({
      ...withoutSecrets(plain),
      apply_policies: ['gold', 'silver'],
      date_created: '2025-01-01T00:00:00Z',
      last_updated: String((await stored()).lastUpdated),
    });
    expect((await stored()).definition).toEqual(afterREST.definition);
    expect((await stored()).version).toBe(2);
  });

  it.each(table.filter((row) => row.of === 'preview'))(
    'R-10 reject $field, which belongs to the preview',
    async (row) => {
      await rejectedByBoth(row);
    },
  );

  it.each([true, 'text', 1.5, ['a']])('reject meta_data that is no object: %j', async (value) => {
    const sent = { meta_data: value };
    expect((await t.update(keyID, jsonText(sent))).body).toMatchObject({
      issues: [{ path: 'meta_data', code: 'WRONG_TYPE' }],
    });
    expect(issuesOf(await updateThroughGraphQL(sent))).toMatchObject([{ path: 'metaData', code: 'WRONG_TYPE' }]);
  });
});

async function rejectedByBoth({ field, example, of }: Row): Promise<void> {
  const sent = { [field]: example };
  const throughREST = of === 'preview' ? await t.update(keyID, jsonText(sent)) : await t.preview(jsonText(sent));
  const throughGraphQL = of === 'preview' ? await updateThroughGraphQL(sent) : await previewThroughGraphQL(sent);
  const belongs = expect.stringContaining(`belongs to the ${of} only`);
  expect(throughREST.status).toBe(400);
  expect(throughREST.body).toMatchObject({
    code: 'INVALID',
    issues: [{ path: field, code: 'WRONG_VARIANT', message: belongs }],
  });
  const path = Object.keys(graphqlOf(sent) as object)[0];
  expect(issuesOf(throughGraphQL)).toMatchObject([{ path, code: 'WRONG_VARIANT', message: belongs }]);
  expect((await stored()).version).toBe(1);
}

function issuesOf({ body }: TestResponse): unknown {
  return (body['errors'] as { extensions: { issues: unknown } }[])[0]?.extensions.issues;
}

describe('a replacement', () => {
  it.each(['REST', 'GraphQL'] as const)('through %s keeps no other field beside the one that is sent', async (api) => {
    const replace = async (definition: WireObject) => {
      const response = await (api === 'REST'
        ? t.update(keyID, jsonText(definition))
        : updateThroughGraphQL(definition));
      expect(response.status, response.text).toBe(200);
      expect(response.body['errors'], response.text).toBeUndefined();
    };
    await replace(together(ofUpdate));
    await replace({ alias: 'alone', basic_auth_data: null, jwt_data: null, hmac_string: null });
    expect((await stored()).definition).toEqual({ alias: 'alone' });
  });

  it('removes every field that is null', async () => {
    await t.update(keyID, jsonText(together(ofUpdate)));
    const response = await t.update(keyID, Object.fromEntries(ofUpdate.map(({ field }) => [field, null])));
    expect(response.status, response.text).toBe(200);
    expect((await stored()).definition).toEqual({});
  });
});

it.each(['<PASSWORD>', '***', '••••'])('R-13 never stores a mask as a secret: %s', async (mask) => {
  const sent = { basic_auth_data: { password: mask }, jwt_data: { secret: mask }, hmac_string: mask };
  const response = await t.update(keyID, sent);
  expect(response.body['issues']).toMatchObject([
    { path: 'basic_auth_data.password', code: 'MASKED_SECRET' },
    { path: 'hmac_string', code: 'MASKED_SECRET' },
    { path: 'jwt_data.secret', code: 'MASKED_SECRET' },
  ]);
  expect(issuesOf(await updateThroughGraphQL(sent))).toHaveLength(3);
  expect((await stored()).secrets).toEqual({ passwordHash: undefined, jwtSecret: undefined, hmacString: undefined });
});

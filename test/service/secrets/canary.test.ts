import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { runCommand } from '../../support/cli.js';
import { createTestTelemetry } from '../../support/telemetry.js';

/*
 * A marker of its own in every place that holds a secret, driven through every operation and every failure of both
 * APIs. Afterwards no marker may be found in logs, responses, files, metrics or traces, except where the contract returns it.
 */

const fresh = (name: string) => `canary${name}${randomBytes(8).toString('hex')}`;
const markers = {
  password: fresh('password'),
  jwt: fresh('jwt'),
  hmac: fresh('hmac'),
  bearer: fresh('bearer'),
  service: fresh('service'),
  storedKeyID: fresh('stored'),
  otherKeyID: fresh('other'),
  unknownKeyID: fresh('unknown'),
  previewKeyID: fresh('preview'),
};
type Marker = keyof typeof markers;
const { password, jwt, hmac } = markers;

/** Texts that came out of the service, by where they came from, and the markers that may be in them. */
interface Place {
  readonly name: string;
  readonly text: string;
  readonly mayHold?: readonly Marker[];
}

function leaksIn(places: readonly Place[], secrets: Readonly<Record<string, string>>): string[] {
  return places.flatMap(({ name, text, mayHold = [] }) =>
    Object.entries(secrets).flatMap(([marker, value]) => {
      if (mayHold.some((allowed) => allowed === marker)) return [];
      const found = [
        value,
        Buffer.from(value).toString('base64').replace(/=+$/, ''),
        Buffer.from(value).toString('hex'),
      ];
      return found.some((form) => text.includes(form)) ? [`${marker} in ${name}`] : [];
    }),
  );
}

const data = mkdtempSync(join(tmpdir(), 'keyfront-canary-'));
const places: Place[] = [];
const secrets: Record<string, string> = { ...markers };
const printed: string[] = [];
const telemetry = createTestTelemetry();
let t: TestApp;

beforeAll(async () => {
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    vi.spyOn(console, method).mockImplementation((...output: unknown[]) => printed.push(inspect(output, { depth: 9 })));
  }
  t = await startApp({ KEYFRONT_DATA: data }, {}, telemetry);
  Object.assign(secrets, { managementToken: t.management, serviceToken: t.service });
  await t.importKeys(
    { key_id: markers.storedKeyID, org_id: 'acme', ...loaded },
    { key_id: markers.otherKeyID, org_id: 'globex', ...loaded },
  );
});

afterAll(async () => {
  vi.restoreAllMocks();
  await t.close().catch(() => undefined);
  rmSync(data, { recursive: true, force: true });
});

const loaded = { basic_auth_data: { user: 'ada', password }, jwt_data: { secret: jwt }, hmac_string: hmac };
const loadedInput = { basicAuthData: { user: 'ada', password }, jwtData: { secret: jwt }, hmacString: hmac };
const long = 'x'.repeat(20_000);
const deep = (inside: string) => `${'{"a":'.repeat(80)}${inside}${'}'.repeat(80)}`;

/** Definitions with a secret in the wrong place, or in the right one with something wrong around it. As REST's JSON. */
const rejectedDefinitions: Readonly<Record<string, string>> = {
  'a text for the whole': JSON.stringify(password),
  'a list for the whole': JSON.stringify([loaded]),
  'a text for basic_auth_data': JSON.stringify({ basic_auth_data: password }),
  'a list for basic_auth_data': JSON.stringify({ basic_auth_data: [password] }),
  'an object for the password': JSON.stringify({ basic_auth_data: { password: { value: password } } }),
  'a text for jwt_data': JSON.stringify({ jwt_data: jwt }),
  'a list for the jwt secret': JSON.stringify({ jwt_data: { secret: [jwt] } }),
  'an object for hmac_string': JSON.stringify({ hmac_string: { value: hmac } }),
  'secrets in numbers': JSON.stringify({ rate: password, expires: jwt, max_query_depth: hmac, per: [password] }),
  'secrets in flags': JSON.stringify({ hmac_enabled: hmac, is_inactive: jwt }),
  'secrets in dates': JSON.stringify({ date_created: password, last_updated: jwt }),
  'secrets in lists': JSON.stringify({ tags: hmac, monitor: { trigger_limits: [jwt] }, access_rights: password }),
  'secrets in entries': JSON.stringify({
    access_rights: { a: { limit: hmac, allowed_urls: [{ methods: [jwt] }], api_id: [password] } },
  }),
  'a secret for the hash type': JSON.stringify({ basic_auth_data: { hash_type: password } }),
  'secrets beside a flaw': JSON.stringify({ ...loaded, rate: -2, no_such_field: 1 }),
  'secrets in unknown fields': JSON.stringify({
    hmac_strings: hmac,
    basic_auth_data: { pasword: password },
    jwt_data: { secrets: jwt },
  }),
  'secrets in free-form JSON that is rejected': JSON.stringify({ oauth_keys: { a: `${hmac}\0`, b: jwt } }),
  'secrets that are too long': JSON.stringify({
    basic_auth_data: { password: password + long },
    jwt_data: { secret: jwt + long },
    hmac_string: hmac + long,
  }),
  'a password too long for bcrypt': JSON.stringify({ basic_auth_data: { password: `${password}${'x'.repeat(60)}` } }),
  'secrets behind a mask': JSON.stringify({
    basic_auth_data: { password: `<${password}>` },
    jwt_data: { secret: `<${jwt}>` },
    hmac_string: `<${hmac}>`,
  }),
  'secrets with NUL': JSON.stringify({
    basic_auth_data: { password: `${password}\0` },
    jwt_data: { secret: `${jwt}\ud800` },
    hmac_string: `${hmac}\0`,
  }),
  'a secret twice': `{"hmac_string":"${hmac}","hmac_string":"${hmac}"}`,
  'an unquoted secret': `{"hmac_string":${hmac}}`,
  'a secret cut off': `{"hmac_string":"${hmac}`,
  'a secret with a bad escape': `{"hmac_string":"${hmac}\\x"}`,
  'a secret with a bare control character': `{"hmac_string":"${hmac}\u0001"}`,
  'a secret behind the end': `{"hmac_string":"${hmac}"} ${jwt}`,
  'a secret before a colon': `{"${hmac}" 1}`,
  'a secret for a number': `{"rate":-${password}}`,
  'a secret in a number too large': `{"hmac_string":"${hmac}","rate":1e400}`,
  'a secret too deep': deep(`"${hmac}"`),
};

async function note(
  name: string,
  response: TestResponse | Promise<TestResponse>,
  mayHold: readonly Marker[] = [],
): Promise<TestResponse> {
  const { status, headers, text } = await response;
  places.push({ name, text: `${status} ${[...headers].map((pair) => pair.join(': ')).join('\n')}\n${text}`, mayHold });
  return await response;
}

const noteStatus = async (status: number, ...noted: Parameters<typeof note>) =>
  expect((await note(...noted)).status).toBe(status);

const json = { 'content-type': 'application/json' };
const asService = () => ({ ...json, 'x-svc-authorization': t.service });
const asManagement = () => ({ ...json, authorization: `Bearer ${t.management}` });
const stored = `/svc/org/keys/${markers.storedKeyID}`;
const previewPath = '/api/keys/preview';

const previewQuery =
  'query($input: PreviewKeyInput!) { previewKey(input: $input) { keyHash data { hmacStringSet jwtData { secretSet } basicAuthData { user passwordSet } } } }';
const updateQuery = `mutation($keyID: ID!, $input: UpdateKeyInput!, $version: Int) {
  updateOrgKey(keyID: $keyID, input: $input, expectedVersion: $version) { keyHash orgKey { definition { hmacStringSet jwtData { secretSet } basicAuthData { user passwordSet } } } }
}`;

/** A body as it is, with both credentials. */
const rawGraphQL = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  t.send('/graphql', { method: 'POST', headers: { ...asService(), ...asManagement(), ...headers }, body });
const updateStored = (input: object, version?: unknown, keyID: unknown = markers.storedKeyID) => ({
  query: updateQuery,
  variables: { keyID, input, version },
});

describe('canary secrets', () => {
  it('pass through the operations that succeed', async () => {
    const echoed = await note('REST preview', t.preview({ ...loaded, key_id: markers.previewKeyID }), [
      'jwt',
      'hmac',
      'previewKeyID',
    ]);
    expect(echoed.body['data']).toMatchObject({ jwt_data: { secret: jwt }, hmac_string: hmac });
    const previewed = await note(
      'GraphQL preview',
      t.graphql(previewQuery, { input: { ...loadedInput, keyID: markers.previewKeyID } }),
    );
    expect(previewed.body['errors']).toBeUndefined();
    const all = `{ previewKey(input: {keyID: "${markers.previewKeyID}", basicAuthData: {password: "${password}"}, hmacString: """${hmac}"""}) { keyID } }`;
    expect(
      (await note('GraphQL preview by literals', t.graphql(all), ['previewKeyID'])).body['errors'],
    ).toBeUndefined();
    await noteStatus(200, 'REST update', t.update(markers.storedKeyID, loaded), ['storedKeyID']);
    await noteStatus(200, 'REST reset', t.update(markers.storedKeyID, {}, '?reset_quota=1'), ['storedKeyID']);
    const updated = await note(
      'GraphQL update',
      t.graphql(updateQuery, { keyID: markers.storedKeyID, input: loadedInput }),
    );
    expect(updated.body).toMatchObject({
      data: { updateOrgKey: { orgKey: { definition: { hmacStringSet: true } } } },
    });
    const byLiteral = `mutation { updateOrgKey(keyID: "${markers.storedKeyID}", input: {hmacString: "${hmac}", jwtData: {secret: "${jwt}"}}) { version key } }`;
    expect(
      (await note('GraphQL update by literals', t.graphql(byLiteral), ['storedKeyID'])).body['errors'],
    ).toBeUndefined();
  });

  it.each(Object.entries(rejectedDefinitions))('pass through REST and variables with %s', async (name, text) => {
    await noteStatus(400, `REST preview of ${name}`, t.preview(text));
    await noteStatus(400, `REST update with ${name}`, t.update(markers.storedKeyID, text));
    const camel = text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    for (const [operation, query] of [
      ['preview', previewQuery],
      ['update', updateQuery],
    ]) {
      const body = `{"query":${JSON.stringify(query)},"variables":{"keyID":"${markers.storedKeyID}","input":${camel}}}`;
      const response = await note(`GraphQL ${operation} of ${name}`, rawGraphQL(body));
      expect(response.status).toBeLessThan(500);
      expect(response.body['errors'], response.text).toHaveLength(1);
    }
  });

  const inPreview = (input: string) => `{ previewKey(input: ${input}) { keyHash } }`;

  it.each<[string, string]>([
    ['unquoted', inPreview(`{hmacString: ${hmac}}`)],
    ['unquoted in a nested field', inPreview(`{jwtData: {secret: ${jwt}}, basicAuthData: {password: ${password}}}`)],
    ['for an object', inPreview(`{jwtData: "${jwt}", basicAuthData: ${password}}`)],
    ['for the input', inPreview(`"${jwt}"`)],
    ['for a list', inPreview(`{hmacString: ["${hmac}"]}`)],
    ['in numbers', inPreview(`{rate: "${jwt}", expires: "${hmac}", maxQueryDepth: ${password}, quotaMax: ${hmac}}`)],
    ['in flags', inPreview(`{isInactive: "${jwt}", hmacEnabled: ${hmac}}`)],
    ['in a date', inPreview(`{dateCreated: ${jwt}, lastUpdated: "${hmac}"}`)],
    ['in unknown fields', inPreview(`{hmac_string: "${hmac}", jwtData: {secrets: "${jwt}"}}`)],
    ['in an unknown argument', `{ previewKey(input: {}, secret: "${jwt}") { keyHash } }`],
    ['in a directive', `{ previewKey(input: {}) { keyHash @include(if: "${jwt}") } }`],
    ['in an unknown directive', `{ previewKey(input: {}) @secret(value: "${jwt}") { keyHash } }`],
    ['too long', inPreview(`{hmacString: "${hmac}${'x'.repeat(5000)}"}`)],
    ['masked', inPreview(`{hmacString: "<${hmac}>"}`)],
    ['cut off', `{ previewKey(input: {hmacString: "${hmac}`],
    ['cut off in a block', `{ previewKey(input: {hmacString: """${hmac}`],
    ['with a bad escape', inPreview(`{hmacString: "${hmac}\\x"}`)],
    ['with a bad Unicode escape', inPreview(`{hmacString: "${hmac}\\u{110000}"}`)],
    ['with a line break', inPreview(`{hmacString: "${hmac}\n"}`)],
    ['with a control character', inPreview(`{hmacString: "${hmac}\u0000"}`)],
    ['where a name belongs', `{ previewKey("${jwt}": {}) { keyHash } }`],
    ['where a selection belongs', `{ previewKey(input: {}) { keyHash "${jwt}" } }`],
    ['with quotes, where a selection belongs', `{ previewKey(input: {}) { keyHash "a\\" ${jwt} \\" b" } }`],
    ['in a block, where a selection belongs', `{ previewKey(input: {}) { keyHash """a " ${jwt} " b""" } }`],
    ['behind a number', inPreview(`{rate: 1${jwt}}`)],
    ['in a comment beside an error', `{ previewKey(input: {) { keyHash } } # ${jwt}`],
    ['as a default', `query($h: Int = "${hmac}") { previewKey(input: {maxQueryDepth: $h}) { keyHash } }`],
    ['as a key identifier', `mutation { updateOrgKey(keyID: "${markers.unknownKeyID}", input: {}) { version } }`],
    [
      'as an impossible key identifier',
      `mutation { updateOrgKey(keyID: "${markers.unknownKeyID}/", input: {}) { version } }`,
    ],
    [
      'as an unquoted key identifier',
      `mutation { updateOrgKey(keyID: ${markers.unknownKeyID}, input: {}) { version } }`,
    ],
    ['as a previewed key identifier that is rejected', inPreview(`{keyID: "${markers.previewKeyID}/"}`)],
    [
      'beside a key of another organization',
      `mutation { updateOrgKey(keyID: "${markers.storedKeyID}", input: {orgID: "globex", hmacString: "${hmac}"}) { version } }`,
    ],
  ])('pass through a GraphQL document, %s', async (name, query) => {
    const response = await note(`GraphQL literal ${name}`, t.graphql(query));
    expect(response.status).toBeLessThan(500);
    expect(response.body['errors'], response.text).toBeDefined();
    const get = await note(
      `GraphQL literal ${name}, by GET`,
      t.send(`/graphql?query=${encodeURIComponent(query)}`, { headers: { ...asService(), ...asManagement() } }),
    );
    expect(get.status).toBeLessThan(500);
  });

  const scalarQuery =
    'query($n: Int!, $f: Float, $b: Boolean) { previewKey(input: {maxQueryDepth: $n, rate: $f, isInactive: $b}) { keyHash } }';

  it.each<[string, object]>([
    ['variables that are a text', { query: previewQuery, variables: jwt }],
    ['variables that are a list', { query: previewQuery, variables: [jwt] }],
    ['variables of another type', { query: scalarQuery, variables: { n: jwt, f: hmac, b: password } }],
    ['an unknown variable', { query: scalarQuery, variables: { n: 1, secret: jwt } }],
    ['an input that is a text', { query: previewQuery, variables: { input: jwt } }],
    ['a query that is an object', { query: { secret: jwt } }],
    ['a query that is a secret', { query: jwt }],
    ['no query', { hmacString: hmac }],
    ['an operation name', { query: scalarQuery, operationName: { secret: jwt } }],
    ['extensions', { query: '{ __typename }', extensions: jwt }],
    ['a batch', [{ query: previewQuery, variables: { input: loadedInput } }]],
    ['a key identifier that is an object', updateStored({}, undefined, { secret: markers.unknownKeyID })],
    ['a version that is a secret', updateStored(loadedInput, jwt)],
    ['a stale version', updateStored(loadedInput, 999)],
    ['an unknown key', updateStored(loadedInput, undefined, markers.unknownKeyID)],
  ])('pass through a GraphQL request with %s', async (name, body) => {
    const response = await note(`GraphQL with ${name}`, rawGraphQL(JSON.stringify(body)));
    expect(response.status).toBeLessThan(500);
  });

  it('pass through bodies that are not read', async () => {
    const text = JSON.stringify(loaded);
    const put = async (name: string, init: RequestInit, path = stored) => {
      for (const method of ['PUT', 'PATCH']) {
        await note(`REST ${method}, ${name}`, t.send(path, { method, headers: asService(), ...init }));
      }
    };
    const types = {
      'another content type': 'text/plain',
      'a form': 'application/x-www-form-urlencoded',
      'another charset': 'application/json; charset=utf-16',
    };
    for (const [name, type] of Object.entries(types)) {
      await put(name, { body: text, headers: { ...asService(), 'content-type': type } });
      await note(`GraphQL, ${name}`, rawGraphQL(text, { 'content-type': type }));
    }
    await put('a content encoding', { body: text, headers: { ...asService(), 'content-encoding': 'gzip' } });
    await put('too large', { body: `${text}${' '.repeat(300_000)}` });
    await put('invalid UTF-8', { body: Buffer.concat([Buffer.from(text), Buffer.from([0xff])]) });
    await note(
      'GraphQL, too large',
      rawGraphQL(
        JSON.stringify({ query: previewQuery, variables: { input: { hmacString: hmac, alias: 'x'.repeat(140_000) } } }),
      ),
    );
    await note(
      'GraphQL, invalid UTF-8',
      rawGraphQL(Buffer.concat([Buffer.from(`{"query":"${jwt}`), Buffer.from([0xff])])),
    );
    const form = `query=${encodeURIComponent(`{ previewKey(input: {hmacString: "${hmac}"}) { keyHash } }`)}`;
    await note('GraphQL, a form', rawGraphQL(form, { 'content-type': 'application/x-www-form-urlencoded' }));
  });

  it('pass through verification, as the identifiers that clients of a gateway send', async () => {
    const original = (path: string) => ({ 'x-forwarded-method': 'GET', 'x-forwarded-uri': path });
    const authz = (options: string, headers: Record<string, string>) =>
      t.send(`/authz?${options}`, { headers: { ...asService(), ...headers } });
    for (const keyID of [markers.storedKeyID, markers.unknownKeyID, password]) {
      for (const requests of [
        [{ key_id: keyID }, { key_id: `${keyID}/` }],
        [{ key_id: [keyID] }],
        [{ key_id: keyID, amount: keyID }],
        [{ key_id: keyID, idempotency_key: `${keyID} ` }],
      ]) {
        const init = { method: 'POST', headers: asService(), body: JSON.stringify({ requests }) };
        expect((await note('REST verify', t.send('/svc/keys/verify', init))).status).toBeLessThan(500);
      }
      const query = `mutation { verifyKey(keyID: "${keyID}") { code reasons { message } keyHash } }`;
      await noteStatus(200, 'verifyKey', t.graphql(query));
      const basic = `Basic ${btoa(`${keyID}:${password}`)}`;
      await noteStatus(401, 'authz header', authz('', { ...original('/'), 'x-api-key': keyID }));
      await noteStatus(
        401,
        'authz bearer',
        authz('key=bearer', { ...original('/'), authorization: `Bearer ${keyID}` }),
      );
      await noteStatus(401, 'authz basic', authz('key=basic', { ...original('/'), authorization: basic }));
      await noteStatus(401, 'authz query', authz('key=query:k', original(`/?k=${keyID}`)));
      await noteStatus(400, 'authz malformed', authz('key=query:k', original(`/ ?k=${keyID}`)));
      const envoy = `/authz/envoy/key=query:k/${keyID}?k=${keyID}`;
      await noteStatus(401, 'authz path', t.send(envoy, { headers: asService() }));
    }
  });

  it('pass through paths, parameters and methods', async () => {
    const { unknownKeyID } = markers;
    const put = async (path: string, headers: Record<string, string> = {}) => {
      for (const method of ['PUT', 'PATCH']) {
        const response = await note(
          `${method} ${path.replace(unknownKeyID, '…').slice(0, 60)}`,
          t.send(path, { method, headers: { ...asService(), ...headers }, body: JSON.stringify(loaded) }),
        );
        expect(response.status).toBeLessThan(500);
      }
    };
    const long = 'x'.repeat(300);
    for (const end of ['', '%ff', '%00', '%2f', '%5c', '%', '%E2%80%AE', long, '/', '/more', '?reset_quota=2'])
      await put(`/svc/org/keys/${unknownKeyID}${end}`);
    for (const query of [`?reset_quota=${hmac}`, `?api_key=${hmac}`, `?reset_quota=1&access_token=${jwt}`])
      await put(stored + query);
    await put(stored, { 'if-match': `"${hmac}"` });
    await put(stored, { 'if-match': '"999"' });
    await put(`/svc/org/keys/${markers.otherKeyID}${unknownKeyID}`);
    await put(`/no/such/path/${unknownKeyID}`);
    for (const method of ['GET', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) {
      await note(`${method} of a key`, t.send(stored, { method, headers: asService() }), ['storedKeyID']);
      await note(
        `${method} of the preview`,
        t.send(`${previewPath}?token=${jwt}`, { method, headers: asManagement() }),
      );
    }
    const restored = t.send(`${stored}/restore`, { method: 'POST', headers: asService() });
    await noteStatus(200, 'the key restored', restored, ['storedKeyID']);
    await note('the quota', t.send(`${stored}/quota`, { method: 'POST', headers: asService() }));
    await note('the list', t.send('/svc/org/keys', { headers: asService() }), ['storedKeyID', 'otherKeyID']);
    const whole = `{ orgKeys(first: 100) { nodes: edges { node { keyHash definition { alias hmacStringSet }
      history { edges { node { changes { path kind before after } reason } } } } } } }`;
    await note('the list and its history, GraphQL', t.graphql(whole));
    const dryRun = `query ($keyID: ID!, $input: UpdateKeyInput!) {
      previewOrgKeyUpdate(keyID: $keyID, input: $input) { definition { hmacStringSet } changes { path kind before after } } }`;
    await note('a dry run', t.graphql(dryRun, { keyID: markers.storedKeyID, input: loadedInput }), ['storedKeyID']);
    await note('a page with a secret in its query', t.send(`/?token=${jwt}`, { headers: { accept: 'text/html' } }));
    await note('health with a secret in its query', t.send(`/health?token=${jwt}`));
  });

  it('pass through the possible names of metrics and traces', async () => {
    const { unknownKeyID: name } = markers;
    const headers = {
      'x-request-id': name,
      baggage: `${name}=${hmac}`,
      traceparent: name,
      'user-agent': jwt,
      host: name,
    };
    const named = `query ${name}($${name}: ID!) { ${name}: orgKey(by: { keyID: $${name} }) { ...${name} } } fragment ${name} on OrgKey { version }`;
    await note('an operation with a name', t.graphql(named, { [name]: name }, headers), ['unknownKeyID']);
    await note('a method', t.send(`/svc/org/keys/${name}`, { method: name, headers }));
    await t.graphql(named.replace('version', 'noSuchField'), {}, headers);
  });

  it('pass through rejected credentials', async () => {
    const text = JSON.stringify(loaded);
    const bound = (await t.issue('service', { orgID: 'acme' })).secret;
    const revoked = await t.issue('service');
    await t.app.services.credentials.revoke(revoked.id, t.clock.now);
    Object.assign(secrets, { boundToken: bound, revokedToken: revoked.secret });
    const headers: Record<string, Record<string, string>> = {
      none: {},
      unknown: { authorization: `Bearer kf_mgt_${markers.bearer}`, 'x-svc-authorization': `kf_svc_${markers.service}` },
      'in another scheme': { authorization: `Basic ${Buffer.from(`ada:${markers.bearer}`).toString('base64')}` },
      'without a scheme': { authorization: markers.bearer },
      'of a strange form': {
        authorization: `Bearer "${markers.bearer}", x`,
        'x-svc-authorization': `${markers.service}, ${markers.service}`,
      },
      'that are each other’s': { authorization: `Bearer ${t.service}`, 'x-svc-authorization': t.management },
      'that was revoked': { 'x-svc-authorization': revoked.secret },
    };
    for (const [name, given] of Object.entries(headers)) {
      const rest = { ...json, ...given };
      await noteStatus(
        401,
        `REST preview, credentials ${name}`,
        t.send(previewPath, { method: 'POST', headers: rest, body: text }),
      );
      expect(
        (await note(`REST update, credentials ${name}`, t.send(stored, { method: 'PUT', headers: rest, body: text })))
          .status,
      ).toBe(401);
      for (const query of [previewQuery, updateQuery]) {
        const body = JSON.stringify({ query, variables: { keyID: markers.storedKeyID, input: loadedInput } });
        const response = await note(
          `GraphQL, credentials ${name}`,
          t.send('/graphql', { method: 'POST', headers: rest, body }),
        );
        expect(response.text).toContain('UNAUTHENTICATED');
      }
    }
    const foreign = await note(
      'another organization’s key',
      t.update(markers.otherKeyID, loaded, '', { 'x-svc-authorization': bound }),
    );
    expect(foreign.status).toBe(404);
    const foreignGraphQL = t.graphql(
      updateQuery,
      { keyID: markers.otherKeyID, input: loadedInput },
      { 'x-svc-authorization': bound },
    );
    expect((await note('another organization’s key, GraphQL', foreignGraphQL)).text).toContain('NOT_FOUND');
  });

  it('pass through the command line', async () => {
    const outputOf = async (...args: string[]) => {
      const { code, out, stderr } = await runCommand(args, { KEYFRONT_DATA: data }, true);
      expect(code).toBe(0);
      return out + stderr;
    };
    const exported = await outputOf('keys', 'export');
    places.push({ name: 'the export without secrets', text: exported, mayHold: ['storedKeyID', 'otherKeyID'] });
    places.push({ name: 'the list of credentials', text: await outputOf('credentials', 'list') });
    await expect(t.importKeys(...Object.values(rejectedDefinitions).flatMap(importLine))).rejects.toSatisfy(
      (error: Error) => {
        places.push({ name: 'reasons of rejected lines', text: error.message });
        return error.message.includes('password');
      },
    );
  });

  it('pass through masked failures of storage and of the key ring', async () => {
    const ring = join(data, 'key-ring.json');
    const fails = async (name: string) => {
      expect((await note(`REST update, ${name}`, t.update(markers.storedKeyID, loaded))).body).toMatchObject({
        code: 'INTERNAL',
        message: 'Internal error.',
      });
      const response = await note(
        `GraphQL update, ${name}`,
        t.graphql(updateQuery, { keyID: markers.storedKeyID, input: loadedInput }),
      );
      expect(response.body).toMatchObject({
        errors: [{ message: 'Internal error.', extensions: { code: 'INTERNAL' } }],
      });
    };
    renameSync(ring, `${ring}.away`);
    await noteStatus(503, 'readiness, the key ring gone', t.send('/ready'));
    expect(t.logs()).toContain('the key ring file cannot be used');
    renameSync(`${ring}.away`, ring);

    const other = new Database(join(data, 'keyfront.db'));
    other.exec('ALTER TABLE history RENAME TO history_away');
    await fails('a table gone');
    other.exec('ALTER TABLE history_away RENAME TO history');
    places.push(...filesIn(data));
    other.close();

    await t.app.services.close();
    await fails('the database closed');
    // The result of an authentication is kept for the rest of an iteration of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    const preview = await note(
      'REST preview, the database closed',
      t.preview({ ...loaded, key_id: markers.previewKeyID }),
    );
    expect(preview.status).toBe(500);
    expect(t.logs()).toContain('internal error');
  });
});

function importLine(text: string): object[] {
  try {
    const definition: unknown = JSON.parse(text);
    return typeof definition === 'object' ? [{ key_id: fresh('import'), org_id: 'acme', ...definition }] : [];
  } catch {
    return [];
  }
}

function filesIn(folder: string): Place[] {
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name)).toString('latin1') }));
}

let metrics = '';
const everywhere = () => [
  ...places,
  ...filesIn(data),
  { name: 'the logs', text: t.logs() },
  { name: 'the console', text: printed.join('\n') },
  { name: 'the metrics', text: metrics },
  { name: 'the traces', text: telemetry.sent() },
];

describe('the canary secrets afterwards', () => {
  it('A-09 S-01 are found only where the contract returns them', async () => {
    const { length } = places;
    metrics = await telemetry.exposition();
    expect(metrics).toContain('keyfront_requests_total{face="rest",operation="updateOrgKey",verdict="INVALID"}');
    expect(telemetry.spans().length).toBeGreaterThan(250);
    expect(telemetry.spans().map(({ name }) => name)).toContain('commit');
    expect(length).toBeGreaterThan(250);
    expect(places.map(({ name }) => name)).toEqual(expect.arrayContaining(['keyfront.db', 'keyfront.db-wal']));
    expect(t.logs().split('\n').length).toBeGreaterThan(200);
    expect(leaksIn(everywhere(), secrets)).toEqual([]);
  });

  it('S-01 would be found in a log, a response or a file', () => {
    const planted = { marker: hmac };
    expect(leaksIn([{ name: 'a log', text: `${t.logs()}{"msg":"${hmac}"}` }], planted)).toEqual(['marker in a log']);
    const asBase64 = Buffer.from(`${hmac}`).toString('base64');
    expect(leaksIn([{ name: 'a response', text: `{"at":"${asBase64}"}` }], planted)).toEqual(['marker in a response']);
    // What is not secret is stored in clear, which proves that reading the files would show a secret as well.
    expect(leaksIn(everywhere(), { owner: 'globex' })).toContain('owner in keyfront.db');
    const echoed = everywhere().map(({ name, text }) => ({ name, text }));
    expect(leaksIn(echoed, secrets)).toEqual(expect.arrayContaining(['hmac in REST preview', 'jwt in REST preview']));
    expect(existsSync(join(data, 'keyfront.db'))).toBe(true);
  });
});

import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import { scopes, type Scope } from '../../../src/keys/key.js';
import { roles } from '../../../src/keys/role.js';
import { startApp, startOwnApp, type TestApp, type TestResponse } from '../../support/app.js';
import { codeOf, dataOf } from '../../support/responses.js';
import { expectNoChange } from '../../support/state.js';
import { timersDueWithin } from '../../support/until.js';
import { sendTo } from './endpoint-request.js';
import { startIssuer, type Issuer } from './issuer.js';
import { endpoints } from './matrix-rows.js';

let issuer: Issuer;
let t: TestApp;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.close());

const settings = (mapping: object) => ({
  KEYFRONT_OIDC_ISSUER: issuer.url,
  KEYFRONT_OIDC_AUDIENCE: 'keyfront',
  KEYFRONT_OIDC_MAPPING: JSON.stringify(mapping),
});
const start = async (mapping: object) => {
  t = await startOwnApp(settings(mapping));
  await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'k1' }, { key_id: 'k2', org_id: 'globex' });
};
const claims = (more: JWTPayload): JWTPayload => ({
  iss: issuer.url,
  aud: 'keyfront',
  sub: 'ada',
  exp: Math.floor(t.clock.now.getTime() / 1000) + 300,
  ...more,
});
const sign = async (more: JWTPayload = {}) => issuer.sign(claims(more));
const inService = (token: string) => ({ authorization: '', 'x-svc-authorization': token });
const inAuthorization = (token: string) => ({ authorization: `Bearer ${token}`, 'x-svc-authorization': '' });

interface Viewer {
  readonly label: string;
  readonly client: string | null;
  readonly scopes: readonly string[];
  readonly orgID: string | null;
}

/** Who the service takes the bearer of a token for; undefined if it rejects it. */
async function viewerOf(more: JWTPayload): Promise<Viewer | undefined> {
  const query = '{ viewer { label client scopes orgID } }';
  const { body } = await t.graphql(query, {}, inService(await sign(more)));
  return (body['data'] as { viewer?: Viewer } | undefined)?.viewer ?? undefined;
}

const upper = (names: readonly Scope[]) => names.map((name) => name.toUpperCase());

async function reasons(): Promise<unknown[]> {
  await timersDueWithin(40);
  return t.logLines('"event":"authentication"').map(({ kind, reason, level }) => [kind, reason, level]);
}

describe('the rules of the mapping', () => {
  it.each(Object.entries(roles))('give the scopes of the role %s', async (role, expected) => {
    await start({ rules: [{ role }] });
    expect((await viewerOf({}))?.scopes).toStrictEqual(upper(expected));
  });

  it('give the scopes that they list, also those that must be named', async () => {
    await start({ rules: [{ scopes: ['read', 'deliver'], org: 'acme' }] });
    expect(await viewerOf({})).toMatchObject({ scopes: ['READ', 'DELIVER'], orgID: 'acme' });
  });

  it('are tried in order: the first that matches decides alone', async () => {
    const groups = [
      { claim: 'groups', value: 'admins', role: 'administrator' },
      { claim: 'groups', value: 'acme', role: 'editor', org: 'acme' },
      { role: 'viewer', org: 'globex' },
    ];
    await start({ rules: groups });
    expect(await viewerOf({ groups: ['acme', 'admins'] })).toMatchObject({
      orgID: null,
      scopes: upper(roles.administrator),
    });
    expect(await viewerOf({ groups: ['x', 'acme'] })).toMatchObject({ orgID: 'acme', scopes: upper(roles.editor) });
    expect(await viewerOf({ groups: [] })).toMatchObject({ orgID: 'globex', scopes: ['READ'] });
  });

  it.each<[string, JWTPayload, boolean]>([
    ['a list that contains the value', { groups: ['x', 'g'] }, true],
    ['the value', { groups: 'g' }, true],
    ['a text with the value among its words', { groups: 'x g' }, false],
    ['a text that begins with the value', { groups: 'gg' }, false],
    ['another letter case', { groups: ['G'] }, false],
    ['a list in a list', { groups: [['g']] }, false],
    ['an object with such a member', { groups: { g: true } }, false],
    ['null', { groups: null }, false],
    ['nothing', {}, false],
  ])('match a claim with %s: %j %s', async (_what, more, isMatch) => {
    await start({ rules: [{ claim: 'groups', value: 'g', role: 'viewer' }] });
    expect((await viewerOf(more)) !== undefined).toBe(isMatch);
  });

  it('match the words of `scope` and `scp`, as OAuth writes scopes', async () => {
    await start({ rules: ['scope', 'scp'].map((claim) => ({ claim, value: 'keys:read', role: 'viewer' })) });
    expect(await viewerOf({ scope: 'openid keys:read' })).toBeDefined();
    expect(await viewerOf({ scp: ['keys:read'] })).toBeDefined();
    expect(await viewerOf({ scope: 'openid keys:reader' })).toBeUndefined();
  });

  it('read members of objects, and no inherited ones', async () => {
    await start({ rules: [{ claim: ['realm_access', 'roles'], value: 'editor', role: 'editor' }] });
    expect(await viewerOf({ realm_access: { roles: ['editor'] } })).toBeDefined();
    expect(await viewerOf({ 'realm_access.roles': ['editor'] })).toBeUndefined();
    expect(await viewerOf({ realm_access: ['editor'] })).toBeUndefined();
    await start({ rules: [{ claim: ['constructor', 'name'], value: 'Object', role: 'editor' }] });
    expect(await viewerOf({})).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['a list', ['acme']],
    ['not valid', 'a/b'],
    ['blank', ' '],
  ])('reject a token whose claim with the organization is %s, also if a later rule matches', async (_what, org) => {
    await start({ rules: [{ orgClaim: 'org', role: 'editor' }, { role: 'viewer' }] });
    expect(await viewerOf({ org: 'globex' })).toMatchObject({ orgID: 'globex' });
    expect(await viewerOf({ org })).toBeUndefined();
    expect(await reasons()).toStrictEqual([['service', 'organization', 'info']]);
  });

  it('reject a token that none of them matches, also for previews', async () => {
    await start({ rules: [{ claim: 'groups', value: 'g', role: 'viewer' }] });
    expect(codeOf(await t.preview({}, inAuthorization(await sign())))).toBe('UNAUTHENTICATED');
    expect(await reasons()).toStrictEqual([['management', 'claims', 'info']]);
  });
});

describe('the name of a person', () => {
  it.each<[string, JWTPayload, string]>([
    ['the claim name', { name: 'Ada Lovelace', preferred_username: 'ada' }, 'Ada Lovelace'],
    ['the user name without a name', { preferred_username: 'ada@example.org' }, 'ada@example.org'],
    ['the subject without either', {}, 'ada'],
    ['the subject if a name has a line break', { name: 'Ada\nLovelace' }, 'ada'],
    ['the subject if a name is too long', { name: 'x'.repeat(101) }, 'ada'],
    ['the subject if a name is a credential', { name: createToken('service') }, 'ada'],
    ['the subject if a name is no text', { name: { given: 'Ada' } }, 'ada'],
  ])('is %s', async (_what, more, label) => {
    await start({ rules: [{ role: 'viewer' }] });
    expect((await viewerOf(more))?.label).toBe(label);
  });

  it('is that of the mapped claim', async () => {
    await start({ name: 'https://keyfront.example/name', rules: [{ role: 'viewer' }] });
    expect((await viewerOf({ 'https://keyfront.example/name': 'Ada', name: 'x' }))?.label).toBe('Ada');
    expect((await viewerOf({ name: 'x' }))?.label).toBe('ada');
  });

  it.each(['azp', 'client_id', 'cid', 'appid'])('stands with the client of the claim %s', async (claim) => {
    await start({ rules: [{ role: 'viewer' }] });
    expect((await viewerOf({ [claim]: 'console' }))?.client).toBe('console');
  });

  it('is in the history, the log and the events beside the subject and the client; the token is in neither', async () => {
    await start({ rules: [{ role: 'editor' }] });
    const token = await sign({ name: 'Ada Lovelace', azp: 'console' });
    expect((await t.update('k1', { tags: ['x'] }, '', inAuthorization(token))).status).toBe(200);
    const [entry] = t.logLines('"event":"change"');
    expect(entry).toMatchObject({ actor: { id: 'oidc:ada', label: 'Ada Lovelace', client: 'console' } });
    for (const part of token.split('.')) expect(t.logs()).not.toContain(part);
    const { body } = await t.graphql(
      '{ orgKey(by: { keyID: "k1" }) { history(last: 1) { edges { node { actor { credentialID label client } } } } } }',
    );
    expect(JSON.stringify(body)).toContain('{"credentialID":"oidc:ada","label":"Ada Lovelace","client":"console"}');
  });
});

describe('a token in one of the headers', () => {
  beforeEach(() => start({ rules: [{ role: 'viewer', org: 'acme' }] }));
  const read = '{ orgKey(by: { keyID: "k1" }) { version } }';
  const version = async (headers: Record<string, string>) => t.graphql(read, {}, headers);
  const isAccepted = ({ status, body }: TestResponse) => status === 200 && !('errors' in body);

  it.each([
    ['Authorization', inAuthorization],
    ['X-Svc-Authorization', inService],
  ])('permits what its scopes do in %s, in both APIs, and sees its organization only', async (_header, headersWith) => {
    const headers = headersWith(await sign());
    expect(isAccepted(await version(headers))).toBe(true);
    expect((await t.send('/svc/org/keys/k1', { headers })).status).toBe(200);
    expect((await t.send('/svc/org/keys/k2', { headers })).status).toBe(404);
    expect((await t.preview({ org_id: 'acme' }, headers)).status).toBe(200);
    expect(codeOf(await t.preview({ org_id: 'globex' }, headers))).toBe('FORBIDDEN');
    const refused = await expectNoChange(t, () => t.update('k1', { tags: ['x'] }, '', headers));
    expect(codeOf(refused)).toBe('FORBIDDEN');
  });

  it('is not looked at when the own header of the operation holds something else', async () => {
    const token = await sign();
    const unknown = createToken('service');
    const responses = [
      await version({ authorization: `Bearer ${token}`, 'x-svc-authorization': unknown }),
      await version({ authorization: `Bearer ${token}`, 'x-svc-authorization': 'x' }),
      await t.preview({}, { authorization: 'Basic eDp5', 'x-svc-authorization': token }),
    ];
    expect(responses.map(codeOf)).toStrictEqual(responses.map(() => 'UNAUTHENTICATED'));
    // A service credential beside the token of a person, as of a router, is the one that counts.
    const { body } = await t.graphql('{ viewer { kind } }', {}, { authorization: `Bearer ${token}` });
    expect(body).toStrictEqual({ data: { viewer: { kind: 'service' } } });
  });

  it('is not looked at in Authorization at /authz, where it is that of the client of a gateway', async () => {
    await start({ rules: [{ role: 'administrator' }] });
    const token = await sign();
    const send = async (headers: Record<string, string>) =>
      (
        await t.send('/authz', {
          headers: { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/', 'x-api-key': 'none', ...headers },
        })
      ).status;
    expect(await send(inAuthorization(token))).toBe(403);
    // The key of the client is unknown.
    expect(await send(inService(token))).toBe(401);
  });

  it('is accepted without a scheme only in X-Svc-Authorization, as a service credential is', async () => {
    const token = await sign();
    expect(codeOf(await version({ authorization: '', 'x-svc-authorization': `Bearer ${token}` }))).toBe(
      'UNAUTHENTICATED',
    );
    expect(codeOf(await version({ authorization: token, 'x-svc-authorization': '' }))).toBe('UNAUTHENTICATED');
  });

  it('that has expired is logged once, and never counts as an attempt to guess', async () => {
    const token = await sign({ exp: 1 });
    for (let count = 0; count < 12; count += 1) {
      expect(codeOf(await version(inAuthorization(token)))).toBe('UNAUTHENTICATED');
    }
    expect(await reasons()).toStrictEqual(Array.from({ length: 12 }, () => ['management', 'expired', 'info']));
  });

  it('of another issuer is refused as any other value is: ignored in Authorization, an attempt in X-Svc-Authorization', async () => {
    const foreign = await sign({ iss: 'https://other.example' });
    expect(codeOf(await version(inAuthorization(foreign)))).toBe('UNAUTHENTICATED');
    expect(await reasons()).toStrictEqual([]);
    expect(codeOf(await version(inService(foreign)))).toBe('UNAUTHENTICATED');
    expect(await reasons()).toStrictEqual([['service', 'issuer', 'info']]);
  });

  it('without a scope may preview only', async () => {
    await start({ rules: [{ scopes: [] }] });
    for (const headersWith of [inAuthorization, inService]) {
      const headers = headersWith(await sign());
      expect((await t.preview({}, headers)).status).toBe(200);
      expect(codeOf(await version(headers))).toBe('UNAUTHENTICATED');
    }
    expect(await reasons()).toStrictEqual(Array.from({ length: 2 }, () => ['service', 'scopes', 'info']));
  });
});

describe('what a token permits', () => {
  const all = Object.keys(scopes) as Scope[];
  let shared: TestApp;
  let node = '';
  beforeAll(async () => {
    // The claim names the scope that the token does not have.
    const rules = all.map((missing) => ({
      claim: 'missing',
      value: missing,
      scopes: all.filter((scope) => scope !== missing),
    }));
    shared = await startApp(settings({ rules }));
    await shared.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'k1' });
    node = dataOf<{ id: string }>(await shared.graphql('{ orgKey(by: { keyID: "k1" }) { id } }')).id;
  });
  afterAll(() => shared.close());

  const rows = endpoints.filter(({ kinds }) => kinds.join() === 'service');
  it.each(rows.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s requires its scopes of a token too',
    async (_name, endpoint) => {
      const exp = Math.floor(shared.clock.now.getTime() / 1000) + 300;
      for (const missing of endpoint.scopes) {
        const token = await issuer.sign({ iss: issuer.url, aud: 'keyfront', sub: 'ada', exp, missing });
        const response = await expectNoChange(shared, () =>
          sendTo(shared, endpoint, [['x-svc-authorization', token]], { node }),
        );
        expect(codeOf(response)).toBe('FORBIDDEN');
      }
    },
  );
});

describe('a mapping that is not valid', () => {
  it.each<[string, RegExp]>([
    ['{', /KEYFRONT_OIDC_MAPPING must be JSON, such as/],
    ['[]', /KEYFRONT_OIDC_MAPPING is not valid at its top/],
    ['{"rules":[]}', /KEYFRONT_OIDC_MAPPING is not valid at rules: must have a rule\./],
    ['{"rules":[{}]}', /at rules\[0\]: needs either role or scopes\./],
    ['{"rules":[{"role":"owner"}]}', /at rules\[0\]\.role: must be one of viewer, editor, approver, administrator\./],
    ['{"rules":[{"scopes":["all"]}]}', /at rules\[0\]\.scopes\[0\]: must be one of read, create/],
    ['{"rules":[{"role":"viewer","scopes":[]}]}', /at rules\[0\]: needs either role or scopes\./],
    ['{"rules":[{"role":"viewer","claim":"groups"}]}', /at rules\[0\]: needs both claim and value, or neither\./],
    ['{"rules":[{"role":"viewer","org":"a/b"}]}', /at rules\[0\]\.org: must be the ID of an organization\./],
    ['{"rules":[{"role":"viewer","org":"a","orgClaim":"b"}]}', /at rules\[0\]: must not have both org and orgClaim\./],
    ['{"rules":[{"role":"viewer"}],"names":"x"}', /names/],
    ['{"rules":[{"role":"viewer"}],"name":[]}', /at name: must be the name of a claim/],
  ])('stops the start, and the error names the place: %s', async (mapping, words) => {
    const env = { ...settings({}), KEYFRONT_OIDC_MAPPING: mapping };
    await expect(startApp(env)).rejects.toThrow(words);
  });
});

import { describe, expect, it } from 'vitest';
import { rotateCredential } from '../../../src/credentials/issue.js';
import { hasScope } from '../../../src/keys/authorization.js';
import { scopes, type Scope } from '../../../src/keys/key.js';
import { roles } from '../../../src/keys/role.js';
import { startSharedApp, type TestResponse } from '../../support/app.js';
import { codeOf, dataOf } from '../../support/responses.js';
import { expectNoChange } from '../../support/state.js';
import { sendTo, sendToFreshKey } from './endpoint-request.js';
import { endpoints } from './matrix-rows.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'k1' });
const { id: node } = dataOf<{ id: string }>(await t.graphql('{ orgKey(by: { keyID: "k1" }) { id } }'));

const allScopes = Object.keys(scopes) as Scope[];
const limited = endpoints.filter(({ kinds }) => kinds.join() === 'service');
const headersFor = async (given: readonly Scope[]) =>
  [['x-svc-authorization', (await t.issue('service', { scopes: given })).secret]] as const;
const isAccepted = ({ status, body }: TestResponse) => status === 200 && !('errors' in body);

describe.each(limited.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  it('accepts a credential with the required scopes alone', async () => {
    expect(isAccepted(await sendToFreshKey(t, endpoint, await headersFor(endpoint.scopes)))).toBe(true);
  });

  it.each([...endpoint.scopes])(
    'rejects a credential with every scope except %s, and writes nothing',
    async (missing) => {
      const headers = await headersFor(allScopes.filter((scope) => scope !== missing));
      const response = await expectNoChange(t, () => sendTo(t, endpoint, headers, { node }));
      expect(codeOf(response)).toBe('FORBIDDEN');
      expect(response.text).toContain(`The credential does not have the scope \`${missing}\`.`);
    },
  );
});

it.each(limited.filter(({ isScopeNamed }) => isScopeNamed).map((endpoint) => [endpoint.name, endpoint] as const))(
  '%s rejects a credential without restrictions: its scope must be named',
  async (_, endpoint) => {
    const response = await sendTo(t, endpoint, [['x-svc-authorization', t.service]], { node });
    expect(codeOf(response)).toBe('FORBIDDEN');
    expect(response.text).toContain('The credential does not have the scope `deliver`.');
  },
);

it('tests every operation of service credentials', () => {
  expect(limited.length).toBeGreaterThan(18);
});

it('permits nothing to a credential whose scopes this version does not know', async () => {
  const headers = await headersFor([]);
  const scoped = limited.filter(({ scopes }) => scopes.length > 0);
  for (const endpoint of scoped) expect(codeOf(await sendTo(t, endpoint, headers, { node }))).toBe('FORBIDDEN');
});

it('rejects a malformed identifier in `orgKey` only if the credential may read', async () => {
  const query = '{ orgKey(by: { keyID: "" }) { version } }';
  const [[name, secret]] = await headersFor(['update']);
  expect(codeOf(await t.graphql(query, {}, { [name]: secret }))).toBe('FORBIDDEN');
  expect(codeOf(await t.graphql(query))).toBe('INVALID');
});

it('shows the history and the organization of a changed key to credentials that may read only', async () => {
  const { secret } = await t.issue('service', { scopes: ['update'] });
  for (const field of ['history { edges { cursor } }', 'organization { id }']) {
    const query = `mutation { updateOrgKey(keyID: "k1", input: {}) { version orgKey { ${field} } } }`;
    const restricted = await t.graphql(query, {}, { 'x-svc-authorization': secret });
    expect(restricted.body['errors']).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(isAccepted(await t.graphql(query))).toBe(true);
  }
});

it('gives the role of administrators the scopes of a credential without restrictions', () => {
  const unrestricted = allScopes.filter((scope) => hasScope({}, scope));
  expect([...roles.administrator].sort()).toStrictEqual(unrestricted.sort());
});

it('keeps the scopes of a credential that is rotated', async () => {
  const { credentials } = t.app.services;
  const { id } = await t.issue('service', { scopes: ['read', 'consume'] });
  const { id: unrestricted } = await t.issue('service');
  const { credential } = await rotateCredential(credentials, id, 0, t.clock.now);
  const stored = await credentials.list();
  expect(stored.find((one) => one.id === credential.id)?.scopes).toStrictEqual(['read', 'consume']);
  expect(stored.find((one) => one.id === unrestricted)).toHaveProperty('scopes', undefined);
});

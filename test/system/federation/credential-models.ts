import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TestApp } from '../../support/app.js';
import { stateOf } from '../../support/state.js';
import { timersDueWithin } from '../../support/until.js';
import type { Gateway, HeadersOf } from './apollo/gateway.mjs';
import type { HiveGateway } from './hive/gateway.mjs';

type AnyGateway = Pick<Gateway | HiveGateway, 'request' | 'close'>;

const read = '{ orgKey(by: { keyID: "shared-1" }) { version } }';
const update = (alias: string) =>
  `mutation { updateOrgKey(keyID: "shared-1", input: { alias: "${alias}" }) { orgKey { definition { alias } } } }`;
/** What a gateway sends as one operation, above the limit of aliases. */
const merged = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: orgKey(by: { keyID: "shared-1" }) { version }`).join(' ')} }`;
const codesOf = ({ errors }: Awaited<ReturnType<AnyGateway['request']>>) =>
  new Set(errors.map(({ extensions }) => extensions?.['code']));

/** The tokens of the company, of which Keyfront knows nothing, and the people that the router finds in them. */
const people: Readonly<Record<string, string>> = {
  'Bearer company-token-of-ana': 'Ana Pérez',
  'Bearer company-token-of-bob': 'Bob',
};
const [anaToken = '', bobToken = ''] = Object.keys(people);

/** Tests both ways in which a router can get a credential for Keyfront: from its clients, or one of its own. */
export function testCredentialModels(
  name: string,
  serviceOf: () => TestApp,
  start: (headersOf: HeadersOf) => AnyGateway | Promise<AnyGateway>,
): void {
  const startWith = async (headersOf: HeadersOf) => {
    const gateway = await start(headersOf);
    onTestFinished(async () => gateway.close());
    return gateway;
  };
  const actorsOf = async () => (await stateOf(serviceOf(), 'shared-1')).audit.map(({ actor }) => actor);

  beforeAll(async () => {
    await serviceOf().importKeys({ key_id: 'shared-1', org_id: 'umbrella' }, { key_id: 'shared-2', org_id: 'hooli' });
  });

  describe(`${name} with the credential of each client`, () => {
    const forward: HeadersOf = (sent) => ({
      authorization: sent['authorization'] ?? '',
      'x-svc-authorization': sent['x-svc-authorization'] ?? '',
      'x-keyfront-actor': sent['x-keyfront-actor'] ?? '',
    });

    it('forwards the token of the company, which is neither an attempt to guess nor logged', async () => {
      const t = serviceOf();
      // The failed attempts of other tests are over.
      t.clock.now = new Date(t.clock.now.getTime() + 61_000);
      const gateway = await startWith(forward);
      const rejections = () => t.logLines('"event":"authentication"').length;
      await timersDueWithin(60);
      const before = rejections();
      for (let count = 0; count < 15; count += 1) {
        const { data, errors } = await gateway.request(
          read,
          {},
          {
            authorization: anaToken,
            'x-svc-authorization': t.service,
          },
        );
        expect([errors, data]).toEqual([[], { orgKey: { version: expect.any(Number) } }]);
      }
      await timersDueWithin(60);
      expect(rejections()).toBe(before);
      const invalid = await gateway.request(read, {}, { 'x-svc-authorization': `kf_svc_${'x'.repeat(38)}` });
      expect(codesOf(invalid)).toEqual(new Set(['UNAUTHENTICATED']));
    });

    it('keeps the organization, the scopes, the limits and the name in the history of each client', async () => {
      const t = serviceOf();
      const gateway = await startWith(forward);
      const { secret, id } = await t.issue('service', { orgID: 'umbrella', scopes: ['read', 'update'] });
      const headers = { authorization: anaToken, 'x-svc-authorization': secret };
      expect((await gateway.request('{ orgKey(by: { keyID: "shared-2" }) { version } }', {}, headers)).data).toEqual({
        orgKey: null,
      });
      expect((await gateway.request(update(`By a client of ${name}`), {}, headers)).errors).toEqual([]);
      expect((await actorsOf()).at(-1)).toEqual({ credentialID: id, label: 'test service' });
      const deletion = 'mutation { deleteOrgKey(keyID: "shared-1") { version } }';
      expect(codesOf(await gateway.request(deletion, {}, headers))).toEqual(new Set(['FORBIDDEN']));
      const named = await gateway.request(update('Named'), {}, { ...headers, 'x-keyfront-actor': 'Mallory' });
      expect(codesOf(named)).toEqual(new Set(['FORBIDDEN']));
      expect(codesOf(await gateway.request(merged, {}, headers))).toEqual(new Set(['INVALID']));
    });
  });

  describe(`${name} with a credential of its own`, () => {
    const startRouter = async () => {
      const t = serviceOf();
      const { secret, id } = await t.issue('service', { scopes: ['read', 'update', 'router', 'actor'] });
      const gateway = await startWith(({ authorization = '' }) => ({
        'x-svc-authorization': secret,
        'x-keyfront-actor': encodeURIComponent(people[authorization] ?? ''),
      }));
      return { gateway, id };
    };

    it('names each person in the history, and ignores what the client sends in these headers', async () => {
      const { gateway, id } = await startRouter();
      const own = { 'x-svc-authorization': 'kf_svc_stolen', 'x-keyfront-actor': 'Mallory' };
      for (const authorization of [anaToken, bobToken, '']) {
        const alias = `By ${authorization.slice(-3)} through ${name}`;
        expect((await gateway.request(update(alias), {}, { ...own, authorization })).errors).toEqual([]);
      }
      const router = { credentialID: id, label: 'test service' };
      expect((await actorsOf()).slice(-3)).toEqual([
        { ...router, assertedName: 'Ana Pérez' },
        { ...router, assertedName: 'Bob' },
        router,
      ]);
    });

    it('has the limits of a router, and its scopes for every client; previews need a management credential too', async () => {
      const { gateway } = await startRouter();
      const headers = { authorization: anaToken };
      expect((await gateway.request(merged, {}, headers)).errors).toEqual([]);
      const deletion = 'mutation { deleteOrgKey(keyID: "shared-1") { version } }';
      expect(codesOf(await gateway.request(deletion, {}, headers))).toEqual(new Set(['FORBIDDEN']));
      const preview = await gateway.request('{ previewKey(input: {}) { keyHash } }', {}, headers);
      expect(codesOf(preview)).toEqual(new Set(['UNAUTHENTICATED']));
    });
  });
}

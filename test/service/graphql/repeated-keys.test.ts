import { expect, it } from 'vitest';
import { recordExpiryNotices } from '../../../src/keys/expiry-notices.js';
import { startOwnApp } from '../../support/app.js';
import { describeEngines, makeOwnPlace } from '../../support/engines.js';
import { newestCursor } from '../../support/feed.js';

// These fields are read for all keys and organizations of a response together.
const ofOrg = `orgKeys { totalCount edges { node { keyID } } } keyTags { edges { node { tag } } } quotaSummary { keyCount used }
  keyUsage { allowed days { day allowed } }`;
const ofKey = `quota { used } usage { allowed days { day allowed } } notices { eventID } history { edges { node { version } } }
  deployments { edges { node { gateway version isCurrent } } } rotation { oldIdentifierHash }`;

describeEngines('a key and its organization, selected several times', (engine) => {
  it('have the same fields each time as alone', async () => {
    const place = await makeOwnPlace(engine);
    const t = await startOwnApp(place.env);
    const sweep = () => recordExpiryNotices(t.app.services, [1]);
    await sweep();
    const expires = t.clock.now.getTime() / 1000 + 2 * 86_400;
    await t.importKeys(
      ...['k1', 'k2'].map((key_id) => ({ key_id, org_id: 'acme', quota_max: 5, tags: ['web'], expires })),
    );
    t.clock.now = new Date(t.clock.now.getTime() + 1.5 * 86_400_000);
    await sweep();
    await t.graphql('mutation { consumeOrgQuota(keyID: "k1", amount: 3) { allowed } }');
    await t.graphql('mutation { patchOrgKey(keyID: "k1", patch: { alias: "changed" }) { orgKey { version } } }');
    await t.app.flushUses();
    const cursor = await newestCursor(t, place);
    const { secret } = await t.issue('service', { scopes: ['read', 'deliver'] });
    await t.graphql(`mutation { acknowledgeChanges(gateway: "edge", cursor: "${cursor}") { isNew } }`, undefined, {
      'x-svc-authorization': secret,
    });

    const one = (alias: string, keyID: string) =>
      `${alias}: orgKey(by: { keyID: "${keyID}" }) { ${ofKey} organization { ${ofOrg} } }`;
    const alone = (await t.graphql(`{ ${one('a', 'k1')} }`)).body['data'] as Record<'a', Record<string, unknown>>;
    expect(alone.a).toMatchObject({
      quota: { used: 3 },
      usage: { allowed: 3 },
      notices: [{}],
      history: { edges: [{}, {}] },
      deployments: { edges: [{ node: { gateway: 'edge', version: 2 } }] },
      organization: { orgKeys: { totalCount: 2 }, quotaSummary: { used: 3 }, keyUsage: { allowed: 3 } },
    });
    const { data } = (await t.graphql(`{ ${one('a', 'k1')} ${one('b', 'k2')} ${one('c', 'k1')} ${one('d', 'k1')} }`))
      .body;
    expect(data).toEqual({ a: alone.a, b: expect.anything() as unknown, c: alone.a, d: alone.a });
  });
});

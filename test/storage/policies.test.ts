import { beforeEach, expect, it } from 'vitest';
import { allPolicyParts, type Policy } from '../../src/keys/access/policy.js';
import { maxPolicies, type PolicyStore } from '../../src/keys/access/policy-store.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { openOwnServices } from '../support/storage.js';
import { until } from '../support/until.js';

const actor = { credentialID: 'cli', label: 'keyfront policies import', assertedName: 'Ada' };
const at = (second: number) => new Date(Date.UTC(2026, 0, 31, 12, 0, second));
const policy = (policyID: string, changes: Partial<Policy> = {}): Policy => ({
  policyID,
  governs: allPolicyParts,
  ...changes,
});
const set = (one: Policy) => ({ policyID: one.policyID, policy: one });

const gold = policy('gold', {
  name: 'Gold “1”',
  orgID: 'acme',
  rate: 1.5,
  quotaMax: 9_007_199_254_740_993n,
  accessRights: [{ label: 'invoices', allowedUrls: [{ url: '/a', methods: ['GET'] }] }],
});

describeEngines('the policy store', (engine) => {
  let place: EnginePlace;
  let store: PolicyStore;
  const open = async () => (await openOwnServices(place)).policies;
  const known = async (from = store) => [...(await from.current()).values()];
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    store = await open();
  });

  it('has no policies at first', async () => {
    expect(await known()).toStrictEqual([]);
    expect(await store.versions()).toStrictEqual([]);
    expect(await store.historyOf('gold')).toStrictEqual([]);
    expect(await store.verify()).toStrictEqual([]);
  });

  it('returns exactly what was imported, also after a restart', async () => {
    const silver = policy('silver', { governs: ['QUOTA'], quotaMax: 5n });
    const written = await store.change([set(gold), set(silver)], actor, at(1));
    expect(written).toStrictEqual([
      { policyID: 'gold', version: 1, at: at(1), actor, policy: gold },
      { policyID: 'silver', version: 1, at: at(1), actor, policy: silver },
    ]);
    const expected = [gold, silver].map((one) => ({ ...one, version: 1, changedAt: at(1) }));
    expect(await known()).toStrictEqual(expected);
    expect(await known(await open())).toStrictEqual(expected);
    expect(await store.versions()).toStrictEqual(written);
  });

  it('keeps each version, and returns the policies of a past time', async () => {
    await store.change([set(gold)], actor, at(10));
    await store.change([set({ ...gold, rate: 2 })], actor, at(20));
    await store.change([{ policyID: 'gold', policy: undefined }], actor, at(30));
    await store.change([set({ ...gold, rate: 3 })], actor, at(40));
    expect((await store.historyOf('gold')).map(({ version, policy: of }) => [version, of?.rate])).toStrictEqual([
      [1, 1.5],
      [2, 2],
      [3, undefined],
      [4, 3],
    ]);
    const rateAt = async (second: number) => (await store.at(at(second))).get('gold')?.rate;
    expect(await Promise.all([9, 10, 19, 20, 29, 30, 39, 40, 99].map(rateAt))).toStrictEqual([
      undefined,
      1.5,
      1.5,
      2,
      2,
      undefined,
      undefined,
      3,
      3,
    ]);
  });

  it('writes nothing for a change of nothing, and a later time if the clock goes back', async () => {
    await store.change([set(gold)], actor, at(10));
    expect(await store.change([set(gold), { policyID: 'none', policy: undefined }], actor, at(20))).toStrictEqual([]);
    const [changed] = await store.change([set({ ...gold, rate: 2 })], actor, at(5));
    expect(changed?.at).toStrictEqual(at(10));
  });

  it('shows a change of another process within a second', async () => {
    const other = await open();
    expect(await known(other)).toStrictEqual([]);
    await store.change([set(gold)], actor, at(1));
    expect((await known()).length).toBe(1);
    await until(async () => (await known(other)).length === 1);
    await store.change([{ policyID: 'gold', policy: undefined }], actor, at(2));
    await until(async () => (await known(other)).length === 0);
  });

  it('makes changes of several processes one after the other', async () => {
    const stores = [store, await open(), await open()];
    await Promise.all(
      stores.flatMap((one, index) =>
        [1, 2, 3].map((round) => one.change([set(policy('shared', { rate: index * 10 + round }))], actor, at(round))),
      ),
    );
    expect((await store.historyOf('shared')).map(({ version }) => version)).toStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await store.verify()).toStrictEqual([]);
  });

  it('rejects too many and too large policies, and changes nothing', async () => {
    const many = Array.from({ length: maxPolicies + 1 }, (_, index) => set(policy(`policy ${index}`)));
    await expect(store.change(many, actor, at(1))).rejects.toMatchObject({ code: 'CONFLICT' });
    const large = policy('large', { name: 'x'.repeat(300_000) });
    await expect(store.change([set(gold), set(large)], actor, at(1))).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await known()).toStrictEqual([]);
    await store.change(many.slice(1), actor, at(1));
    expect((await known()).length).toBe(maxPolicies);
  });

  it.each([
    [
      'a changed definition',
      "UPDATE policies SET definition = replace(definition, '1.5', '2.5') WHERE version = 2",
      'fails',
    ],
    ['a changed time', 'UPDATE policies SET at = at + 1 WHERE version = 2', 'fails'],
    ['the newest version missing', 'DELETE FROM policies WHERE version = 2', 'an older row was put back'],
    ['all versions missing', 'DELETE FROM policies', 'The policy gold is missing.'],
    ['a missing head', "DELETE FROM heads WHERE name = 'policies'", 'an older row was put back'],
    [
      'a changed head',
      "UPDATE heads SET content = '[]' WHERE name = 'policies'",
      'The head of the policies fails the integrity check.',
    ],
  ])('uses no policies with %s, and names them', async (_, statement, problem) => {
    await store.change([set(policy('gold', { rate: 9 }))], actor, at(1));
    await store.change([set(gold)], actor, at(2));
    await place.tamper(statement);
    const reopened = await open();
    await expect(reopened.current()).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(reopened.change([set({ ...gold, rate: 3 })], actor, at(3))).rejects.toMatchObject({
      code: 'INTERNAL',
    });
    expect((await reopened.verify()).join(' ')).toContain(problem);
  });

  it('names an older version that is missing, which decisions do not use', async () => {
    await store.change([set(policy('gold', { rate: 9 }))], actor, at(1));
    await store.change([set(gold)], actor, at(2));
    await place.tamper('DELETE FROM policies WHERE version = 1');
    expect(await known(await open())).toHaveLength(1);
    expect(await store.verify()).toStrictEqual(['A version of the policy gold is missing.']);
  });
});

import { beforeEach, expect, it } from 'vitest';
import { createScheduler } from '../../src/lib/scheduler.js';
import { createPolicyStore } from '../../src/storage/sql/policy-store.js';
import { allPolicyParts, type Policy } from '../../src/keys/access/policy.js';
import { maxPolicies, type PolicyStore } from '../../src/keys/access/policy-store.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { changePolicies } from '../support/policies.js';
import { signer } from '../support/signer.js';
import { openOwnServices, openOwnSession } from '../support/storage.js';
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
    expect(await store.currentSet()).toMatchObject({ version: 0 });
    expect(await store.historyOf('gold', { limit: 9 })).toStrictEqual({ versions: [], newest: 0 });
    expect(await store.verify()).toStrictEqual([]);
  });

  it('returns exactly what was imported, also after a restart', async () => {
    const silver = policy('silver', { governs: ['QUOTA'], quotaMax: 5n });
    expect(await changePolicies(store, [set(gold), set(silver)], at(1), actor)).toBe(1);
    const expected = [gold, silver].map((one) => ({ ...one, version: 1, changedAt: at(1), changedBy: actor }));
    expect(await known()).toStrictEqual(expected);
    expect(await known(await open())).toStrictEqual(expected);
    expect(await (await open()).historyOf('gold', { limit: 1 })).toStrictEqual({
      versions: [{ policyID: 'gold', version: 1, at: at(1), actor, policy: gold }],
      newest: 1,
    });
  });

  it('keeps each version, and returns the policies of a past time', async () => {
    await changePolicies(store, [set(gold)], at(10), actor);
    await changePolicies(store, [set({ ...gold, rate: 2 })], at(20), actor);
    await changePolicies(store, [{ policyID: 'gold', policy: undefined }], at(30), actor);
    await changePolicies(store, [set({ ...gold, rate: 3 })], at(40), actor);
    expect(
      (await store.historyOf('gold', { limit: 9 })).versions.map(({ version, policy: of }) => [version, of?.rate]),
    ).toStrictEqual([
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

  it('returns ranges of a history, and fewer versions if they are large', async () => {
    for (let rate = 1; rate <= 40; rate += 1)
      await changePolicies(store, [set({ ...gold, rate, name: 'x'.repeat(250_000) })], at(rate), actor);
    const range = async (of: object) =>
      (await store.historyOf('gold', { limit: 3, ...of })).versions.map(({ version }) => version);
    expect(await range({})).toStrictEqual([1, 2, 3]);
    expect(await range({ after: 3 })).toStrictEqual([4, 5, 6]);
    expect(await range({ after: 3, before: 5 })).toStrictEqual([4]);
    expect(await range({ last: true })).toStrictEqual([38, 39, 40]);
    expect(await range({ last: true, before: 10 })).toStrictEqual([7, 8, 9]);
    expect(await range({ limit: 100 })).toHaveLength(16);
    expect((await range({ limit: 100, last: true })).at(-1)).toBe(40);
    expect(await store.historyOf('a\0b', { limit: 1 })).toStrictEqual({ versions: [], newest: 0 });
  });

  it('decides again if another process has changed the policies meanwhile', async () => {
    const other = await open();
    await changePolicies(store, [set(gold)], at(1), actor);
    const seen: number[] = [];
    let meanwhile: Promise<unknown> | undefined;
    const version = await store.change(
      ({ version: found, policies }) => {
        seen.push(found);
        // Begins in the same process, but ends before the transaction of the decision.
        meanwhile ??= changePolicies(other, [set({ ...gold, rate: 7 })], at(2), actor);
        const rate = policies.get('gold')?.rate ?? 0;
        return { changes: [set({ ...gold, rate: rate + 1 })], resultAt: (next) => next };
      },
      actor,
      at(3),
    );
    await meanwhile;
    const { policies } = await (await open()).currentSet();
    expect(policies.get('gold')?.version).toBe(3);
    // Whichever was first, none is lost.
    expect(seen.length === 1 ? policies.get('gold')?.rate : [version, policies.get('gold')?.rate]).toStrictEqual(
      seen.length === 1 ? 7 : [3, 8],
    );
  });

  it('writes nothing for a change of nothing, and a later time if the clock goes back', async () => {
    await changePolicies(store, [set(gold)], at(10), actor);
    expect(await changePolicies(store, [set(gold), { policyID: 'none', policy: undefined }], at(20), actor)).toBe(1);
    expect(await changePolicies(store, [set({ ...gold, rate: 2 })], at(5), actor)).toBe(2);
    expect((await known()).map(({ changedAt }) => changedAt)).toStrictEqual([at(10)]);
  });

  it('shows a change of another process within a second', async () => {
    const other = await open();
    expect(await known(other)).toStrictEqual([]);
    await changePolicies(store, [set(gold)], at(1), actor);
    expect((await known()).length).toBe(1);
    await until(async () => (await known(other)).length === 1);
    await changePolicies(store, [{ policyID: 'gold', policy: undefined }], at(2), actor);
    await until(async () => (await known(other)).length === 0);
  });

  it('reads the policies once for all that wait for them', async () => {
    await changePolicies(store, [set(gold)], at(1), actor);
    const [first, ...others] = await Promise.all(Array.from({ length: 100 }, () => store.current()));
    expect(others.every((policies) => policies === first)).toBe(true);
    expect(store.cached()).toBe(first);
  });

  it('shows its own change at once, also if a read had begun before it', async () => {
    const many = Array.from({ length: 100 }, (_, index) => set(policy(`policy ${index}`)));
    await changePolicies(store, many, at(1), actor);
    const early = store.current();
    await changePolicies(store, [set(gold)], at(2), actor);
    expect((await early).size).toBeGreaterThanOrEqual(100);
    expect((await known()).map(({ policyID }) => policyID)).toContain('gold');
  });

  it('makes changes of several processes one after the other', async () => {
    const stores = [store, await open(), await open()];
    await Promise.all(
      stores.flatMap((one, index) =>
        [1, 2, 3].map((round) =>
          changePolicies(one, [set(policy('shared', { rate: index * 10 + round }))], at(round), actor),
        ),
      ),
    );
    expect((await store.historyOf('shared', { limit: 99 })).versions.map(({ version }) => version)).toStrictEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(await store.verify()).toStrictEqual([]);
  });

  it('rejects too many and too large policies, and changes nothing', async () => {
    const many = Array.from({ length: maxPolicies + 1 }, (_, index) => set(policy(`policy ${index}`)));
    await expect(changePolicies(store, many, at(1), actor)).rejects.toMatchObject({ code: 'CONFLICT' });
    const large = policy('large', { name: 'x'.repeat(300_000) });
    await expect(changePolicies(store, [set(gold), set(large)], at(1), actor)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(await known()).toStrictEqual([]);
    await changePolicies(store, many.slice(1), at(1), actor);
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
    await changePolicies(store, [set(policy('gold', { rate: 9 }))], at(1), actor);
    await changePolicies(store, [set(gold)], at(2), actor);
    await place.tamper(statement);
    const reopened = await open();
    await expect(reopened.current()).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(changePolicies(reopened, [set({ ...gold, rate: 3 })], at(3), actor)).rejects.toMatchObject({
      code: 'INTERNAL',
    });
    expect((await reopened.verify()).join(' ')).toContain(problem);
  });

  it('names an older version that is missing, which decisions do not use', async () => {
    await changePolicies(store, [set(policy('gold', { rate: 9 }))], at(1), actor);
    await changePolicies(store, [set(gold)], at(2), actor);
    await place.tamper('DELETE FROM policies WHERE version = 1');
    expect(await known(await open())).toHaveLength(1);
    expect(await store.verify()).toStrictEqual(['A version of the policy gold is missing.']);
  });
});

it('uses policies for a second of its clock, and then compares them with the database', async () => {
  const { session } = openOwnSession();
  let nowMs = 5_000;
  const reader = createPolicyStore(session, signer, createScheduler(), () => nowMs);
  const writer = createPolicyStore(session, signer, createScheduler());
  expect([...(await reader.current()).keys()]).toEqual([]);
  await changePolicies(writer, [set(gold)], at(1), actor);
  nowMs = 5_999;
  expect([...(await reader.current()).keys()]).toEqual([]);
  nowMs = 6_000;
  expect(reader.cached()).toBeUndefined();
  expect([...(await reader.current()).keys()]).toEqual(['gold']);
});

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyService } from '../../../src/keys/key-service.js';
import { definitions } from '../../system/parity/definitions.js';
import { everything, graphqlOf, jsonText, type Wire } from '../../system/parity/wire.js';
import { codeOf, dataOf, errorsOf, issuesOf } from '../../support/responses.js';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { generated, runs, seed } from '../../support/generated.js';
import { stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const figures = '{ max used remaining renewsAt }';
const selected = `version changes { path kind before after } warnings { path code message }
  quotaEffect { before ${figures} after ${figures} summary }`;
const passed = '(keyID: "k1", input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion)';
const declared = '($input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int)';
const previewing = `query ${declared} { previewOrgKeyUpdate${passed} { ${selected} definition ${everything} } }`;
const updating = `mutation ${declared} { updateOrgKey${passed} { ${selected} orgKey { definition ${everything} } } }`;

interface Options {
  readonly resetQuota?: boolean | undefined;
  readonly expectedVersion?: number | undefined;
}

/** Sends a definition with its numbers as they are written. */
const send = (query: string, input: Wire, { resetQuota = false, expectedVersion }: Options = {}) =>
  t.post(
    `{"query":${JSON.stringify(query)},"variables":${jsonText({ input, resetQuota, expectedVersion: expectedVersion ?? null })}}`,
  );

interface Effect {
  readonly changes: { readonly path: string; readonly kind: string }[];
  readonly quotaEffect: { readonly summary: string; readonly before: object; readonly after: object };
}
const preview = async (input: Wire, options?: Options) => dataOf<Effect>(await send(previewing, input, options));
const update = async (input: Wire, options?: Options) => dataOf<Effect>(await send(updating, input, options));

/** An update returns the definition of the key, and a preview that of the prediction. */
const withDefinition = ({ orgKey, ...effect }: { readonly orgKey?: object }) => ({ ...effect, ...orgKey });

/** The result of both: the effect, or the rejection. */
const verdict = (response: TestResponse) =>
  codeOf(response) === undefined
    ? withDefinition(dataOf(response))
    : [
        codeOf(response),
        errorsOf(response)[0]?.message.replace(/column \d+/, 'column'),
        issuesOf(response),
        response.status,
      ];

describe(`previewOrgKeyUpdate (FUZZ_SEED=${seed})`, () => {
  it('predicts exactly what updateOrgKey then does, and writes nothing', { timeout: 600_000 }, async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 100, quota_remaining: 30, quota_renewal_rate: 60 });
    const counts = { done: 0, rejected: 0 };
    const situation = fc.record({
      definition: definitions.map(graphqlOf),
      options: fc.record({
        resetQuota: fc.constantFrom(true, false, undefined),
        expectedVersion: fc.constantFrom('current', 'stale', undefined),
      }),
      traffic: fc.integer({ min: 0, max: 30 }),
      seconds: fc.integer({ min: -5, max: 200 }),
    });
    await fc.assert(
      fc.asyncProperty(situation, async ({ definition, options, traffic, seconds }) => {
        t.clock.now = new Date(t.clock.now.getTime() + seconds * 1000);
        if (traffic > 0) {
          await t.graphql('mutation ($n: Int64) { consumeOrgQuota(keyID: "k1", amount: $n) { allowed } }', {
            n: traffic,
          });
        }
        const before = await stateOf(t, 'k1');
        const version = before.key?.version ?? 0;
        const expectedVersion = { current: version, stale: version - 1, none: undefined }[
          options.expectedVersion ?? 'none'
        ];
        const given = { resetQuota: options.resetQuota, expectedVersion };
        const predicted = verdict(await send(previewing, definition, given));
        expect(await stateOf(t, 'k1')).toStrictEqual(before);
        expect(verdict(await send(updating, definition, given))).toStrictEqual(predicted);
        if (Array.isArray(predicted)) counts.rejected += 1;
        else counts.done += 1;
      }),
      generated(runs('DRY_RUNS', 80)),
    );
    expect(Math.min(counts.done, counts.rejected)).toBeGreaterThan((counts.done + counts.rejected) / 10);
  });

  it('predicts the changes that the history then records', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'a', hmac_string: 'x' });
    const input = { alias: 'b', hmacString: 'y', basicAuthData: { password: 'p' }, expires: '9223372036854775807' };
    const { changes } = await preview(input);
    await update(input);
    const entry = await t.graphql(
      '{ orgKey(by: { keyID: "k1" }) { history(last: 1) { edges { node { changes { path kind before after } } } } } }',
    );
    expect(dataOf(entry)).toMatchObject({ history: { edges: [{ node: { changes } }] } });
    expect(changes).toStrictEqual([
      { path: 'alias', kind: 'CHANGED', before: 'a', after: 'b' },
      { path: 'basicAuthData', kind: 'ADDED', before: null, after: { hashType: 'bcrypt' } },
      { path: 'expires', kind: 'ADDED', before: null, after: '9223372036854775807' },
      { path: 'basicAuthData.password', kind: 'SET', before: null, after: null },
      { path: 'hmacString', kind: 'CHANGED', before: null, after: null },
    ]);
  });

  it('hashes no passwords', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const { ports } = t.app.services;
    const keys = createKeyService({ ...ports, hashPassword: () => Promise.reject(new Error('hashed')) });
    const caller = { credentialID: 'c', label: 'l', orgID: undefined, requestID: 'r' };
    for (const hashType of ['bcrypt', 'argon2id']) {
      const request = { keyID: 'k1', input: { basicAuthData: { password: 'p', hashType } }, resetQuota: false };
      const { key, changes } = await keys.previewOrgKeyUpdate(caller, request);
      expect(key.definition.basicAuthData).toStrictEqual({ hashType });
      expect(changes.map(({ kind }) => kind)).toStrictEqual(['ADDED', 'SET']);
      await expect(keys.updateOrgKey(caller, request)).rejects.toThrow('hashed');
    }
  });

  it('reports an unchanged password as changed, because hashes cannot be compared', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', basic_auth_data: { password: 'p' } });
    const input = { basicAuthData: { password: 'p' } };
    const changes = [{ path: 'basicAuthData.password', kind: 'CHANGED', before: null, after: null }];
    expect(await preview(input)).toMatchObject({ changes });
    expect(await update(input)).toMatchObject({ changes });
  });

  it('is of a deleted key too, if it includes deleted keys', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const version = async (includeDeleted: boolean) => {
      const args = `keyID: "k1", input: { alias: "a" }, includeDeleted: ${includeDeleted}`;
      const response = await t.graphql(`{ previewOrgKeyUpdate(${args}) { version } }`);
      return codeOf(response) ?? dataOf(response)['version'];
    };
    expect([await version(false), await version(true)]).toEqual([2, 2]);
    dataOf(await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }'));
    expect([await version(false), await version(true)]).toEqual(['NOT_FOUND', 3]);
  });

  it('can be requested by GET', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const query = '{ previewOrgKeyUpdate(keyID: "k1", input: { alias: "other" }) { version } }';
    expect(dataOf(await t.graphqlByGET({ query }))).toStrictEqual({ version: 2 });
  });
});

describe('the summary of the effect on the quota', () => {
  const summary = async (input: Wire, resetQuota = false) => {
    const { quotaEffect } = await preview(input, { resetQuota });
    expect((await update(input, { resetQuota })).quotaEffect).toStrictEqual(quotaEffect);
    return quotaEffect.summary;
  };
  beforeEach(() =>
    t.importKeys({
      key_id: 'k1',
      org_id: 'acme',
      quota_max: 10_000,
      quota_remaining: 1880,
      quota_renewal_rate: 86_400,
    }),
  );
  const day = { quotaMax: 10_000, quotaRenewalRate: 86_400 };

  const later = (milliseconds: number) => (t.clock.now = new Date(t.clock.now.getTime() + milliseconds));

  it('states what a reset drops and when it renews, and that nothing changes', async () => {
    later(60_000);
    expect(await summary(day, true)).toBe('Reset drops 8,120 used requests, renews at 2026-02-01T12:01:00.000Z.');
    expect(await summary(day)).toBe('The quota does not change.');
  });

  it('states the change of the maximum', async () => {
    expect(await summary({ ...day, quotaMax: 5000 })).toBe('The maximum changes from 10,000 to 5,000.');
    expect(await summary({ ...day, quotaMax: -1 })).toBe('The maximum changes from 5,000 to unlimited.');
    expect(await summary({ ...day, quotaMax: 7 }, true)).toBe(
      'Reset drops 8,120 used requests, the maximum changes from unlimited to 7.',
    );
  });

  it.each([
    ['the date of the renewal', 86_400, '2026-02-03T12:00:00.000Z'],
    ['the Unix second of a renewal that is not a valid date', '9223372036854775807', 'Unix second 9223372036854775807'],
  ])('states that a quota no longer renews, and %s', async (_, quotaRenewalRate, renewal) => {
    expect(await summary({ quotaMax: 10_000 })).toBe('The quota no longer renews.');
    later(2 * 86_400_000);
    expect(await summary({ quotaMax: 10_000, quotaRenewalRate })).toBe(`The quota renews at ${renewal}.`);
  });
});

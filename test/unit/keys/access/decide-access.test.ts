import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accessCodes,
  decideAccess,
  type AccessRequest,
  type DecidedKey,
} from '../../../../src/keys/access/decide-access.js';
import { apiOf, allPolicyParts, type LimitValues, type Policy } from '../../../../src/keys/access/policy.js';
import type { Definition } from '../../../../src/keys/definition/normalize.js';
import { generated, runs } from '../../../support/generated.js';
import { aKey } from '../../../support/factories.js';

const now = new Date('2026-01-31T12:00:00Z');
const seconds = BigInt(now.getTime() / 1000);
const unused = { used: 0n, renews: undefined };

const decide = (
  definition: Definition,
  request: AccessRequest = {},
  { policies = [], used = 0n, ...key }: Partial<DecidedKey> & { policies?: readonly Policy[]; used?: bigint } = {},
) =>
  decideAccess(
    { ...aKey('key', { definition }), ...key },
    new Map(policies.map((policy) => [policy.policyID, policy])),
    { used, renews: undefined },
    request,
    now,
  );

const policy = (policyID: string, changes: Partial<Policy> = {}): Policy => ({
  policyID,
  governs: allPolicyParts,
  ...changes,
});

const invoices: Definition = {
  accessRights: [{ label: 'invoices', versions: ['v1'], allowedUrls: [{ url: '/a', methods: ['GET'] }] }],
};
const get = { api: 'invoices', method: 'get', path: '/a/1?b=../c' };
const noSecrets = { passwordHash: undefined, jwtSecret: undefined, hmacString: undefined };

describe('a decision', () => {
  it('is NOT_FOUND without a key', () => {
    const decision = decideAccess(undefined, new Map(), unused, get, now);
    expect(decision).toMatchObject({ isAllowed: false, code: 'NOT_FOUND', quota: undefined, right: undefined });
  });

  it.each<[string, ReturnType<typeof decide>, object]>([
    ['DELETED', decide(invoices, get, { deleted: now }), {}],
    ['INACTIVE', decide({ ...invoices, isInactive: true }, get), { path: ['isInactive'] }],
    [
      'INACTIVE',
      decide({ isInactive: true, applyPolicies: ['gold'] }, {}, { policies: [policy('gold')] }),
      { path: ['isInactive'] },
    ],
    [
      'INACTIVE',
      decide(
        { applyPolicies: ['gold', 'off'] },
        {},
        { policies: [policy('gold'), policy('off', { isInactive: true })] },
      ),
      { origin: { policyID: 'off' } },
    ],
    ['EXPIRED', decide({ ...invoices, expires: seconds }, get), { path: ['expires'] }],
    [
      'OTHER_CREDENTIAL_REQUIRED',
      decide({}, {}, { secrets: { ...noSecrets, passwordHash: 'h' } }),
      { path: ['basicAuthData', 'password'] },
    ],
    [
      'OTHER_CREDENTIAL_REQUIRED',
      decide({}, { proofs: ['BASIC'] }, { secrets: { ...noSecrets, jwtSecret: Uint8Array.of(1) } }),
      { path: ['jwtData', 'secret'] },
    ],
    ['OTHER_CREDENTIAL_REQUIRED', decide({ hmacEnabled: true }), { path: ['hmacEnabled'] }],
    [
      'OTHER_CREDENTIAL_REQUIRED',
      decide({ enableHttpSignatureValidation: true }, { proofs: ['HMAC'] }),
      { path: ['enableHttpSignatureValidation'] },
    ],
    ['OTHER_CREDENTIAL_REQUIRED', decide({ certificate: 'c' }), { path: ['certificate'] }],
    [
      'UNKNOWN_POLICY',
      decide({ ...invoices, applyPolicies: ['gold', 'new'] }, get, { policies: [policy('gold', invoices)] }),
      { path: ['applyPolicies', 1], message: 'The policy "new" is not known.' },
    ],
    ['NO_ACCESS', decide(invoices, { ...get, api: 'orders' }), {}],
    ['NO_ACCESS', decide({}, get), {}],
    ['NO_ACCESS', decide(invoices, { ...get, version: 'v2' }), {}],
    ['METHOD_OR_PATH_DENIED', decide(invoices, { ...get, method: 'POST' }), {}],
    ['METHOD_OR_PATH_DENIED', decide(invoices, { ...get, path: '/b' }), {}],
    ['METHOD_OR_PATH_DENIED', decide(invoices, { api: 'invoices' }), {}],
    ['METHOD_OR_PATH_DENIED', decide(invoices, { ...get, path: '/a/../b' }), {}],
    [
      'QUOTA_EXCEEDED',
      decide({ quotaMax: 3n }, {}, { used: 3n }),
      { path: ['quotaMax'], origin: { policyID: undefined } },
    ],
    ['QUOTA_EXCEEDED', decide({ quotaMax: 3n }, { amount: 2n }, { used: 2n }), {}],
    [
      'QUOTA_EXCEEDED',
      decide(
        { quotaMax: -1n, applyPolicies: ['gold'] },
        {},
        { used: 5n, policies: [policy('gold', { quotaMax: 5n })] },
      ),
      { origin: { policyID: 'gold' } },
    ],
  ])('is %s', (code, decision, reason) => {
    expect(decision).toMatchObject({ isAllowed: false, code });
    expect(decision.reasons[0]).toMatchObject({ code, ...reason });
  });

  it.each<[string, ReturnType<typeof decide>]>([
    ['with a permitted path', decide(invoices, { ...get, version: 'v1' })],
    ['without an API', decide({})],
    ['with the last request of the quota', decide({ quotaMax: 3n }, {}, { used: 2n })],
    ['with a used quota that is left out', decide({ quotaMax: 3n }, { amount: 0n }, { used: 3n })],
    ['with a key that never expires', decide({ expires: -1n })],
    ['with all proofs', decide({ hmacEnabled: true, certificate: 'c' }, { proofs: ['CERTIFICATE', 'HMAC'] })],
    [
      'with a quota that the policy raises',
      decide({ quotaMax: 1n, applyPolicies: ['gold'] }, {}, { used: 4n, policies: [policy('gold', { quotaMax: 5n })] }),
    ],
  ])('is VALID %s', (_, decision) => {
    expect(decision).toMatchObject({ isAllowed: true, code: 'VALID', reasons: [] });
  });

  it('names the rule that permits the path, the limits of the API, and the quota of the key', () => {
    const definition: Definition = {
      rate: 1,
      per: 1,
      quotaMax: 10n,
      accessRights: [
        { label: 'invoices', allowedUrls: [{ url: '/a', methods: ['GET'] }], limit: { rate: 5, per: 1, quotaMax: 2n } },
      ],
    };
    expect(decide(definition, get, { used: 4n })).toMatchObject({
      rule: { url: '/a', methods: ['GET'], origin: { policyID: undefined } },
      limits: { values: { rate: 5, per: 1, quotaMax: 2n } },
      quota: { max: 10n, used: 4n, remaining: 6n },
    });
    expect(decide(definition).limits.values).toMatchObject({ rate: 1, quotaMax: 10n });
  });

  it('lists all reasons, in the order of the codes', () => {
    const definition: Definition = {
      isInactive: true,
      expires: 1n,
      hmacEnabled: true,
      quotaMax: 1n,
      applyPolicies: ['missing'],
    };
    const { reasons } = decide(definition, get, { deleted: now, used: 1n });
    expect(reasons.map(({ code }) => code)).toEqual([
      'DELETED',
      'INACTIVE',
      'EXPIRED',
      'OTHER_CREDENTIAL_REQUIRED',
      'UNKNOWN_POLICY',
      'NO_ACCESS',
      'QUOTA_EXCEEDED',
    ]);
  });

  it('shortens what a client sent', () => {
    const [reason] = decide({}, { api: 'x'.repeat(10_000) }).reasons;
    expect(reason?.message.length).toBeLessThan(250);
  });
});

// Few values, so that sources often agree and often differ by one.
const limits = fc.record(
  {
    rate: fc.constantFrom(-1, 0, 1, 5, 10),
    per: fc.constantFrom(-1, 0, 1, 60),
    quotaMax: fc.constantFrom(-1n, 0n, 1n, 10n, 1000n),
    quotaRenewalRate: fc.constantFrom(-1n, 0n, 60n, 3600n),
    maxQueryDepth: fc.constantFrom(-1, 0, 3, 9),
    throttleRetryLimit: fc.constantFrom(-1, 0, 3),
  },
  { requiredKeys: [] },
);
const rights = fc.uniqueArray(
  fc.record(
    {
      label: fc.constantFrom('a', 'b', 'c'),
      apiID: fc.constantFrom('a', 'b', ''),
      versions: fc.subarray(['v1', 'v2']),
      allowedUrls: fc.array(
        fc.record({
          url: fc.constantFrom('/x', '/y/[0-9]+$', '/(', '.*', '/x/.*|/z'),
          methods: fc.subarray(['GET', 'POST']),
        }),
        { maxLength: 3 },
      ),
      limit: limits,
    },
    { requiredKeys: ['label'] },
  ),
  { selector: ({ label }) => label, maxLength: 3 },
);
const policies = fc.array(
  fc
    .tuple(
      limits,
      fc.record(
        {
          accessRights: rights,
          isInactive: fc.boolean(),
          orgID: fc.constantFrom('acme', 'globex'),
        },
        { requiredKeys: ['accessRights'] },
      ),
      fc.subarray([...allPolicyParts]),
    )
    .map(([values, fields, governs]) => ({ ...values, ...fields, governs })),
  { maxLength: 3 },
);
const cases = fc.record({
  own: limits,
  accessRights: rights,
  policies: policies.map((list) => list.map((each, index) => ({ ...each, policyID: `p${index}` }))),
  named: fc.subarray(['p0', 'p1', 'p2', 'missing']),
  isInactive: fc.boolean(),
  expires: fc.constantFrom(0n, seconds - 1n, seconds + 1n),
  used: fc.constantFrom(0n, 9n, 10n, 1000n),
  request: fc.record(
    {
      api: fc.constantFrom('a', 'b', 'c'),
      version: fc.constantFrom('v1', 'v3'),
      method: fc.constantFrom('GET', 'post'),
      path: fc.constantFrom('/x', '/y/12', '/z', '/x/%2e%2e/y', 'x', '/%'),
      amount: fc.constantFrom(0n, 1n, 2n),
    },
    { requiredKeys: [] },
  ),
});

/** Requests that limits permit in each of some periods of time, Infinity without a quota. */
function quotasOf({ quotaMax = 0n, quotaRenewalRate = 0n }: LimitValues): number[] {
  const windows = [1, 60, 600, 3600, 360_000];
  if (quotaMax <= 0n) return windows.map(() => Infinity);
  return windows.map((window) =>
    quotaRenewalRate <= 0n ? Number(quotaMax) : Number(quotaMax) * Math.ceil(window / Number(quotaRenewalRate)),
  );
}

const speedOf = ({ rate = 0, per = 0 }: LimitValues) => (rate > 0 && per > 0 ? rate / per : Infinity);
const depthOf = ({ maxQueryDepth = 0 }: LimitValues) => (maxQueryDepth > 0 ? maxQueryDepth : Infinity);

function expectNotAbove(effective: LimitValues, sources: readonly LimitValues[]) {
  expect(speedOf(effective)).toBeLessThanOrEqual(Math.max(...sources.map(speedOf)));
  expect(depthOf(effective)).toBeLessThanOrEqual(Math.max(...sources.map(depthOf)));
  quotasOf(effective).forEach((permitted, index) => {
    expect(permitted).toBeLessThanOrEqual(Math.max(...sources.map((source) => quotasOf(source)[index] ?? 0)));
  });
}

describe('generated definitions', () => {
  it('are never decided beyond the most permissive source, and the reasons are those of the decision', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(cases, ({ own, accessRights, policies, named, isInactive, expires, used, request }) => {
        const definition = { ...own, accessRights, applyPolicies: named, isInactive, expires };
        const decision = decide(definition, request, { policies, used });
        seen.add(decision.code);
        const { reasons, code, limits: effective, right } = decision;

        // The explanation and the decision agree.
        expect(decision.isAllowed).toBe(code === 'VALID');
        expect(code).toBe(reasons[0]?.code ?? 'VALID');
        const order = Object.keys(accessCodes);
        const positions = reasons.map((reason) => order.indexOf(reason.code));
        expect(positions).toEqual([...positions].sort((a, b) => a - b));
        if (isInactive || (expires > 0n && expires <= seconds) || named.includes('missing'))
          expect(decision.isAllowed).toBe(false);

        // Each value is the value of the source that it names.
        const usable = policies.filter(({ policyID, orgID }) => named.includes(policyID) && orgID !== 'globex');
        const sources = [{ ...definition, policyID: undefined }, ...usable];
        for (const [name, origin] of Object.entries(effective.origins)) {
          const source = sources.find(({ policyID }) => policyID === origin.policyID);
          const stated = [source, ...(source?.accessRights ?? []).map(({ limit }) => limit)];
          const values = stated.map((values) => Object.entries(values ?? {}).find(([field]) => field === name)?.[1]);
          expect(values).toContain(Object.entries(effective.values).find(([field]) => field === name)?.[1]);
        }

        // Nothing above the most permissive source.
        const limitsOfAll = sources.flatMap((source) => [
          source,
          ...source.accessRights.map(({ limit }) => ({ ...source, ...limit })),
        ]);
        expectNotAbove(effective.values, limitsOfAll);
        if (!right || !decision.isAllowed) return;
        const permitted = sources.filter(({ accessRights }) =>
          accessRights.some(
            (each) =>
              apiOf(each) === request.api &&
              (request.version === undefined || each.versions?.includes(request.version)),
          ),
        );
        expect(permitted.length).toBeGreaterThan(0);
        if (!decision.rule) return;
        const { rule } = decision;
        const granting = sources.find(({ policyID }) => policyID === rule.origin.policyID);
        expect(
          granting?.accessRights.some((each) =>
            each.allowedUrls?.some(({ url, methods }) => url === rule.url && methods === rule.methods),
          ),
        ).toBe(true);
        expect(rule.methods).toContain(request.method?.toUpperCase());
      }),
      generated(runs('DECISION_RUNS', 2_000)),
    );
    expect([...seen].sort()).toEqual(
      ['EXPIRED', 'INACTIVE', 'METHOD_OR_PATH_DENIED', 'NO_ACCESS', 'QUOTA_EXCEEDED', 'UNKNOWN_POLICY', 'VALID'].sort(),
    );
  });
});

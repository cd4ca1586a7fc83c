import { beforeEach, describe, expect, it } from 'vitest';
import { credentialLimits } from '../../../src/credentials/credential-service.js';
import type { Scope } from '../../../src/keys/key.js';
import { startOwnApp, type TestApp, type TestResponse } from '../../support/app.js';
import { aCredential } from '../../support/factories.js';
import { codeOf, dataOf } from '../../support/responses.js';

interface Issued {
  readonly credential: { readonly id: string; readonly state: string };
  readonly secret: string | null;
  readonly retired: { readonly state: string; readonly expiresAt: string } | null;
}

interface Page {
  readonly edges: readonly { readonly node: { readonly id: string } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

const issuedFields = '{ credential { id orgID scopes state } secret retired { state expiresAt successorID } }';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const as = (secret: string) => ({ 'x-svc-authorization': secret });
const caller = async (scopes: readonly Scope[] | undefined, orgID?: string) => {
  const { id, secret } = await t.issue('service', {
    label: 'administrator',
    ...(scopes && { scopes }),
    ...(orgID !== undefined && { orgID }),
  });
  return { id, headers: as(secret), secret };
};
const issue = (args: string, headers?: Record<string, string>) =>
  t.graphql(`mutation { issueKeyCredential(${args}) ${issuedFields} }`, {}, headers);
const rotate = (id: string, overlapHours: number, headers?: Record<string, string>) =>
  t.graphql(
    `mutation { rotateKeyCredential(id: "${id}", overlapHours: ${overlapHours}) ${issuedFields} }`,
    {},
    headers,
  );
const revoke = (id: string, headers?: Record<string, string>) =>
  t.graphql(`mutation { revokeKeyCredential(id: "${id}") { state revokedAt } }`, {}, headers);
const works = async (secret: string) => !('errors' in (await t.graphql('{ viewer { kind } }', {}, as(secret))).body);
const stored = () => t.app.services.credentials.list();
const issueOf = (response: TestResponse) =>
  (response.body['errors'] as { extensions: { issues?: { path: string }[] } }[])[0]?.extensions.issues?.[0];

describe('an administrator', () => {
  it('issues a credential whose secret works and is shown once', async () => {
    const issued = dataOf<Issued>(
      await issue('label: "billing", orgID: "acme", scopes: [READ], expiresAt: "2026-03-01T00:00:00Z"'),
    );
    expect(issued).toMatchObject({ credential: { orgID: 'acme', scopes: ['READ'], state: 'ACTIVE' }, retired: null });
    expect(await works(issued.secret ?? '')).toBe(true);
    const list = await t.graphql('{ keyCredentials { edges { node { id label lastFour expiresAt lastUsedAt } } } }');
    expect(list.text).toContain(issued.credential.id);
    expect(list.text).not.toContain(issued.secret);
  });

  it('rotates a credential with an overlap or none, and revokes it', async () => {
    const { id, secret } = await t.issue('service', { orgID: 'acme', scopes: ['read'] });
    const next = dataOf<Issued>(await rotate(id, 2));
    expect(next.retired).toMatchObject({ state: 'REPLACED', expiresAt: '2026-01-31T14:00:00.000Z' });
    expect([await works(secret), await works(next.secret ?? '')]).toStrictEqual([true, true]);
    expect(codeOf(await rotate(id, 2))).toBe('CONFLICT');
    const last = dataOf<Issued>(await rotate(next.credential.id, 0));
    expect([await works(next.secret ?? ''), await works(last.secret ?? '')]).toStrictEqual([false, true]);
    const first = dataOf(await revoke(last.credential.id));
    expect(await works(last.secret ?? '')).toBe(false);
    t.clock.now = new Date(t.clock.now.getTime() + 1000);
    expect(dataOf(await revoke(last.credential.id))).toStrictEqual(first);
  });

  it('may revoke the own credential, which ends its access', async () => {
    const { id, secret, headers } = await caller(['admin'], 'acme');
    expect(dataOf(await revoke(id, headers))).toMatchObject({ state: 'REVOKED' });
    expect(await works(secret)).toBe(false);
  });

  it('reads the list in pages, forwards', async () => {
    const { headers } = await caller(['admin'], 'acme');
    for (let n = 0; n < 4; n += 1) await t.issue('service', { orgID: 'acme', label: `n${n}` });
    await t.issue('service', { orgID: 'globex' });
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = dataOf<Page>(
        await t.graphql(
          'query ($after: String) { keyCredentials(first: 2, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }',
          { after },
          headers,
        ),
      );
      found.push(...page.edges.map(({ node }) => node.id));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    const all = await stored();
    expect(found).toStrictEqual(all.filter(({ orgID }) => orgID === 'acme').map(({ id }) => id));
    for (const args of ['last: 2', 'first: -1', 'after: "x"']) {
      expect(codeOf(await t.graphql(`{ keyCredentials(${args}) { edges { cursor } } }`))).toBe('INVALID');
    }
  });
});

describe('the rights of an administrator', () => {
  it('of one organization end there: others and unbound credentials look missing', async () => {
    const { headers } = await caller(['admin', 'read'], 'acme');
    const others = [await t.issue('service', { orgID: 'globex', scopes: ['read'] }), await t.issue('service')];
    const before = await stored();
    for (const { id } of [...others, { id: 'cred_0000000000000000' }]) {
      for (const response of [await rotate(id, 0, headers), await revoke(id, headers)]) {
        expect(codeOf(response)).toBe('NOT_FOUND');
        expect(response.text).toContain(`There is no credential ${id}.`);
      }
    }
    expect(codeOf(await issue('label: "x", orgID: "globex", scopes: [READ]', headers))).toBe('FORBIDDEN');
    expect(await stored()).toStrictEqual(before);
    const own = dataOf<Issued>(await issue('label: "x", scopes: [READ]', headers));
    expect(own.credential).toMatchObject({ orgID: 'acme' });
  });

  it('are the most that it can give, by an issue or by a rotation', async () => {
    const { id, headers } = await caller(['admin', 'read'], 'acme');
    const wider = await t.issue('service', { orgID: 'acme', scopes: ['read', 'update'] });
    const unrestricted = await t.issue('service', { orgID: 'acme' });
    const before = await stored();
    for (const args of ['label: "x"', 'label: "x", scopes: null', 'label: "x", scopes: [READ, DELIVER]'])
      expect(codeOf(await issue(args, headers))).toBe('FORBIDDEN');
    for (const other of [wider, unrestricted]) expect(codeOf(await rotate(other.id, 1, headers))).toBe('FORBIDDEN');
    expect(await stored()).toStrictEqual(before);
    expect(dataOf<Issued>(await rotate(id, 1, headers)).credential).toMatchObject({ scopes: ['READ', 'ADMIN'] });
    expect(dataOf(await revoke(wider.id, headers))).toMatchObject({ state: 'REVOKED' });
  });

  it('without restrictions are those to administer', async () => {
    const { headers } = await caller(undefined, 'acme');
    const issued = dataOf<Issued>(await issue('label: "x"', headers));
    expect(issued.credential).toMatchObject({ orgID: 'acme', scopes: null });
    for (const scopes of [['read'], ['update', 'approve']] as const) {
      const other = await caller(scopes, 'acme');
      expect(codeOf(await issue('label: "x", scopes: [READ]', other.headers))).toBe('FORBIDDEN');
      expect(codeOf(await revoke(issued.credential.id, other.headers))).toBe('FORBIDDEN');
    }
  });

  it('end with its credential, and what it has issued stays valid until that is revoked', async () => {
    const { id, headers } = await caller(['admin', 'read'], 'acme');
    const issued = dataOf<Issued>(await issue('label: "x", scopes: [READ]', headers));
    await revoke(id);
    expect(codeOf(await issue('label: "y", scopes: [READ]', headers))).toBe('UNAUTHENTICATED');
    expect(await works(issued.secret ?? '')).toBe(true);
    await revoke(issued.credential.id);
    expect(await works(issued.secret ?? '')).toBe(false);
  });

  it('without restrictions do not include scopes that must be named', async () => {
    for (const scope of ['ROUTER', 'DELIVER'])
      expect(codeOf(await issue(`label: "x", scopes: [${scope}]`))).toBe('FORBIDDEN');
  });
});

describe('a request to issue', () => {
  it('is not valid with a malformed value, and stores nothing', async () => {
    const before = await stored();
    const cases = {
      label: ['label: ""', `label: "${'x'.repeat(201)}"`, 'label: "a\\u0000"'],
      orgID: ['label: "x", orgID: ""', `label: "x", orgID: "${'o'.repeat(2000)}"`],
      scopes: ['label: "x", scopes: []', 'label: "x", kind: MANAGEMENT, scopes: [READ]'],
      expiresAt: ['label: "x", expiresAt: "2026-01-31T12:00:00Z"'],
      idempotencyKey: ['label: "x", idempotencyKey: ""', `label: "x", idempotencyKey: "${'k'.repeat(256)}"`],
    };
    for (const [path, all] of Object.entries(cases)) {
      for (const args of all) {
        const response = await issue(args);
        expect([args, codeOf(response)]).toStrictEqual([args, 'INVALID']);
        expect(issueOf(response)?.path).toBe(path);
      }
    }
    for (const time of ['2026-02-30T12:00:00Z', '2026-03-01T12:00:00', 'soon', '']) {
      const response = await issue(`label: "x", expiresAt: "${time}"`);
      expect(issueOf(response)).toMatchObject({ path: 'expiresAt', code: 'MALFORMED_DATE' });
    }
    for (const hours of [-1, 8761]) expect(codeOf(await rotate('cred_1', hours))).toBe('INVALID');
    expect(await stored()).toStrictEqual(before);
  });

  it('that is repeated with its idempotency key returns the credential without the secret', async () => {
    const args = 'label: "x", orgID: "acme", scopes: [READ, UPDATE], idempotencyKey: "one"';
    const answers = await Promise.all([issue(args), issue(args), issue(args)]);
    const issued = answers.map((answer) => dataOf<Issued>(answer));
    expect(new Set(issued.map(({ credential }) => credential.id)).size).toBe(1);
    expect(issued.filter(({ secret }) => secret !== null)).toHaveLength(1);
    for (const other of [args.replace('"x"', '"y"'), args.replace(', UPDATE', '')])
      expect(issueOf(await issue(other))?.path).toBe('idempotencyKey');
    // Each caller has keys of its own.
    const { headers } = await caller(undefined);
    expect(dataOf<Issued>(await issue(args, headers)).credential.id).not.toBe(issued[0]?.credential.id);
  });

  it('has a limit for each organization, which a rotation cannot pass', async () => {
    const { credentials } = t.app.services;
    const created = t.clock.now;
    for (let n = 0; n < credentialLimits.active; n += 1)
      await credentials.add(aCredential(`c${n}`, { orgID: 'acme', scopes: ['read'], created }));
    expect(codeOf(await issue('label: "x", orgID: "acme"'))).toBe('CONFLICT');
    expect(codeOf(await rotate('c0', 0))).toBe('CONFLICT');
    expect(codeOf(await issue('label: "x", orgID: "globex"'))).toBeUndefined();
    expect(codeOf(await issue('label: "x"'))).toBeUndefined();
    // The number of the last day stays when they are revoked.
    for (let n = 0; n < 5; n += 1) await credentials.revoke(`c${n}`, created);
    expect(codeOf(await issue('label: "x", orgID: "acme"'))).toBe('CONFLICT');
    t.clock.now = new Date(created.getTime() + 86_400_001);
    expect(codeOf(await issue('label: "x", orgID: "acme"'))).toBeUndefined();
  });
});

describe('the audit log', () => {
  it('has one line for each attempt, with the principal and what changed, and no secret', async () => {
    const { id: admin, headers, secret } = await caller(['admin', 'read'], 'acme');
    const issued = dataOf<Issued>(await issue('label: "billing", scopes: [READ]', headers));
    const rotated = dataOf<Issued>(await rotate(issued.credential.id, 0, headers));
    await revoke(rotated.credential.id, headers);
    await revoke(rotated.credential.id, headers);
    await revoke('cred_none', headers);
    await issue('label: "x"', headers);
    const lines = t.logLines('KeyCredential').filter(({ event }) => event === 'change');
    expect(lines).toMatchObject([
      {
        operation: 'issueKeyCredential',
        verdict: 'accepted',
        org: 'acme',
        credential: { id: issued.credential.id, label: 'billing', scopes: 'read' },
      },
      {
        operation: 'rotateKeyCredential',
        verdict: 'accepted',
        credential: { id: rotated.credential.id, replaces: issued.credential.id },
      },
      { operation: 'revokeKeyCredential', verdict: 'accepted', credential: { id: rotated.credential.id } },
      { operation: 'revokeKeyCredential', verdict: 'accepted', unchanged: true },
      { operation: 'revokeKeyCredential', verdict: 'rejected', code: 'NOT_FOUND', credential: { id: 'cred_none' } },
      { operation: 'issueKeyCredential', verdict: 'rejected', code: 'FORBIDDEN' },
    ]);
    for (const { actor } of lines) expect(actor).toMatchObject({ id: admin, label: 'administrator' });
    for (const canary of [secret, issued.secret, rotated.secret]) expect(t.logs()).not.toContain(canary);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { issueCredential } from '../../../src/credentials/issue.js';
import { hashToken, isTokenShaped } from '../../../src/credentials/token.js';
import type { CredentialStore } from '../../../src/credentials/credential.js';
import { startOwnApp, type TestApp } from '../../support/app.js';

let t: TestApp;
let store: CredentialStore;
beforeEach(async () => {
  t = await startOwnApp();
  store = t.app.services.credentials;
});

describe('issueCredential', () => {
  it('stores everything but the secret, of which it stores the hash', async () => {
    const expires = new Date('2026-03-01T00:00:00.123Z');
    const order = { kind: 'service', label: 'Billing dashboard', orgID: 'acme', expires } as const;
    const { credential, secret } = await issueCredential(store, order, t.clock.now);
    expect(isTokenShaped(secret)).toBe(true);
    const kept = (await store.list()).find(({ id }) => id === credential.id);
    expect(kept).toEqual({
      id: expect.stringMatching(/^cred_[0-9a-f]{16}$/),
      kind: 'service',
      label: 'Billing dashboard',
      secretHash: Buffer.from(hashToken(secret)),
      lastFour: secret.slice(-4),
      orgID: 'acme',
      created: t.clock.now,
      expires,
      revoked: undefined,
      lastUsed: undefined,
      successorID: undefined,
    });
    expect(JSON.stringify(kept)).not.toContain(secret);
  });

  it('binds to no organisation and sets no expiry by default', async () => {
    const { credential } = await issueCredential(store, { kind: 'management', label: 'x' }, t.clock.now);
    expect(credential).toMatchObject({ orgID: undefined, expires: undefined, revoked: undefined });
  });

  it('issues credentials that are listed in the order of their issue', async () => {
    const ids: string[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      t.clock.now = new Date(Date.UTC(2026, 5, 1, 12, minute));
      ids.push((await t.issue('service')).id);
    }
    expect((await store.list()).map(({ id }) => id).slice(-5)).toStrictEqual(ids);
  });
});

describe('revoking a credential', () => {
  it('keeps the first time when it is revoked again', async () => {
    const { id } = await t.issue('service');
    const first = new Date('2026-02-01T00:00:00Z');
    expect(await store.revoke(id, first)).toBe(true);
    expect(await store.revoke(id, new Date('2026-03-01T00:00:00Z'))).toBe(true);
    expect((await store.list()).find((credential) => credential.id === id)?.revoked).toStrictEqual(first);
  });

  it('returns false for an unknown credential and changes no other', async () => {
    const before = await store.list();
    expect(await store.revoke('cred_0000000000000000', t.clock.now)).toBe(false);
    expect(await store.list()).toStrictEqual(before);
  });
});

describe('looking up a credential', () => {
  it('rejects a label or an organisation with a lone surrogate, which storage would change', async () => {
    const { credentials } = t.app.services;
    const before = (await credentials.list()).length;
    for (const order of [{ label: 'a\ud800' }, { label: 'a', orgID: '\udc00' }]) {
      const issued = issueCredential(credentials, { kind: 'service', ...order }, t.clock.now);
      await expect(issued).rejects.toMatchObject({ code: 'INVALID' });
    }
    expect(await credentials.list()).toHaveLength(before);
  });

  it('A-04 compares the hash of the whole secret', async () => {
    const { id, secret } = await t.issue('service');
    expect((await store.findBySecretHash(hashToken(secret), t.clock.now))?.id).toBe(id);
    expect(await store.findBySecretHash(hashToken(secret.slice(0, -1)), t.clock.now)).toBeUndefined();
    expect(await store.findBySecretHash(hashToken(secret).slice(0, 31), t.clock.now)).toBeUndefined();
    expect(await store.findBySecretHash(new Uint8Array(), t.clock.now)).toBeUndefined();
  });
});

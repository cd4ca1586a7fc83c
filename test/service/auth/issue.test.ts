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

  it('binds to no organization and sets no expiry by default', async () => {
    const { credential } = await issueCredential(store, { kind: 'management', label: 'x' }, t.clock.now);
    expect(credential).toMatchObject({ orgID: undefined, expires: undefined, revoked: undefined });
  });

  it('rejects a label or an organization with a lone surrogate, which storage would change', async () => {
    const before = await store.list();
    for (const order of [{ label: 'a\ud800' }, { label: 'a', orgID: '\udc00' }]) {
      const issued = issueCredential(store, { kind: 'service', ...order }, t.clock.now);
      await expect(issued).rejects.toMatchObject({ code: 'INVALID' });
    }
    expect(await store.list()).toStrictEqual(before);
  });
});

describe('looking up a credential', () => {
  it('A-04 compares the hash of the whole secret', async () => {
    const { id, secret } = await t.issue('service');
    expect((await store.findBySecretHash(hashToken(secret), t.clock.now))?.id).toBe(id);
    expect(await store.findBySecretHash(hashToken(secret.slice(0, -1)), t.clock.now)).toBeUndefined();
    expect(await store.findBySecretHash(hashToken(secret).slice(0, 31), t.clock.now)).toBeUndefined();
    expect(await store.findBySecretHash(new Uint8Array(), t.clock.now)).toBeUndefined();
  });
});

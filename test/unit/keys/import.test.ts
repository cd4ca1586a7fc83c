import { describe, expect, it } from 'vitest';
import { prepareImport, type ImportRequest } from '../../../src/keys/import.js';
import { parseDefinition } from '../../../src/keys/definition/parse.js';
import { hashOf } from '../../support/factories.js';

const at = new Date('2026-11-20T12:00:00Z');
const ports = {
  now: () => at,
  hashKeyID: hashOf,
  newIdentity: () => 'a'.repeat(32),
  hashPassword: (password: string) => Promise.resolve(`$2b$ ${password}`),
  seal: (plaintext: string, aad: string) => Buffer.from(`${plaintext} for ${aad}`),
};
const imported = (request: Partial<ImportRequest>) =>
  prepareImport(ports, {
    name: { keyID: 'k1' },
    input: {},
    orgID: 'acme',
    passwordHash: undefined,
    actor: { credentialID: 'cli', label: 'a test' },
    policies: new Map(),
    ...request,
  });

describe('an imported key', () => {
  it('has its identifier sealed, and a first history entry', async () => {
    const { next, revision } = await imported({ input: { alias: 'a' } });
    expect(next).toMatchObject({
      keyHash: hashOf('k1'),
      identity: 'a'.repeat(32),
      orgID: 'acme',
      version: 1,
      definition: { alias: 'a' },
    });
    expect(next.sealedKeyID).toStrictEqual(Buffer.from(`k1 for keys|${hashOf('k1')}|keyID`));
    expect(revision).toStrictEqual({
      at,
      keyHash: hashOf('k1'),
      orgID: 'acme',
      operation: 'import',
      actor: { credentialID: 'cli', label: 'a test' },
      reason: undefined,
      requestID: '',
      versionBefore: 0,
      versionAfter: 1,
      quotaUsedBeforeReset: undefined,
      changes: [{ path: ['alias'], kind: 'ADDED', after: 'a' }],
    });
  });

  it.each([
    ['globex', 'globex'],
    ['', 'acme'],
    [' ', 'acme'],
    [null, 'acme'],
  ])('with the organization %j belongs to %s', async (orgID, owner) => {
    const { next } = await imported({ input: parseDefinition('update', { orgID }) });
    expect([next.orgID, next.definition]).toStrictEqual([owner, {}]);
  });

  it('has the hash of its password, or the hash that another system made', async () => {
    const password = await imported({ input: { basicAuthData: { password: 'p' } } });
    expect(password.next.secrets.passwordHash).toBe('$2b$ p');
    const hash = await imported({ passwordHash: '$argon2id$x' });
    expect(hash.next).toMatchObject({
      secrets: { passwordHash: '$argon2id$x' },
      definition: { basicAuthData: { hashType: 'argon2id' } },
    });
  });

  it('is rejected without an owner or with a malformed identifier', async () => {
    await expect(imported({ orgID: undefined })).rejects.toMatchObject({ message: 'The key has no organization.' });
    await expect(imported({ name: { keyID: 'a/b' } })).rejects.toMatchObject({
      message: 'The key identifier is not valid.',
    });
  });
});

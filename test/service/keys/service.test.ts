import { describe, expect, it } from 'vitest';
import type { CallContext } from '../../../src/keys/ports.js';
import { createKeyService } from '../../../src/keys/key-service.js';
import { startApp } from '../../support/app.js';
import { stateOf } from '../../support/state.js';

describe('the owner of a key', () => {
  it('is checked again in the transaction: returns NOT_FOUND when the key changes its owner during password hashing', async () => {
    const t = await startApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' });
    const { ports, store } = t.app.services;
    const keys = createKeyService({
      ...ports,
      // Hashing takes its time, and this is what may happen meanwhile.
      hashPassword: async (password, type) => {
        await store.update(ports.hashKeyID('k1'), (found) => {
          if (!found) throw new Error('The key of the test is not there.');
          const next = { ...found, orgID: 'globex', version: 2 };
          const audit = {
            at: t.clock.now,
            keyHash: next.keyHash,
            orgID: 'globex',
            operation: 'update' as const,
            actor: { credentialID: 'cli', label: 'a test' },
            reason: undefined,
            requestID: '',
            versionBefore: 1,
            versionAfter: 2,
            quotaUsedBeforeReset: undefined,
            changes: [],
          };
          return { next, revision: audit };
        });
        return ports.hashPassword(password, type);
      },
    });
    const caller: CallContext = { credentialID: 'cred_1', label: 'acme', orgID: 'acme', requestID: 'request-1' };
    const request = {
      keyID: 'k1',
      input: { alias: 'after', basicAuthData: { password: 'correct horse' } },
      resetQuota: false,
      expectedVersion: undefined,
    };
    await expect(keys.updateOrgKey(caller, request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { key, audit } = await stateOf(t, 'k1');
    expect(key).toMatchObject({ orgID: 'globex', version: 2, definition: { alias: 'before' } });
    expect(audit).toHaveLength(2);
    await t.close();
  });
});

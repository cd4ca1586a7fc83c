import { describe, expect, it } from 'vitest';
import type { CallContext } from '../../../src/keys/ports.js';
import { createKeyService } from '../../../src/keys/key-service.js';
import { startOwnApp } from '../../support/app.js';
import { anUpdate } from '../../support/factories.js';
import { stateOf } from '../../support/state.js';

describe('the owner of a key', () => {
  it('is checked again in the transaction: returns NOT_FOUND when the key changes its owner during password hashing', async () => {
    const t = await startOwnApp();
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before' });
    const { ports, store } = t.app.services;
    const keys = createKeyService({
      ...ports,
      // Hashing takes its time, and this is what may happen meanwhile.
      hashPassword: async (password, type) => {
        await store.update(ports.hashKeyID('k1'), (found) => anUpdate(found, { orgID: 'globex' }));
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
  });
});

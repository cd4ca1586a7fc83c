import { readConfig } from '../../src/config/config.js';
import { createKeyService } from '../../src/keys/key-service.js';
import { openServices } from '../../src/storage/open-storage.js';

interface ProposalOptions {
  readonly applyAt?: Date | undefined;
  readonly credentialID?: string;
}

/** Proposes another alias of the key `acme-billing` of a data folder, and resolves to the identifier of the proposal. */
export async function proposeIn(
  folder: string,
  alias: string,
  { applyAt, credentialID = 'cred_1' }: ProposalOptions = {},
): Promise<string> {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: folder });
  const services = await openServices(config, secrets);
  try {
    const caller = { credentialID, label: 'Ann', orgID: undefined, requestID: 'r' };
    const content = { patch: { alias }, resetQuota: false, hasDecimalStrings: true };
    const { id } = await createKeyService(services.ports).proposeKeyChange(caller, {
      change: { kind: 'PATCH', content },
      reference: { keyID: 'acme-billing' },
      reason: 'OPS-812',
      applyAt,
    });
    return id;
  } finally {
    await services.close();
  }
}

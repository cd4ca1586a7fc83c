import { AppError } from '../errors.js';
import { createBulk } from './bulk.js';
import { createChanging } from './changing.js';
import { createConsuming } from './consuming.js';
import type { KeyDefinition } from './definition.js';
import type { Caller, Ports } from './ports.js';
import { previewKey, type KeyPreview } from './preview.js';
import { createReading } from './reading.js';

export type KeyService = ReturnType<typeof createKeyService>;

/** The use cases. What they take has been read by `readDefinition`; who asks has been authenticated. */
export function createKeyService(ports: Ports) {
  const { now, hashKeyID, randomHex } = ports;
  const reading = createReading(ports);
  const changing = createChanging(ports);
  return {
    ...reading,
    ...changing,
    ...createConsuming(ports),
    ...createBulk({ reading, update: changing.updateOrgKey, preview: changing.previewOrgKeyUpdate }),
    /** FORBIDDEN for a definition that names another organisation than the one the credential is bound to. */
    preview(caller: Caller, input: KeyDefinition): KeyPreview {
      if (caller.orgID !== undefined && (input.orgID ?? caller.orgID) !== caller.orgID) {
        throw new AppError('FORBIDDEN', 'The credential is bound to another organisation than the definition names.');
      }
      return previewKey(input, { now: now(), ownerID: caller.orgID, hashKeyID, randomHex });
    },
  };
}

import type { Sealer } from './encryption.js';

/** Creates and verifies the key check value, which shows at start-up that key ring and database belong together. */
export interface KeyRingCheck {
  /** Returns a new value, sealed under the primary key. */
  readonly seal: () => string;
  /** Whether the value was sealed with this ring. */
  readonly isValid: (value: string) => boolean;
  /** Returns the ID of the key that sealed the value. @throws {AppError} INTERNAL for other text. */
  readonly keyIDOf: (value: string) => string;
}

/** Name of the row in the table `settings` with the key check value. */
export const keyRingCheckName = 'key_ring';

const associatedData = 'settings|key_ring';
const plaintext = 'keyfront';

/** Creates and verifies key check values with a sealer. */
export function createKeyRingCheck(sealer: Sealer): KeyRingCheck {
  return {
    seal: () => Buffer.from(sealer.seal(plaintext, associatedData)).toString('base64'),
    isValid: (value) => {
      try {
        return sealer.open(Buffer.from(value, 'base64'), associatedData) === plaintext;
      } catch {
        return false;
      }
    },
    keyIDOf: (value) => sealer.keyIDOf(Buffer.from(value, 'base64')),
  };
}

import type { Sealer } from './encryption.js';

/** A value that the key ring has sealed for the database. It verifies that the two belong together. */
export interface KeyRingCheck {
  /** A new value, under the primary key of the ring. */
  readonly seal: () => string;
  /** Whether the value was sealed with this ring. */
  readonly isValid: (value: string) => boolean;
  /** The identifier of the key that the value was sealed under. */
  readonly keyIDOf: (value: string) => string;
}

/** The setting that holds the key check value. */
export const keyRingCheckName = 'key_ring';

const associatedData = 'settings|key_ring';
const plaintext = 'keyfront';

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

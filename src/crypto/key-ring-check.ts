import type { Sealer } from './encryption.js';

/** Creates and verifies the key check value, which shows at start-up that key ring and database belong together. */
export interface KeyRingCheck {
  /**
   * Returns a new value, sealed under the primary key.
   *
   * @param hasHeads - whether the installation has heads: from then on, a missing head is damage.
   */
  readonly seal: (hasHeads: boolean) => string;
  readonly hasHeads: (value: string) => boolean;
  /** Whether the value was sealed with this ring. */
  readonly isValid: (value: string) => boolean;
  /** Returns the ID of the key that sealed the value. @throws {AppError} INTERNAL for other text. */
  readonly keyIDOf: (value: string) => string;
}

/** Name of the row in the table `settings` with the key check value. */
export const keyRingCheckName = 'key_ring';

const associatedData = 'settings|key_ring';
const plaintext = 'keyfront';
const plaintextWithHeads = 'keyfront with heads';

/** Creates and verifies key check values with a sealer. */
export function createKeyRingCheck(sealer: Sealer): KeyRingCheck {
  function open(value: string): string | undefined {
    try {
      return sealer.open(Buffer.from(value, 'base64'), associatedData);
    } catch {
      return undefined;
    }
  }
  const seal = (text: string) => Buffer.from(sealer.seal(text, associatedData)).toString('base64');

  return {
    seal: (hasHeads) => seal(hasHeads ? plaintextWithHeads : plaintext),
    hasHeads: (value) => open(value) === plaintextWithHeads,
    isValid: (value) => [plaintext, plaintextWithHeads].includes(open(value) ?? ''),
    keyIDOf: (value) => sealer.keyIDOf(Buffer.from(value, 'base64')),
  };
}

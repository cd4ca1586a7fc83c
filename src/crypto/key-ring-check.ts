import type { Sealer } from './encryption.js';

/** What the ring last sealed for the database itself, to tell whether the two belong together. */
export interface KeyRingCheck {
  /** A new one, under the active key. */
  readonly sealed: (isAllSigned: boolean) => string;
  /** Throws where it was sealed with another ring. */
  readonly saysAllSigned: (kept: string) => boolean;
  /** The id of the key that it was sealed under. */
  readonly keyIDOf: (kept: string) => string;
}

/** Under which name the word is kept: beside everything else that was sealed with the ring. */
export const keyRingCheckName = 'key_ring';

const place = 'settings|key_ring';
const word = 'keyfront';
/** Said once every row is signed. That it is sealed keeps others from making unsigned rows look merely old. */
const wordOfSigned = 'keyfront, every row signed';

/** A word that only the holder of the ring could have left in the database. */
export function createKeyRingCheck(sealer: Sealer): KeyRingCheck {
  return {
    sealed: (isAllSigned) => Buffer.from(sealer.seal(isAllSigned ? wordOfSigned : word, place)).toString('base64'),
    saysAllSigned: (kept) => sealer.open(Buffer.from(kept, 'base64'), place) === wordOfSigned,
    keyIDOf: (kept) => sealer.keyIDOf(Buffer.from(kept, 'base64')),
  };
}

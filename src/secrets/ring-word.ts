import type { Sealer } from './seal.js';

/** Where the word is kept: beside everything else that was sealed with the ring. */
interface Kept {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/** What the ring last sealed for the database itself, to tell whether the two belong together. */
export interface RingWord {
  readonly isThere: () => boolean;
  /** Throws where it was sealed with another ring. */
  readonly saysAllSigned: () => boolean;
  /** Seals it anew, under the active key. */
  readonly write: (isAllSigned: boolean) => void;
}

const name = 'key_ring';
const place = 'settings|key_ring';
const word = 'keyfront';
/** Said once every row is signed. That it is sealed keeps others from making unsigned rows look merely old. */
const wordOfSigned = 'keyfront, every row signed';

/** A word that only the holder of the ring could have left in the database. */
export function createRingWord(kept: Kept, sealer: Sealer): RingWord {
  return {
    isThere: () => kept.get(name) !== undefined,
    saysAllSigned: () => sealer.open(Buffer.from(kept.get(name) ?? '', 'base64'), place) === wordOfSigned,
    write: (isAllSigned) => {
      const sealed = sealer.seal(isAllSigned ? wordOfSigned : word, place);
      kept.set(name, Buffer.from(sealed).toString('base64'));
    },
  };
}

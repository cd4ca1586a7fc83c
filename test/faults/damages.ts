import type { createRandom } from '../support/generated.js';

type Random = ReturnType<typeof createRandom>;

const pageBytes = 4096;
const blockBytes = 512;

/** What a disk, a cable or a careless copy does to a file. Each changes it; `flip` changes one bit of one byte. */
export const damages = {
  flip: (file: Buffer, { below }: Random) => {
    const at = below(file.length);
    file[at] = (file[at] ?? 0) ^ (1 << below(8));
  },
  zero: (file: Buffer, { below }: Random) => {
    const at = below(file.length / blockBytes) * blockBytes;
    file.fill(0, at, at + blockBytes);
  },
  swap: (file: Buffer, { below }: Random) => {
    const [one, other] = [below(file.length / pageBytes) * pageBytes, below(file.length / pageBytes) * pageBytes];
    const page = Buffer.from(file.subarray(one, one + pageBytes));
    file.copy(file, one, other, other + pageBytes);
    page.copy(file, other);
  },
} satisfies Record<string, (file: Buffer, random: Random) => void>;

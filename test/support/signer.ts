import { createMemoryKeyRing } from '../../src/crypto/key-ring.js';
import { createRowSigner } from '../../src/crypto/row-signer.js';

const ring = createMemoryKeyRing(new Date('2026-01-31T12:00:00Z'));

/** The signer of all stores of a test file, so that each can verify the rows of the others. */
export const signer = createRowSigner(() => ring);

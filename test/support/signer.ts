import { createMemoryKeyRing } from '../../src/crypto/key-ring.js';
import { createRowSigner } from '../../src/crypto/row-signer.js';

const ring = createMemoryKeyRing(new Date('2026-01-31T12:00:00Z'));

/** Signs for every store of a test file, so that what one of them wrote the next one knows. */
export const signer = createRowSigner(() => ring);

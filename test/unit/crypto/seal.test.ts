import { createDecipheriv, createSecretKey } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/lib/errors.js';
import type { KeyRing } from '../../../src/crypto/key-ring.js';
import { createSealer } from '../../../src/crypto/encryption.js';
import { generated, runs } from '../../support/generated.js';

/** The last id is the active one; each key is 32 times its byte. */
function ringOf(keys: Record<string, number>): KeyRing {
  const ids = Object.keys(keys);
  return {
    primaryID: ids.at(-1) ?? '',
    ids,
    keyOf(id) {
      const byte = keys[id];
      if (byte === undefined) throw new Error(`no key ${id}`);
      return createSecretKey(Buffer.alloc(32, byte));
    },
  };
}

const sealer = createSealer(() => ringOf({ k1: 1 }));
const place = 'keys|abc|hmac_string';
const text = fc.string({ unit: 'binary' });

function failureOf(action: () => unknown): AppError {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('It did not throw an AppError.');
}

function expectUnopened(action: () => unknown): void {
  const failure = failureOf(action);
  expect(failure).toMatchObject({ code: 'INTERNAL', message: 'A stored secret could not be opened.' });
  expect(failure.cause).toBeInstanceOf(Error);
}

describe('a sealed secret', () => {
  it('opens to the sealed text with the same associated data', () => {
    fc.assert(
      fc.property(text, text, (secret, where) => {
        expect(sealer.open(sealer.seal(secret, where), where)).toBe(secret);
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
    expect(sealer.open(sealer.seal('\ufeffx\0', place), place)).toBe('\ufeffx\0');
  });

  it('S-05 does not open with other associated data', () => {
    fc.assert(
      fc.property(text, text, text, (secret, one, other) => {
        fc.pre(one !== other);
        const sealed = sealer.seal(secret, one);
        expectUnopened(() => sealer.open(sealed, other));
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
  });

  it('S-05 does not open with any bit of any byte changed', () => {
    const sealed = sealer.seal('a secret', place);
    sealed.forEach((byte, at) => {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Uint8Array.from(sealed);
        changed[at] = byte ^ (1 << bit);
        expectUnopened(() => sealer.open(changed, place));
      }
    });
  });

  it('does not open when truncated or extended', () => {
    const sealed = sealer.seal('a secret', place);
    for (let length = 0; length < sealed.length; length += 1) {
      expectUnopened(() => sealer.open(sealed.subarray(0, length), place));
    }
    expectUnopened(() => sealer.open(Uint8Array.of(...sealed, 0), place));
  });

  it('has the documented layout', () => {
    const sealed = sealer.seal('12345', place);
    expect([...sealed.subarray(0, 4)]).toEqual([1, 2, ...Buffer.from('k1')]);
    expect(sealed).toHaveLength(4 + 12 + 5 + 16);
  });

  it('is different every time and does not contain the secret', () => {
    const one = Buffer.from(sealer.seal('a secret', place));
    expect(one.equals(sealer.seal('a secret', place))).toBe(false);
    expect(one.includes('secret')).toBe(false);
  });

  it('rejects text that UTF-8 would change', () => {
    expect(failureOf(() => sealer.seal('a\ud800', place)).code).toBe('INVALID');
  });
});

describe('the key of a sealed secret', () => {
  it('is known without opening the secret', () => {
    expect(sealer.keyIDOf(sealer.seal('s', place))).toBe('k1');
    expectUnopened(() => sealer.keyIDOf(new Uint8Array()));
    expectUnopened(() => sealer.keyIDOf(Uint8Array.of(3, ...sealer.seal('s', place).subarray(1))));
  });

  it('must be the same key and not another one with its ID', () => {
    const sealed = sealer.seal('s', place);
    expectUnopened(() => createSealer(() => ringOf({ k1: 2 })).open(sealed, place));
  });

  it('must be in the ring', () => {
    const sealed = sealer.seal('s', place);
    expectUnopened(() => createSealer(() => ringOf({ k2: 1 })).open(sealed, place));
  });

  it('is bound to the secret: the same key under another ID does not open it', () => {
    const sealed = sealer.seal('s', place);
    sealed.set(Buffer.from('k2'), 2);
    expectUnopened(() => createSealer(() => ringOf({ k1: 1, k2: 1 })).open(sealed, place));
  });

  it('is the primary key of the current ring, so that a rotation takes effect at once and older secrets still open', () => {
    let ring = ringOf({ k1: 1 });
    const rotating = createSealer(() => ring);
    const old = rotating.seal('old', place);
    ring = ringOf({ k1: 1, k2: 2 });
    expect(rotating.keyIDOf(rotating.seal('new', place))).toBe('k2');
    expect(rotating.open(old, place)).toBe('old');
    ring = ringOf({ k2: 2 });
    expectUnopened(() => rotating.open(old, place));
  });
});

describe('a text sealed under a derived key', () => {
  const ring = ringOf({ k1: 1 });
  const derived = createSealer(() => ring, 'derived');

  it('opens with its associated data alone, by every sealer of the ring, as one under the key of the ring does', () => {
    fc.assert(
      fc.property(text, text, text, (content, one, other) => {
        fc.pre(one !== other);
        const sealed = derived.seal(content, one);
        expect([derived.open(sealed, one), sealer.open(sealed, one)]).toEqual([content, content]);
        expect(derived.open(sealer.seal(content, one), one)).toBe(content);
        expectUnopened(() => derived.open(sealed, other));
      }),
      generated(runs('FUZZ_RUNS', 100)),
    );
    expect(derived.keyIDOf(derived.seal('s', place))).toBe('k1');
  });

  it('is not under the key of the ring, and its version is bound to it', () => {
    const sealed = Buffer.from(derived.seal('12345', place));
    expect([...sealed.subarray(0, 4)]).toEqual([2, 2, ...Buffer.from('k1')]);
    const decipher = createDecipheriv('aes-256-gcm', ring.keyOf('k1'), sealed.subarray(4, 16), { authTagLength: 16 });
    decipher.setAAD(Buffer.concat([sealed.subarray(0, 4), Buffer.from(place)])).setAuthTag(sealed.subarray(-16));
    decipher.update(sealed.subarray(16, -16));
    expect(() => decipher.final()).toThrow();
    sealed[0] = 1;
    expectUnopened(() => derived.open(sealed, place));
  });
});

it('shows no secret, key or associated data in an error', () => {
  const sealed = sealer.seal('a secret', place);
  const shown = inspect(
    failureOf(() => sealer.open(sealed, 'keys|other|hmac_string')),
    { showHidden: true, depth: 9 },
  );
  expect(shown).not.toMatch(/a secret|hmac_string|01 01 01|1, 1, 1|AQEBAQ/);
});

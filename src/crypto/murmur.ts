const c1 = 0x87c37b91114253d5n;
const c2 = 0x4cf5ad432745937fn;

const rotl32 = (x: number, by: number) => (x << by) | (x >>> (32 - by));
const u64 = (x: bigint) => BigInt.asUintN(64, x);
const rotl64 = (x: bigint, by: bigint) => u64(x << by) | (x >> (64n - by));
const hex64 = (x: bigint) => x.toString(16).padStart(16, '0');
const mixK1 = (k: bigint) => u64(rotl64(u64(k * c1), 31n) * c2);
const mixK2 = (k: bigint) => u64(rotl64(u64(k * c2), 33n) * c1);

function finalMix(x: bigint): bigint {
  let h = x;
  h = u64((h ^ (h >> 33n)) * 0xff51afd7ed558ccdn);
  h = u64((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return h ^ (h >> 33n);
}

/** The last block as two zero-padded 64-bit integers. Zeros have no effect in Murmur, so the length is not needed. */
function tailWords(tail: Uint8Array): [bigint, bigint] {
  const padded = new Uint8Array(16);
  padded.set(tail);
  const view = new DataView(padded.buffer);
  return [view.getBigUint64(0, true), view.getBigUint64(8, true)];
}

function murmurWords(data: Uint8Array): [bigint, bigint] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const end = data.length - (data.length % 16);
  let h1 = 0n;
  let h2 = 0n;
  for (let at = 0; at < end; at += 16) {
    h1 = u64(rotl64(h1 ^ mixK1(view.getBigUint64(at, true)), 27n) + h2);
    h1 = u64(h1 * 5n + 0x52dce729n);
    h2 = u64(rotl64(h2 ^ mixK2(view.getBigUint64(at + 8, true)), 31n) + h1);
    h2 = u64(h2 * 5n + 0x38495ab5n);
  }
  const [k1, k2] = tailWords(data.subarray(end));
  const length = BigInt(data.length);
  h1 = h1 ^ mixK1(k1) ^ length;
  h2 = h2 ^ mixK2(k2) ^ length;
  h1 = u64(h1 + h2);
  h2 = u64(h2 + h1);
  h1 = finalMix(h1);
  h2 = finalMix(h2);
  h1 = u64(h1 + h2);
  return [h1, u64(h2 + h1)];
}

/**
 * Returns 8 hex digits of the unfinished 32-bit Murmur3 under which gateways store keys: it ignores the last 1 to 3 bytes
 * and the length. Existing key hashes depend on every bit of it.
 */
export function murmur32Legacy(data: Uint8Array): string {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let h = 0;
  for (let at = 0; at + 4 <= data.length; at += 4) {
    const k = rotl32(Math.imul(view.getInt32(at, true), 0xcc9e2d51), 15);
    h = rotl32(h ^ Math.imul(k, 0x1b873593), 13);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  return (h >>> 0).toString(16).padStart(8, '0');
}

/** Returns 16 hex digits: the first half of {@link murmur128}. */
export function murmur64(data: Uint8Array): string {
  return hex64(murmurWords(data)[0]);
}

/** Returns 32 hex digits of MurmurHash3_x64_128 with seed 0, both halves printed big-endian. */
export function murmur128(data: Uint8Array): string {
  const [h1, h2] = murmurWords(data);
  return hex64(h1) + hex64(h2);
}

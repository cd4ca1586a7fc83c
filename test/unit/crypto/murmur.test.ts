import { describe, expect, it } from 'vitest';
import { murmur128, murmur32Legacy, murmur64 } from '../../../src/crypto/murmur.js';

const utf8 = (text: string) => new TextEncoder().encode(text);

describe('murmur32Legacy', () => {
  it.each([
    ['5e9d9544a1dcd60001d0ed20e7f75f9e03534825b7aef9df749582e5', '41c5cb1e'],
    ['1bc0690cc2dad4a7c914aba6c539839b8', 'd3f0c98a'],
    ['166671e73dc5649e29782e6e7cbb7c3e9', '78f6c993'],
    ['', '00000000'],
    ['1mysecretkey', '9543002d'],
    ['1mysecretkey1234', 'ca9f52dd'],
    ['5e1e38108cf2410001c8a97212345', 'c7f28fce'],
    ['5e1e38108cf2410001c8a97212345678', '29b0f593'],
  ])('returns for "%s" what gateways store', (text, hex) => {
    expect(murmur32Legacy(utf8(text))).toBe(hex);
  });

  it('ignores the last 1 to 3 bytes, as gateways do', () => {
    expect(murmur32Legacy(utf8('1mysecretkey123'))).toBe('9543002d');
    expect(murmur32Legacy(utf8('5e1e38108cf2410001c8a9721234567'))).toBe('c7f28fce');
  });
});

describe('murmur64 and murmur128', () => {
  it.each([
    ['hello', 'cbd8a7b341bd9b025b1e906a48ae1d19'],
    ['hello, world', '342fac623a5ebc8e4cdcbc079642414d'],
    ['19 Jan 2038 at 3:14:07 AM', 'b89e5988b737affc664fc2950231b2cb'],
    ['The quick brown fox jumps over the lazy dog.', 'cd99481f9ee902c9695da1a38987b6e7'],
  ])('match the reference for "%s"', (text, hex) => {
    expect(murmur128(utf8(text))).toBe(hex);
    expect(murmur64(utf8(text))).toBe(hex.slice(0, 16));
  });

  it('keep leading zeros', () => {
    expect(murmur128(utf8(''))).toBe('0'.repeat(32));
    expect(murmur64(utf8(''))).toBe('0'.repeat(16));
  });
});

it('hashes the bytes of a view and not of the buffer below it', () => {
  const whole = utf8('xxx1mysecretkey1234hello');
  expect(murmur32Legacy(whole.subarray(3, 19))).toBe('ca9f52dd');
  expect(murmur64(whole.subarray(19))).toBe('cbd8a7b341bd9b02');
  expect(murmur128(utf8('--The quick brown fox jumps over the lazy dog.').subarray(2))).toBe(
    'cd99481f9ee902c9695da1a38987b6e7',
  );
});

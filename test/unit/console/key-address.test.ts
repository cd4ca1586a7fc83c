import { expect, it } from 'vitest';
import { keyHashAt } from '../../../src/console/key-address.js';

it.each([
  ['/console/keys/8f6e', '8f6e'],
  ['/console/keys/a%2Fb', 'a/b'],
  ['/console/keys/%ff', '%ff'],
  ['/console/keys/%', '%'],
  ['/console/keys/', undefined],
  ['/console/keys/a/b', undefined],
  ['/console', undefined],
])('reads the hash in the address %s, which no address makes impossible to show', (pathname, keyHash) => {
  expect(keyHashAt(pathname)).toBe(keyHash);
});

import { isLeafType } from 'graphql';
import { expect, it } from 'vitest';
import { servedSchema } from '../../../src/graphql/schema/served.js';

const type = servedSchema.getType('JSON');
if (!isLeafType(type)) throw new Error('JSON is no scalar.');

/** An object that counts how often its members are listed. */
function listed(members: object) {
  let count = 0;
  const value = new Proxy(members, {
    ownKeys: (target) => {
      count += 1;
      return Reflect.ownKeys(target);
    },
  });
  return { value, count: () => count };
}

it('examines an object once that a response contains repeatedly', () => {
  const { value, count } = listed({ a: 1, b: { c: 'text' } });
  for (let times = 0; times < 200; times += 1) expect(type.serialize(value)).toBe(value);
  expect(count()).toBe(1);
});

it('writes large integers as strings at every depth', () => {
  const value = { a: [9007199254740993n], b: { c: 2 ** 60 } };
  for (let times = 0; times < 2; times += 1) {
    expect(type.serialize(value)).toEqual({ a: ['9007199254740993'], b: { c: '1152921504606846976' } });
  }
});

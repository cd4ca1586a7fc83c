import { expect, it } from 'vitest';
import type * as z from 'zod';
import { memberOf, shapeOf, traitsOf } from '../../../src/keys/definition/introspection.js';
import { secretPaths } from '../../../src/keys/definition/normalize.js';
import { KeyDefinition } from '../../../src/keys/definition/schema.js';

/** The paths of the fields that the definition declares as secrets. */
function declaredIn(schema: z.core.$ZodType, path: readonly string[] = []): string[] {
  if (traitsOf(schema).secret) return [path.join('.')];
  const shape = shapeOf(memberOf(schema) ?? schema) ?? {};
  return Object.entries(shape).flatMap(([name, inner]) => declaredIn(inner, [...path, name]));
}

it('every secret of the definition is stored under a name', () => {
  const paths = Object.values(secretPaths).map((path) => path.join('.'));
  expect(paths.toSorted()).toEqual(declaredIn(KeyDefinition).toSorted());
});

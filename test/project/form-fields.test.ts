import { GraphQLInputObjectType, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { formField } from '../../codegen.js';
import type { FormField } from '../../src/console/form-field.js';
import { formFields } from '../../src/console/generated/form-fields.js';
import { text } from '../../src/keys/definition/field-types.js';
import { memberOf, shapeOf, traitsOf } from '../../src/keys/definition/introspection.js';
import { KeyDefinition } from '../../src/keys/definition/schema.js';

type Properties = Pick<FormField, 'isSecret' | 'isEditable' | 'unit'>;

/** The fields of the definition of a stored key, by their paths. */
function definedFields(schema: z.core.$ZodType, path = ''): [string, z.core.$ZodType][] {
  return Object.entries(shapeOf(schema) ?? {}).flatMap(([name, field]): [string, z.core.$ZodType][] => {
    if (traitsOf(field).only === 'preview') return [];
    const at = `${path}${name}`;
    return [[at, field], ...definedFields(memberOf(field) ?? field, `${at}.`)];
  });
}

/** The fields of the form, by their paths. */
function shownFields(fields: readonly FormField[], path = ''): [string, FormField][] {
  return fields.flatMap((field): [string, FormField][] => {
    const at = `${path}${field.name}`;
    return [[at, field], ...shownFields(field.fields ?? [], `${at}.`)];
  });
}

/** A form field with this description for a field of the definition. */
function generated(description: string, schema: z.ZodType): Properties {
  const type = new GraphQLInputObjectType({ name: 'Input', fields: { field: { type: GraphQLString, description } } });
  const { field } = type.getFields();
  if (!field) throw new Error('The type has no field.');
  return formField(field, schema) as FormField;
}

describe('the fields of the form of the console', () => {
  const defined = definedFields(KeyDefinition);
  const shown = new Map(shownFields(formFields));

  it('are those of the definition', () => {
    expect([...shown.keys()].sort()).toEqual(defined.map(([path]) => path).sort());
  });

  it.each(defined)('show %s as its traits state', (path, schema) => {
    const { secret, serverOwned, fixed, deprecated, obsolete, unit } = traitsOf(schema);
    const field = shown.get(path);
    expect(field?.isSecret).toBe(secret !== undefined);
    expect(field?.isEditable).toBe(![serverOwned, fixed, deprecated, obsolete].some(Boolean));
    expect(field?.unit).toBe(unit);
  });

  it('are secret because of their traits, not because of their descriptions', () => {
    const reworded = generated('A secret that reads omit.', text('…', 256, { secret: 'sealed', unit: 'seconds' }));
    expect(reworded).toMatchObject({ isSecret: true, isEditable: true, unit: 'seconds' });
    const misleading = generated(
      'Unlike a secret, which is never returned. Set by the service, in percent.',
      text('…'),
    );
    expect(misleading).toMatchObject({ isSecret: false, isEditable: true, unit: undefined });
    expect(generated('A time.', text('…', 256, { serverOwned: true })).isEditable).toBe(false);
  });
});

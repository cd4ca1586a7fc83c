import { readFileSync } from 'node:fs';
import {
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  printSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLNamedType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../src/graphql/schema.js';

describe('the GraphQL schema', () => {
  it('is the one in schema/schema.graphql, which npm run generate writes', () => {
    expect(readFileSync('schema/schema.graphql', 'utf8').trimEnd()).toBe(printSchema(schema));
  });

  it('describes every type, field, argument and enum value', () => {
    const types = Object.values(schema.getTypeMap());
    const parts = types.filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type)).flatMap(partsOf);
    expect(parts.length).toBeGreaterThan(200);
    expect(parts.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  });

  it('has no field that the documents of the tests do not ask for', () => {
    const info = new TypeInfo(schema);
    const asked = new Set<string>();
    const documents = parse(readFileSync('test/graphql/operations.graphql', 'utf8'));
    const Field = () => void asked.add(`${info.getParentType()?.name}.${info.getFieldDef()?.name}`);
    visit(documents, visitWithTypeInfo(info, { Field }));

    const types = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter((type) => !isIntrospectionType(type));
    const fields = types.flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
    expect([...asked].sort()).toEqual(fields.sort());
  });
});

interface Part {
  readonly name: string;
  readonly description?: string | null | undefined;
}

/** A type and all that it has: values, fields and their arguments. */
function partsOf(type: GraphQLNamedType): Part[] {
  const { name } = type;
  const within = (parts: readonly Part[], owner: string) =>
    parts.map((part) => ({ name: `${owner}.${part.name}`, description: part.description }));

  if (isEnumType(type)) return [type, ...within(type.getValues(), name)];
  if (isInputObjectType(type)) return [type, ...within(Object.values(type.getFields()), name)];
  if (!isObjectType(type)) return [type];
  const fields = Object.values(type.getFields());
  return [type, ...within(fields, name), ...fields.flatMap((field) => within(field.args, `${name}.${field.name}`))];
}

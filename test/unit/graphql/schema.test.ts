import { readFileSync } from 'node:fs';
import {
  astFromValue,
  GraphQLID,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isNullableType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  parse,
  print,
  printSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { nullMeaning } from '../../../src/graphql/schema/types-from-zod.js';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';

const ours = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

describe('the GraphQL schema', () => {
  it('equals schema/schema.graphql, which npm run generate writes', () => {
    expect(readFileSync('schema/schema.graphql', 'utf8').trimEnd()).toBe(printSchema(schema));
  });

  it('has an ID type of its own, which leaves that of graphql-js as it is', () => {
    const served = servedSchema.getType('ID');
    if (!isScalarType(served)) throw new Error('ID is no scalar.');
    expect(() => served.coerceInputValue(2 ** 60)).toThrow(/beyond 2\^53-1/);
    expect(GraphQLID.coerceInputValue(2 ** 60)).toBe('1152921504606847000');
    expect(schema.getType('ID')).toBe(served);
  });

  it('describes every type, field, argument and enum value', () => {
    const parts = ours.flatMap(partsOf);
    expect(parts.length).toBeGreaterThan(200);
    expect(parts.filter(({ description }) => !description?.trim()).map(({ name }) => name)).toEqual([]);
  });

  it('describes every type, field, argument and enum value of the subgraph that other subgraphs do not describe too', () => {
    // Two different descriptions of a shared type are a hint at composition.
    const shared = /^(Query|Mutation|Subscription|(Organization|Node)(\.id)?|PageInfo(\.\w+)?)$/;
    const owners: string[] = [];
    const missing: string[] = [];
    visit(parse(readFileSync('schema/subgraph.graphql', 'utf8')), {
      enter(node) {
        if (!('name' in node && node.name && 'description' in node)) return;
        owners.push(node.name.value);
        const name = owners.join('.');
        if (!node.description?.value.trim() && !shared.test(name)) missing.push(name);
      },
      leave(node) {
        if ('name' in node && node.name && 'description' in node) owners.pop();
      },
    });
    expect(missing).toEqual([]);
  });

  it('describes for every nullable field when it is null', () => {
    const nullable = outputs().filter(({ field }) => isNullableType(field.type));
    const silent = nullable.filter(
      ({ type, field }) => !/\bnull\b/i.test(field.description ?? '') && !type.description?.endsWith(nullMeaning),
    );
    expect(nullable.length).toBeGreaterThan(60);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('describes no non-null field as nullable', () => {
    const invalid = outputs().filter(
      ({ field }) => !isNullableType(field.type) && /\bnull (if|unless|for)\b/i.test(field.description ?? ''),
    );
    expect(invalid.map(({ name }) => name)).toEqual([]);
  });

  it('has no list with nullable items, except the edges of Relay', () => {
    const holds = (type: GraphQLType): boolean =>
      isNonNullType(type)
        ? holds(type.ofType)
        : !isListType(type) || (isNonNullType(type.ofType) && holds(type.ofType));
    const inputs = ours.filter(isInputObjectType).flatMap((type) => Object.values(type.getFields()));
    const all = [...outputs().flatMap(({ field }) => [field, ...field.args]), ...inputs];
    const names = all.filter(({ type }) => !holds(type)).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(['edges']));
  });

  it('makes a Node of every type with an id, except credentials, webhooks, proposals, and organizations, whose identifiers belong to other graphs', () => {
    const identified = ours.filter(isObjectType).filter((type) => 'id' in type.getFields());
    const nodes = identified.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
    expect(nodes.map(({ name }) => name)).toEqual(['OrgKey']);
    expect(identified.filter((type) => !nodes.includes(type)).map(({ name }) => name)).toEqual([
      'KeyCredential',
      'KeyProposal',
      'KeyWebhook',
      'Organization',
      'RemovedKeyWebhook',
    ]);
  });

  it('names the domain in every type that other subgraphs do not share', () => {
    const shared = /^(Int64|JSON|JSONObject|Mutation|Node|Organization|PageInfo|Query|Subscription)$/;
    const names = ours.map(({ name }) => name).filter((name) => !shared.test(name));
    expect(names.filter((name) => !/Key|^QuotaMonitor|^OrganizationQuota$/.test(name))).toEqual([]);
  });

  it('shows the defaults of arguments, for which null has no other meaning', () => {
    const defaults = outputs().flatMap(({ name, field }) =>
      field.args.flatMap((argument) => {
        if (argument.defaultValue === undefined) return [];
        const value = astFromValue(argument.defaultValue, argument.type);
        return [`${name}(${argument.name}: ${String(argument.type)} = ${value ? print(value) : ''})`];
      }),
    );
    expect(defaults.toSorted()).toEqual([
      'Mutation.consumeOrgQuota(amount: Int64 = 1)',
      'Mutation.issueKeyCredential(kind: KeyCredentialKind = SERVICE)',
      'Mutation.patchOrgKey(resetQuota: Boolean = false)',
      'Mutation.putKeyPolicies(dryRun: Boolean! = true)',
      'Mutation.putKeyPolicies(prune: Boolean = false)',
      'Mutation.removeKeyPolicies(dryRun: Boolean! = true)',
      'Mutation.resetOrgQuotas(dryRun: Boolean! = true)',
      'Mutation.rotateKeyCredential(overlapHours: Int! = 24)',
      'Mutation.rotateKeyWebhook(overlapHours: Int! = 24)',
      'Mutation.updateOrgKey(resetQuota: Boolean = false)',
      'Mutation.updateOrgKeys(dryRun: Boolean! = true)',
      'Mutation.updateOrgKeys(resetQuota: Boolean = false)',
      'Mutation.verifyKey(amount: Int64 = 1)',
      'OrgKeyChanged.key(includeDeleted: Boolean = false)',
      'OrgKeyNoticed.key(includeDeleted: Boolean = false)',
      'Organization.orgKeys(descending: Boolean = false)',
      'Query.orgKey(includeDeleted: Boolean = false)',
      'Query.orgKeys(descending: Boolean = false)',
      'Query.previewOrgKeyPatch(includeDeleted: Boolean = false)',
      'Query.previewOrgKeyPatch(resetQuota: Boolean = false)',
      'Query.previewOrgKeyUpdate(includeDeleted: Boolean = false)',
      'Query.previewOrgKeyUpdate(resetQuota: Boolean = false)',
    ]);
  });

  it('links to the specification of each scalar', () => {
    const scalars = ours.filter(isScalarType).map(({ name, specifiedByURL }) => [name, specifiedByURL]);
    expect(Object.fromEntries(scalars)).toEqual({
      KeyDateTime: 'https://www.rfc-editor.org/rfc/rfc3339',
      Int64: 'https://www.rfc-editor.org/rfc/rfc7493#section-2.2',
      JSON: 'https://www.rfc-editor.org/rfc/rfc8259',
      JSONObject: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
    });
  });

  it('describes the maximum length of a text or a list, before the example', () => {
    const descriptionOf = (type: string, field: string) => {
      const input = schema.getType(type);
      return isInputObjectType(input) ? input.getFields()[field]?.description : undefined;
    };
    expect(descriptionOf('PreviewKeyInput', 'alias')).toMatch(/ At most 256 characters\. Example: /);
    expect(descriptionOf('UpdateKeyInput', 'tags')).toMatch(
      / At most 100 items of at most 512 characters each\. Example: /,
    );
    expect(descriptionOf('UpdateKeyInput', 'accessRights')).toMatch(/ At most 1000 items\.$/);
    expect(descriptionOf('UpdateKeyInput', 'metaData')).toMatch(
      / At most 32 levels deep, with at most 10000 members in total\.$/,
    );
    expect(descriptionOf('PreviewKeyInput', 'keyID')).toMatch(/ at most 255 bytes/);
  });

  it('has no field, except those of compatibility and problems as data, that the documents of the client do not select', () => {
    const info = new TypeInfo(schema);
    const requested = new Set<string>();
    const files = ['operations', 'subscriptions'].map((name) =>
      readFileSync(`test/service/graphql/${name}.graphql`, 'utf8'),
    );
    const documents = parse(files.join('\n'));
    const Field = () => {
      const [parent, name = ''] = [info.getParentType(), info.getFieldDef()?.name];
      if (!parent || name === '__typename') return;
      // A field of an interface is that of each type.
      const types = isInterfaceType(parent) ? schema.getPossibleTypes(parent) : [];
      for (const type of [parent, ...types]) requested.add(`${type.name}.${name}`);
    };
    visit(documents, visitWithTypeInfo(info, { Field }));

    const fields = outputs()
      .filter(({ field }) => field.extensions.isCompatibility !== true)
      .map(({ name }) => name)
      .filter((name) => !/Payload\.issues$/.test(name));
    expect([...requested].sort()).toEqual(fields.sort());
  });
});

/** Every field of the responses, with its type. */
function outputs(): { type: GraphQLNamedType; name: string; field: GraphQLField<unknown, unknown> }[] {
  return ours.flatMap((type) =>
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).map((field) => ({ type, name: `${type.name}.${field.name}`, field }))
      : [],
  );
}

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
  if (!isObjectType(type) && !isInterfaceType(type)) return [type];
  const fields = Object.values(type.getFields());
  return [type, ...within(fields, name), ...fields.flatMap((field) => within(field.args, `${name}.${field.name}`))];
}

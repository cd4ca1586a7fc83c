import {
  getNamedType,
  isCompositeType,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type GraphQLNamedType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/graphql/execution/limits.js';
import { calculateComplexity } from '../../src/graphql/execution/complexity.js';
import { servedSchema } from '../../src/graphql/schema/served.js';
import { listOrgKeys } from '../../src/rest/operations/list-org-keys.js';
import { routes } from '../../src/rest/routes.js';
import { maxValues } from '../../src/lib/value-count.js';
import { graphqlOperations } from './blocking/graphql-operations.mjs';
import { restOperations } from './blocking/rest-operations.mjs';
import { createSamples } from './blocking/samples.mjs';

const population = {
  keyIDOf: (n: number) => `key-${n}`,
  hashOf: (n: number) => String(n).padStart(64, '0'),
  cursorOf: (n: number) => `cursor-${n}`,
  count: 2_000,
};

describe('the generator of expensive operations', () => {
  const operations = graphqlOperations({
    schema: servedSchema,
    limits,
    calculateComplexity,
    samples: createSamples(population),
  });
  const documents = operations.map(({ query = '' }) => parse(query));

  it('selects every field of the schema that a query or mutation can reach', () => {
    const reachable = new Set<string>();
    const passed = new Set<GraphQLNamedType>();
    const walk = (type: GraphQLNamedType | null | undefined): void => {
      if (!type || passed.has(type)) return;
      passed.add(type);
      if (isCompositeType(type) && !('getFields' in type)) servedSchema.getPossibleTypes(type).forEach(walk);
      if (!isCompositeType(type) || !('getFields' in type) || type.name === 'Node') return;
      for (const field of Object.values(type.getFields())) {
        // The text of the schema, which does not depend on any key.
        if (field.name === '_service') continue;
        reachable.add(`${type.name}.${field.name}`);
        walk(getNamedType(field.type));
      }
    };
    walk(servedSchema.getQueryType());
    walk(servedSchema.getMutationType());

    const selected = new Set<string>();
    const info = new TypeInfo(servedSchema);
    for (const document of documents) {
      visit(
        document,
        visitWithTypeInfo(info, {
          Field: ({ name }) => void selected.add(`${info.getParentType()?.name}.${name.value}`),
        }),
      );
    }
    expect(reachable.size).toBeGreaterThan(100);
    expect([...reachable].filter((field) => !selected.has(field))).toEqual([]);
  });

  it('uses every filter of a list with every state, alone and in pairs', () => {
    const filters = operations.flatMap(({ name, body }) => {
      if (!name.startsWith('orgKeys: totalCount')) return [];
      const { variables } = JSON.parse(body?.() ?? '{}') as { variables: Record<string, object> };
      return [Object.values(variables)[0] ?? {}];
    });
    const fields = Object.keys(
      (servedSchema.getType('OrgKeyFilter') as unknown as { getFields(): object }).getFields(),
    );
    for (const one of fields) {
      expect(filters.some((filter) => Object.keys(filter).join() === one)).toBe(true);
      for (const other of fields) {
        if (one === other) continue;
        expect(filters.some((filter) => one in filter && other in filter)).toBe(true);
      }
    }
    expect(new Set(filters.flatMap((filter) => ('states' in filter ? [filter.states] : []))).size).toBe(4);
  });

  it('makes valid operations of different names with as many aliases or items as the limits allow', () => {
    for (const [index, document] of documents.entries()) {
      expect([operations[index]?.name, ...validate(servedSchema, document)]).toEqual([operations[index]?.name]);
    }
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
    const counts = operations.find(({ name }) => name === 'orgKeys: totalCount');
    expect(counts?.query?.match(/totalCount/g)).toHaveLength(limits.aliases);
    const bulk = operations.find(({ name }) => name === 'updateOrgKeys, dry run: one field of items');
    expect(bulk?.query?.match(/: updateOrgKeys\(/g)).toHaveLength(limits.mutations);
    expect(bulk?.query).toContain('first: 200');
  });

  it('throws when an argument of the schema has no sample value', () => {
    expect(() => createSamples(population).argument('Query.orgKeys', 'unheardOf', 0, 1)).toThrow('unheardOf');
  });

  it('sends every route of the REST API and every parameter of its list', () => {
    const requests = restOperations({ routes, population, maxValues });
    const names = new Set(requests.map(({ name }) => /^REST (\w+)/.exec(name)?.[1]));
    expect([...names].sort()).toEqual([...new Set(routes.map(({ operation }) => operation))].sort());

    const lists = requests.flatMap(({ name, path }) => (name.startsWith('REST orgKeys') ? [String(path)] : []));
    for (const { name } of listOrgKeys.parameters) {
      expect(lists.some((path) => new URL(path, 'http://a').searchParams.has(String(name)))).toBe(true);
    }
    expect(lists.some((path) => path.includes('alias_prefix=C&') || path.endsWith('alias_prefix=C'))).toBe(true);
    const bodies = requests.flatMap(({ body }) => (body ? [Buffer.byteLength(body())] : []));
    expect(Math.max(...bodies)).toBeGreaterThan(255 * 1024);
    expect(Math.max(...bodies)).toBeLessThanOrEqual(256 * 1024);
  });

  it('throws for a route of the REST API that it does not know', () => {
    const route = { operation: 'unheardOf', method: 'GET', path: '/unheard-of', credential: 'service', parameters: [] };
    expect(() => restOperations({ routes: [route], population, maxValues })).toThrow('unheardOf');
  });
});

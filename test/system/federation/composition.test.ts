import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { composeServices as composeByGuild } from '@theguild/federation-composition';
import { isObjectType, Kind, parse, print } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { fieldWeights, listSizeOf, weightOf } from '../../../src/graphql/execution/field-cost.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { installFolder } from '../../support/install.mjs';
import type { Compose } from './apollo/compose.mjs';

const keyfront = readFileSync('schema/subgraph.graphql', 'utf8');

/** A company with an issue tracker, whose types have the generic names that a subgraph of another company must not use. */
const tracker = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
  type Query { issues: [Issue!]! monitors: [Monitor!]! node(id: ID!): Node }
  type Mutation { closeIssue(id: ID!): Issue }
  "An object of the company's graph." interface Node { "Its global identifier." id: ID! }
  "A moment." scalar DateTime
  "Any value." scalar JSON
  "An issue of the tracker." type Issue implements Node @key(fields: "id") {
    "Its number." id: ID! message: String! code: Int! organization: Organization orgKey: OrgKey
    history: [HistoryEntry!]! warnings: [Warning!]! change: ChangeKind }
  "What is allowed." type Quota @key(fields: "id") { id: ID! max: Int! used: Float! }
  "A warning of the tracker." union Warning = Limit | Monitor
  "A limit." type Limit { rate: String! per: Issue }
  "A monitor." type Monitor @key(fields: "id") { id: ID! limit: Limit! quota: Quota }
  "An entry." type HistoryEntry { at: DateTime! version: String! detail: JSON }
  "A kind." enum ChangeKind { ADDED RENAMED }
  type Organization @key(fields: "id", resolvable: false) { id: ID! }
  type OrgKey @key(fields: "id", resolvable: false) { id: ID! }`;

/** A company that knows the owner of each key, and adds a field to the entity. */
const billing = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
    import: ["@key", "@shareable", "@external", "@requires"])
  type Query { invoices: [Invoice!]! }
  type Invoice @key(fields: "id") { id: ID! orgKey: OrgKey }
  type OrgKey @key(fields: "keyHash") { keyHash: String! orgID: String! @shareable version: Int! @external
    charge: String @requires(fields: "version") }`;

let composers: (readonly [name: string, compose: Compose])[];
let company: string;
beforeAll(async () => {
  installFolder(fileURLToPath(new URL('apollo', import.meta.url)));
  const byGuild: Compose = (subgraphs) => {
    const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, typeDefs: parse(sdl) }));
    const { errors = [], supergraphSdl = '' } = composeByGuild(services);
    return { messages: errors.map(({ message }) => message), supergraphSDL: supergraphSdl };
  };
  composers = [...(await import('./apollo/compose.mjs')).composers, ['the composition of Hive', byGuild]];
  company = (await import('./apollo/company.mjs')).companySDL;
});

describe('composition', () => {
  it('has no error and no hint with the organisations and people of a company', () => {
    for (const [name, compose] of composers) {
      expect([name, ...compose({ company, keyfront }).messages]).toEqual([name]);
    }
  });

  it('has no error and no hint with a company that owns Issue, Quota, Warning, Limit, Monitor, HistoryEntry and scalars', () => {
    for (const [name, compose] of composers) {
      const { messages, supergraphSDL } = compose({ company, keyfront, tracker });
      expect([name, ...messages]).toEqual([name]);
      expect(supergraphSDL).toMatch(/^type KeyIssue\b/m);
    }
  });
});

describe('the directives of the subgraph', () => {
  it('let a company return `orgID` itself, and require fields of keys', () => {
    for (const [name, compose] of composers) {
      expect([name, ...compose({ company, keyfront, billing }).messages]).toEqual([name]);
    }
  });

  it('are linked in the lowest version of the specification that has them', () => {
    const [[, compose] = []] = composers;
    const lower = keyfront.replace('federation/v2.9', 'federation/v2.8');
    expect(compose?.({ company, keyfront: lower }).messages.join()).toMatch(/@cost|@listSize/);
  });

  it('G-18 hide the fields for compatibility with the REST key API in the API of a supergraph', () => {
    const hidden = ['KeyPreview.apiModel', 'OrgKeyUpdate.action', 'OrgKeyUpdate.key', 'OrgKeyUpdate.status'];
    for (const coordinate of hidden) expect(directives.get(coordinate)).toContain('@inaccessible');
    for (const [, compose] of composers) {
      expect(compose({ company, keyfront }).supergraphSDL.match(/ @inaccessible$/gm)).toHaveLength(hidden.length);
    }
  });

  it('tag every root field by what it does, and every key identifier that is returned', () => {
    for (const [coordinate, found] of directives) {
      const [type = '', field = ''] = coordinate.split('.');
      if (type === 'Mutation') expect(found).toContain('@tag(name: "keyfront-write")');
      if (type === 'Query' || type === 'Subscription') expect(found).toContain('@tag(name: "keyfront-read")');
      if (field === 'keyID') expect(found).toEqual(['@tag(name: "keyfront-sensitive")']);
    }
  });

  it('state the weights and the page sizes that the limit of an operation is calculated with', () => {
    const weighted = new Set<string>();
    for (const type of Object.values(servedSchema.getTypeMap())) {
      if (!isObjectType(type) || type.name.startsWith('_')) continue;
      for (const field of Object.values(type.getFields())) {
        const coordinate = `${type.name}.${field.name}`;
        const [weight, size] = [weightOf(type.name, field.name), listSizeOf(field)];
        const found = directives.get(coordinate)?.join() ?? '';
        if (weight !== 1) weighted.add(coordinate);
        if (weight !== 1) expect(found).toContain(`@cost(weight: ${weight})`);
        if (size) expect(found).toContain(`@listSize(assumedSize: ${size.defaultSize}, slicingArguments: ["first"`);
      }
    }
    expect([...fieldWeights.keys()].filter((coordinate) => !weighted.has(coordinate))).toEqual([]);
    expect(keyfront.match(/@cost\(/g)).toHaveLength(weighted.size);
  });
});

/** The directives of each field of the subgraph, by its coordinate. */
const directives = new Map(
  parse(keyfront).definitions.flatMap((type) =>
    type.kind === Kind.OBJECT_TYPE_DEFINITION
      ? (type.fields ?? []).map((field) => [
          `${type.name.value}.${field.name.value}`,
          field.directives?.map(print) ?? [],
        ])
      : [],
  ) as [string, string[]][],
);

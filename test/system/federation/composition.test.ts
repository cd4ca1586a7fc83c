import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { composeServices as composeByGuild } from '@theguild/federation-composition';
import { isObjectType, Kind, parse, print } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { fieldWeights, listSizeOf, weightOf } from '../../../src/graphql/execution/field-cost.js';
import { servedSchema } from '../../../src/graphql/schema/served.js';
import { sectionOf } from '../../support/documents.js';
import { installFolder } from '../../support/install.mjs';
import type { Compose } from './apollo/compose.mjs';

const keyfront = readFileSync('schema/subgraph.graphql', 'utf8');

/** A company with an issue tracker, whose types have the generic names that a subgraph of another company must not use. */
const tracker = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
  type Query { issues: [Issue!]! monitors: [Monitor!]! node(id: ID!): Node }
  type Mutation { closeIssue(id: ID!): Issue }
  "An object of the company's graph." interface Node { "Its global identifier." id: ID! }
  "Milliseconds since 1970." scalar DateTime
  scalar JSON
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

const pages = 'type List { items: [Int!]! pageInfo: PageInfo! } extend type Query { list: List }';
const fourFields = 'hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String';

/** What composition rejects, by the first column of the table in docs/federation.md, and what it accepts instead. */
const collisions: Readonly<Record<string, { rejected: readonly string[]; message: RegExp; accepted: string }>> = {
  '`Node` with a field of its own': {
    rejected: [
      'interface Node { id: ID! by: String } type Car implements Node @key(fields: "id") { id: ID! by: String }',
    ],
    message: /"Node.by"/,
    accepted: `interface Node { id: ID! } interface Signed { by: String }
      type Car implements Node & Signed @key(fields: "id") { id: ID! by: String }`,
  },
  '`PageInfo` that is not shareable': {
    rejected: [`type PageInfo { ${fourFields} } ${pages}`],
    message: /Non-shareable field "PageInfo/,
    accepted: `type PageInfo @shareable { ${fourFields} } ${pages}`,
  },
  '`PageInfo` with another field': {
    rejected: [`type PageInfo @shareable { ${fourFields} total: Int } ${pages}`],
    message: /cannot be satisfied/,
    accepted: `type PageInfo @shareable { ${fourFields} } ${pages} extend type List { total: Int }`,
  },
  '`PageInfo` with fewer fields': {
    rejected: [`type PageInfo @shareable { hasNextPage: Boolean! endCursor: String } ${pages}`],
    message: /cannot be satisfied/,
    accepted: `type PageInfo @shareable { ${fourFields} } ${pages}`,
  },
  '`OrgKeyState`, `KeyIssue` or `OrganizationQuota` of another meaning': {
    rejected: [
      'enum OrgKeyState { ON OFF } extend type Query { state: OrgKeyState }',
      'type KeyIssue { title: String } extend type Query { issue: KeyIssue }',
      'type OrganizationQuota { seats: Int } extend type Query { quota: OrganizationQuota }',
    ],
    message: /OrgKeyState|cannot be satisfied/,
    accepted: `enum KeyState { ON OFF } type Issue { title: String } type Quota { seats: Int }
      extend type Query { state(of: KeyState): KeyState issue: Issue quota: Quota }`,
  },
  '`JSON`, `JSONObject`, `Int64` or `KeyDateTime` that is no scalar': {
    rejected: ['JSON', 'JSONObject', 'Int64', 'KeyDateTime'].map(
      (name) => `type ${name} { text: String } extend type Query { value: ${name} }`,
    ),
    message: /kind/,
    accepted: 'type DateTime { text: String } extend type Query { value: DateTime }',
  },
  '`Organization` without the key `id`': {
    rejected: [
      'type Organization @key(fields: "uuid") { uuid: ID! name: String } extend type Query { o: Organization }',
    ],
    message: /cannot be satisfied/,
    accepted: `type Organization @key(fields: "uuid") @key(fields: "id") { uuid: ID! id: ID! name: String }
      extend type Query { o: Organization }`,
  },
  '`OrgKey` by `keyID`': {
    rejected: ['type OrgKey @key(fields: "keyID", resolvable: false) { keyID: ID } extend type Query { k: OrgKey }'],
    message: /Non-shareable field "OrgKey.keyID"/,
    accepted: `type OrgKey @key(fields: "keyHash", resolvable: false) { keyHash: String! } extend type Query { k: OrgKey }`,
  },
  '`Organization` with a field `orgKeys` or `quotaSummary`': {
    rejected: ['orgKeys', 'quotaSummary'].map(
      (name) => `type Organization @key(fields: "id") { id: ID! ${name}: Int }`,
    ),
    message: /Non-shareable field "Organization/,
    accepted: 'type Organization @key(fields: "id") { id: ID! keys: Int }',
  },
};

/** A subgraph with this SDL. */
const withLink = (sdl: string) =>
  `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
   type Query { status: Int } ${sdl}`;

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
  it('has no error and no hint with the organizations and people of a company', () => {
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

describe('a name that collides', () => {
  it('is a row of the table in the documents', () => {
    const rows = sectionOf('collisions').trim().split('\n').slice(2);
    expect(rows.map((row) => row.slice(2, row.indexOf(' | ')))).toEqual(Object.keys(collisions));
  });

  it.each(Object.entries(collisions))('%s is rejected, and its remedy is not', (_, { rejected, message, accepted }) => {
    for (const [name, compose] of composers) {
      for (const sdl of rejected) {
        expect([name, compose({ mine: withLink(sdl), keyfront }).messages.join()]).toEqual([
          name,
          expect.stringMatching(message),
        ]);
      }
      expect([name, ...compose({ mine: withLink(accepted), keyfront }).messages]).toEqual([name]);
    }
  });

  it('is a hint for a scalar that is described in other words, and none for a DateTime in milliseconds', () => {
    const describe = (name: string) => withLink(`"Milliseconds." scalar ${name} extend type Query { at: ${name} }`);
    for (const [name, compose] of composers.slice(0, 2)) {
      const hints = ['JSON', 'JSONObject', 'Int64'].map(
        (scalar) => compose({ mine: describe(scalar), keyfront }).messages,
      );
      expect([name, hints]).toEqual([name, hints.map(() => [expect.stringContaining('inconsistent descriptions')])]);
    }
    for (const [name, compose] of composers) {
      const { messages, supergraphSDL } = compose({ mine: describe('DateTime'), keyfront });
      expect([name, ...messages]).toEqual([name]);
      expect(supergraphSDL).toMatch(/RFC 3339[^"]+"""\s+scalar KeyDateTime\b/);
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
    const ofUpdate = ['action', 'key', 'keyHash', 'status'].map((name) => `UpdateOrgKeyPayload.${name}`);
    const hidden = ['KeyPreview.apiModel', ...ofUpdate];
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
    const subgraphTypes = new Set([...directives.keys()].map((coordinate) => coordinate.split('.')[0]));
    for (const type of Object.values(servedSchema.getTypeMap())) {
      if (!isObjectType(type) || type.name.startsWith('_')) continue;
      for (const field of Object.values(type.getFields())) {
        const coordinate = `${type.name}.${field.name}`;
        if (field.extensions.isOutsideSubgraph || !subgraphTypes.has(type.name)) continue;
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

import { readFileSync } from 'node:fs';
import { composeServices, transformSupergraphToPublicSchema } from '@theguild/federation-composition';
import { buildASTSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { describe, expect, it } from 'vitest';

/* What a client of a router sees: the graph of a company with ours, without inaccessible elements. */

const company = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
  type Query { organization(name: String!): Organization node(id: ID!): Node }
  interface Node { id: ID! }
  type Organization @key(fields: "id") { id: ID! name: String! plan: String }
  type User implements Node @key(fields: "id") { id: ID! orgKey: OrgKey }
  type OrgKey @key(fields: "keyHash", resolvable: false) { keyHash: String! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }`;

function schemaOfSupergraph(): GraphQLSchema {
  const subgraphs = { company, keyfront: readFileSync('schema/subgraph.graphql', 'utf8') };
  const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, typeDefs: parse(sdl) }));
  const { errors, supergraphSdl = '' } = composeServices(services);
  expect(errors).toBeUndefined();
  return buildASTSchema(transformSupergraphToPublicSchema(parse(supergraphSdl)));
}

const supergraph = schemaOfSupergraph();
const messagesOf = (document: string) => validate(supergraph, parse(document)).map(({ message }) => message);
const documents = Object.values(
  JSON.parse(readFileSync('src/client/generated/persisted-documents.json', 'utf8')) as Record<string, string>,
);
const nameOf = (document: string) => /(?:query|mutation|subscription) (\w+)/.exec(document)?.[1] ?? '';

/** Documents for Keyfront itself: the subgraph does not have their root fields, which a company may own. */
const direct = [
  'AcknowledgeChanges',
  'AddKeyWebhook',
  'DeliverKey',
  'DeliverKeys',
  'DiscardKeyWebhookDeadLetters',
  'ForgetGateway',
  'Gateways',
  'IssueKeyCredential',
  'KeyCredentials',
  'KeyDelivery',
  'KeyDeployed',
  'KeyDeployments',
  'KeyDigest',
  'KeyWebhook',
  'KeyWebhooks',
  'Organization',
  'OrganizationQuota',
  'Organizations',
  'PauseKeyWebhook',
  'RemoveKeyWebhook',
  'ReplayKeyWebhookDeadLetters',
  'ResumeKeyWebhook',
  'RevokeKeyCredential',
  'RotateKeyCredential',
  'RotateKeyWebhook',
  'TestKeyWebhook',
  'Viewer',
];

describe('in a supergraph with a company', () => {
  it('there are no fields for compatibility with the REST key API', () => {
    expect(messagesOf('{ previewKey(input: {}) { apiModel } }')).toEqual([expect.stringContaining('"apiModel"')]);
  });

  it.each(documents.map((document) => [nameOf(document), document]).filter(([name = '']) => !direct.includes(name)))(
    'the document %s of the client is valid',
    (_, document = '') => {
      expect(messagesOf(document)).toEqual([]);
    },
  );
});

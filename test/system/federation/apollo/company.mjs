import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { buildSubgraphSchema } from '@apollo/subgraph';
// Apollo's packages load this build of graphql 16.
import { graphql, GraphQLError, parse } from 'graphql/index.js';

/**
 * The graph of a company that knows its organizations and people, and nothing of keys but the hash of the one that each
 * person uses. It owns `Organization`; Keyfront adds to it.
 */
export const companySDL = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])

  type Query {
    "An organization by its name."
    organization(name: String!): Organization
    "Everyone."
    users: UserConnection!
  }

  "A customer."
  type Organization @key(fields: "id") {
    "Its identifier everywhere in the company."
    id: ID!
    "What people call it."
    name: String!
    "What it pays for."
    plan: Plan!
  }

  "What a customer pays for."
  enum Plan { "Nothing." FREE "Everything." ENTERPRISE }

  "Someone who works for a customer."
  type User @key(fields: "id") {
    "The person's identifier."
    id: ID!
    "The person's name."
    name: String!
    "Where the person works."
    organization: Organization
    "The key that the person uses."
    orgKey: OrgKey
  }

  type OrgKey @key(fields: "keyHash", resolvable: false) { keyHash: String! }

  "A page of people."
  type UserConnection { "The people." edges: [UserEdge!]! "Where the page stands." pageInfo: PageInfo! }
  "A person in the list." type UserEdge { "The person." node: User! "The place." cursor: String! }
  "Where a page stands in its list."
  type PageInfo @shareable {
    "Whether there is more after the page."
    hasNextPage: Boolean!
    "Whether there is more before the page."
    hasPreviousPage: Boolean!
    "The place of the first item."
    startCursor: String
    "The place of the last item."
    endCursor: String
  }
`;

const organizations = [
  { id: 'acme', name: 'Acme Inc.', plan: 'ENTERPRISE' },
  { id: 'globex', name: 'Globex', plan: 'FREE' },
  { id: 'newcomer', name: 'Newcomer', plan: 'FREE' },
];

/** Serves the company's own subgraph over HTTP. */
export async function startCompany(users) {
  const schema = buildSubgraphSchema({
    typeDefs: parse(companySDL),
    resolvers: {
      Query: {
        organization: (_, { name }) => organizations.find((known) => known.name === name),
        users: () => ({
          edges: users.map((node) => ({ node, cursor: node.id })),
          pageInfo: { hasNextPage: false, hasPreviousPage: false },
        }),
      },
      Organization: {
        __resolveReference: ({ id }) => organizations.find((known) => known.id === id),
      },
      User: {
        organization: ({ organization: { id } }) => organizations.find((known) => known.id === id),
        __resolveReference: ({ id }) => {
          const user = users.find((known) => known.id === id);
          if (!user) throw new GraphQLError('There is no such user.');
          return user;
        },
      },
    },
  });
  const server = createServer(async (request, response) => {
    const { query, variables, operationName } = await json(request);
    const result = await graphql({ schema, source: query, variableValues: variables, operationName });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/graphql`,
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

// Apollo Server's standalone server with its defaults, over the same schema and core.
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { schema } from '../../../build/graphql/schema/api-schema.js';
import { announce, createContext } from '../servers/core.mjs';

const { url } = await startStandaloneServer(new ApolloServer({ schema }), {
  listen: { host: '127.0.0.1', port: 0 },
  context: async () => createContext(),
});
announce(url);

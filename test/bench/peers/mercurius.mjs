// Mercurius on Fastify with its defaults, over the same schema and core; `BENCH_JIT=on` compiles each operation.
import fastify from 'fastify';
import mercurius from 'mercurius';
import { schema } from '../../../build/graphql/schema/api-schema.js';
import { announce, createContext } from '../servers/core.mjs';

const app = fastify();
await app.register(mercurius, {
  schema,
  context: createContext,
  path: '/graphql',
  ...(process.env.BENCH_JIT === 'on' && { jit: 1 }),
});
announce(`${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql`);

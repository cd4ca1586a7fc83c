// Yoga with its defaults, over the same schema and core.
import { createServer } from 'node:http';
import { createYoga } from 'graphql-yoga';
import { schema } from '../../../build/graphql/schema/api-schema.js';
import { announce, createContext } from './core.mjs';

const server = createServer(createYoga({ schema, context: createContext }));
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${server.address().port}/graphql`));

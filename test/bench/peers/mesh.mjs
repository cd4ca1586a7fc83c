// GraphQL Mesh's OpenAPI loader on Yoga, over our OpenAPI document: a generic gateway in front of the REST key API.
import { createServer } from 'node:http';
import { loadGraphQLSchemaFromOpenAPI } from '@omnigraph/openapi';
import { createYoga } from 'graphql-yoga';

const forwarded = ['authorization', 'x-svc-authorization'];
const schema = await loadGraphQLSchemaFromOpenAPI('keyfront', {
  source: new URL('../../../schema/openapi.json', import.meta.url).pathname,
  endpoint: process.env.BENCH_UPSTREAM ?? '',
  operationHeaders: Object.fromEntries(forwarded.map((name) => [name, `{context.headers['${name}']}`])),
});
const context = (/** @type {{ request: Request }} */ { request }) => ({
  headers: Object.fromEntries(forwarded.map((name) => [name, request.headers.get(name)])),
});
const server = createServer(createYoga({ schema, context }));
server.listen(0, '127.0.0.1', () => console.log(`listens on http://127.0.0.1:${server.address().port}/graphql`));

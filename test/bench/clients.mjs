// The headers that real clients send with a query, without credentials.

/**
 * @typedef {object} Client
 * @property {string} name
 * @property {string} label
 * @property {Record<string, string | readonly string[]>} headers an array is a repeated header
 */

const json = { 'Content-Type': 'application/json' };

/** The headers that `fetch` of Node adds. */
const nodeFetch = {
  ...json,
  Connection: 'keep-alive',
  'Accept-Language': '*',
  'Sec-Fetch-Mode': 'cors',
  'User-Agent': 'node',
  'Accept-Encoding': 'gzip, deflate',
};

/** The origin of the page in the browser, which the service must allow. */
export const browserOrigin = 'https://dashboard.example';

/** The first is the client of all comparisons with other servers. @type {readonly [Client, ...Client[]]} */
export const clients = [
  {
    name: 'apollo-client',
    label: 'Apollo Client 4.3',
    headers: { ...nodeFetch, Accept: 'application/graphql-response+json,application/json;q=0.9' },
  },
  {
    name: 'urql',
    label: '@urql/core 6.0',
    headers: {
      ...nodeFetch,
      Accept:
        'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    },
  },
  {
    name: 'graphql-request',
    label: 'graphql-request 7.4',
    headers: { ...nodeFetch, Accept: 'application/graphql-response+json, application/json' },
  },
  {
    name: 'relay',
    label: 'Relay (the example of its documentation)',
    headers: {
      ...nodeFetch,
      Accept: 'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
    },
  },
  {
    name: 'keyfront-client',
    label: 'keyfront/client',
    headers: { ...nodeFetch, Accept: 'application/graphql-response+json, application/json' },
  },
  {
    name: 'browser',
    label: '`fetch` of a browser, another origin',
    headers: {
      ...json,
      Connection: 'keep-alive',
      'User-Agent':
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
      Accept: '*/*',
      Origin: browserOrigin,
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'cors',
      'Sec-Fetch-Dest': 'empty',
      Referer: `${browserOrigin}/`,
      'Accept-Encoding': 'gzip, deflate, br, zstd',
      'Accept-Language': 'en-US,en;q=0.9',
    },
  },
  {
    name: 'apollo-router',
    label: 'Apollo Router',
    headers: {
      ...json,
      Accept: ['application/json', 'application/graphql-response+json'],
      'Accept-Encoding': 'gzip, br, deflate',
    },
  },
  {
    name: 'hive-gateway',
    label: 'Hive gateway (@graphql-tools/executor-http 3.4)',
    headers: { ...nodeFetch, Accept: 'application/graphql-response+json, application/json, multipart/mixed' },
  },
  { name: 'any', label: 'a script that accepts `*/*`', headers: { ...json, Accept: '*/*' } },
];

/** The client of all comparisons with other servers. */
export const headlineClient = clients[0];

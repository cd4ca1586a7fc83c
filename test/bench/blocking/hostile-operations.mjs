// GraphQL documents and representations that are expensive to reject: as large as the limits of a router permit.
import { randomUUID } from 'node:crypto';

const times = (/** @type {number} */ count, /** @type {(n: number) => string} */ part) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ');

const nested = '{ orgKeys(first: 1) { edges { node { keyID } } } }';

/** Documents of up to 10,000 tokens. */
const documents = {
  '3,200 unknown members': `mutation { updateOrgKey(keyID: "k", input: { ${times(3_200, (n) => `x${n}: 1`)} }) { keyHash } }`,
  '3,000 unknown fields': `{ orgKeys { edges { node { ${times(3_000, (n) => `x${n}`)} } } } }`,
  '500 fragments with different arguments': `{ ${times(500, (n) => `...F${n}`)} } ${times(500, (n) => `fragment F${n} on Query { orgKeys(first: ${n}) { __typename } }`)}`,
  '550 overlapping inline fragments': `{ ${times(550, () => `... ${nested}`)} }`,
  '9,000 selections of a field': `{ orgKeys(first: 1) { edges { node { ${times(9_000, () => 'keyHash')} } } } }`,
  '600 fragments, each within 60 fields': `{ ${times(60, (n) => `a${n}: orgKeys { ...F0 }`)} } ${times(600, (n) => `fragment F${n} on OrgKeyConnection { __typename ${n < 599 ? `...F${n + 1}` : ''} }`)}`,
  '400 operations with 550 fragments': `${times(400, (n) => `query Q${n} { ...F0 }`)} ${times(550, (n) => `fragment F${n} on Query { __typename ${n < 549 ? `...F${n + 1}` : ''} }`)}`,
  '1,400 unused fragments': `{ __typename } ${times(1_400, (n) => `fragment F${n} on Query { __typename }`)}`,
};

/** Items, by their index, of which a body of 128 KiB and 12,000 values has as many as stated. Equal ones are executed once. */
const representations = /** @type {const} */ ([
  ['without a type', (/** @type {number} */ n) => ({ n }), 5_900],
  ['of an unknown type', (/** @type {number} */ n) => ({ __typename: 'X', n }), 3_900],
  ['without a key field', (/** @type {number} */ n) => ({ __typename: 'OrgKey', n }), 3_500],
  ['with a malformed identifier', (/** @type {number} */ n) => ({ __typename: 'OrgKey', id: `%${n}` }), 3_200],
  [
    'of organizations of others',
    (/** @type {number} */ n) => ({ __typename: 'Organization', id: `x${n}` }),
    2_500,
    'bound',
  ],
]);

/** @returns {import('./samples.mjs').Operation[]} */
export function hostileOperations() {
  const common = { method: 'POST', path: '/graphql', statuses: [200, 400] };
  const entities = 'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }';
  return [
    ...Object.entries(documents).map(([name, document]) => ({
      ...common,
      name: `hostile document: ${name}`,
      credential: /** @type {const} */ ('router'),
      // The comment makes it a new document each time.
      body: () => JSON.stringify({ query: `${document} # ${randomUUID()}`, operationName: operationOf(document) }),
    })),
    ...representations.map(([name, itemOf, count, credential = 'service']) => ({
      ...common,
      name: `hostile representations: ${count} ${name}`,
      credential,
      body: () =>
        JSON.stringify({ query: entities, variables: { r: Array.from({ length: count }, (_, n) => itemOf(n)) } }),
    })),
  ];
}

function operationOf(/** @type {string} */ document) {
  return /^query (\w+)/.exec(document)?.[1];
}

// GraphQL operations with invalid variables, which the service validates for every alias of the root field.
import { bodiesOf } from './rest-operations.mjs';

const bodyBytes = 126 * 1024;

/**
 * @param {object} parts
 * @param {{ aliases: number, mutations: number }} parts.limits
 * @param {number} parts.maxValues
 * @returns {import('./samples.mjs').Operation[]}
 */
export function invalidOperations({ limits, maxValues }) {
  const preview = query('query', 'PreviewKeyInput', 'previewKey(input: $input) { keyHash }', limits.aliases);
  const create = query('mutation', 'CreateKeyInput', 'createOrgKey(input: $input) { version }', limits.mutations);
  return Object.entries(bodiesOf({ bytes: bodyBytes, values: maxValues })).flatMap(([name, { body }]) => {
    // One definition with the names of GraphQL, for all aliases.
    const input = body.replace('"access_rights"', '"accessRights"').replace('"meta_data"', '"metaData"');
    const operation = (/** @type {string} */ text) => () =>
      `{"query":${JSON.stringify(text)},"variables":{"input":${input}}}`;
    const common = { method: 'POST', path: '/graphql', statuses: [200, 400, 413] };
    return [
      { ...common, name: `previewKey with invalid input: ${name}`, credential: 'management', body: operation(preview) },
      {
        ...common,
        name: `createOrgKey with invalid input: ${name}`,
        credential: 'service',
        body: operation(create),
        isChange: true,
      },
    ];
  });
}

function query(kind, type, field, count) {
  const fields = Array.from({ length: count }, (_, n) => `a${n}: ${field}`);
  return `${kind} ($input: ${type}!) { ${fields.join(' ')} }`;
}

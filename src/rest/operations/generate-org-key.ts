import { malformedParameter, parseQuery } from '../../http/query-parameters.js';
import { keyIDPrefixProblem } from '../../keys/key-id.js';
import { readDefinition, warningsMember } from '../json-body.js';
import { changeResponse } from '../key-response.js';
import { parseIdempotencyKey } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { change, idempotencyKey, otherOrganization, text, warnings } from './shared-docs.js';
import type { HTTPResponse } from '../../http/response.js';

export const generateOrgKey = defineRoute({
  operation: 'generateOrgKey',
  method: 'POST',
  path: '/svc/org/keys',
  credential: 'service',
  errors: [],
  tag: 'Keys',
  summary: 'Create an organization key with a generated identifier',
  description:
    'The recommended way to create keys: `key` of the response is the identifier, which ends in `_`, 32 random hex digits and 8 of their CRC-32, and cannot be guessed. `org_id` is required unless the credential is bound to an organization.',
  parameters: [
    {
      name: 'prefix',
      in: 'query',
      description:
        'Readable beginning of the identifier: 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit. Default: the identifier of the organization.',
      schema: text,
    },
    idempotencyKey,
  ],
  input: { name: 'UpdateKeyInput', variant: 'update' },
  output: { ...change('OrgKeyGeneration', 'added'), optional: { warnings } },
  success: 'OK',
  isVersioned: true,
  examples: {
    generate: {
      summary: 'A new key whose identifier begins with acme_live_',
      parameters: { prefix: 'acme_live_' },
      body: `{ "alias": "Partners", "org_id": "acme", "rate": 10, "per": 1, "apply_policies": ["silver"] }`,
      status: 200,
      response: `
        {
          "action": "added",
          "key": "acme_live_3f0c9d1e5b7a4826a1d4c6e8f0b2937d0337b71b",
          "key_hash": "3d60dfe1844d6d5095ffc80837f8bf804f421449ea48eca1090476da64a0e324",
          "status": "ok"
        }`,
      etag: '"1"',
    },
    mistakes: {
      summary: 'A prefix with a space in it',
      parameters: { prefix: 'acme live' },
      body: `{ "alias": "Partners", "org_id": "acme", "apply_policies": ["silver"] }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "A parameter of the request is not valid.",
          "code": "INVALID",
          "issues": [
            {
              "path": "prefix",
              "code": "MALFORMED_ARGUMENT",
              "message": "must have 1 to 64 letters, digits, dots, hyphens and underscores, and begin with a letter or digit"
            }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    otherOrganization: {
      ...otherOrganization,
      summary: 'A key of globex, with a credential that is bound to acme',
      body: `{ "alias": "Partners", "org_id": "globex" }`,
    },
  },
  handle,
});

/** `POST /svc/org/keys`: creates a key with a generated identifier. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { caller, keys, query, request } = call;
  const keyIDPrefix = parsePrefix(query);
  const idempotencyKey = parseIdempotencyKey(request.headers.get('idempotency-key'));
  const input = await readDefinition(call, 'update');
  const { key, warnings } = await keys.createOrgKey(caller, { keyIDPrefix, input, idempotencyKey });
  return changeResponse('added', keys.newKeyIDOf(key), key, warningsMember(call, warnings));
}

/** @throws {AppError} INVALID for another parameter, or a prefix that is not valid */
function parsePrefix(query: string): string | undefined {
  const { prefix, ...others } = Object.fromEntries(parseQuery(query));
  const [other] = Object.keys(others);
  if (other !== undefined) throw malformedParameter(other, 'is not a parameter here');
  const problem = prefix === undefined ? undefined : keyIDPrefixProblem(prefix);
  if (problem !== undefined) throw malformedParameter('prefix', problem);
  return prefix;
}

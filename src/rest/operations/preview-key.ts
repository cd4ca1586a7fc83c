import { withSecrets } from '../../keys/definition/normalize.js';
import { readDefinition, warningsMember } from '../json-body.js';
import { jsonResponse, type HTTPResponse } from '../../http/response.js';
import { effective, effectiveMember } from '../effective-access.js';
import { rejectParameters } from '../parameters.js';
import { defineRoute, type RouteCall } from '../route.js';
import { definitionToWire } from '../../wire/field-names.js';
import { keyHash, otherOrganization, warnings } from './shared-docs.js';

export const previewKey = defineRoute({
  operation: 'previewKey',
  method: 'POST',
  path: '/api/keys/preview',
  credential: 'management',
  errors: [],
  tag: 'Previews',
  summary: 'Validate a key definition',
  description:
    'Validates and normalizes a key definition and hashes its identifier. Nothing is stored. A null field is treated as absent.',
  parameters: [],
  input: { name: 'PreviewKeyInput', variant: 'preview' },
  output: {
    name: 'KeyPreview',
    members: {
      api_model: { type: 'object', description: 'Always an empty object.' },
      data: { $ref: '#/components/schemas/KeyDefinition' },
      key_hash: keyHash,
      key_id: { type: 'string', description: 'The key identifier of the request, or a generated one.' },
    },
    optional: { effective, warnings },
  },
  success: 'Key definition is valid.',
  examples: {
    definition: {
      summary: 'A definition; the response does not contain its password',
      body: `
        {
          "alias": "Billing, staging",
          "org_id": "acme",
          "key_id": "acme-staging",
          "rate": 100,
          "per": 60,
          "quota_max": 10000,
          "quota_renewal_rate": 2592000,
          "tags": ["billing", " staging"],
          "access_rights": {
            "invoices": {
              "api_id": "invoices",
              "api_name": "Invoices",
              "versions": ["Default"],
              "allowed_urls": [{ "methods": ["get"], "url": "/invoices/.*" }]
            }
          },
          "basic_auth_data": { "user": "billing", "password": "correct horse" }
        }`,
      status: 200,
      response: `
        {
          "api_model": {},
          "data": {
            "access_rights": {
              "invoices": {
                "api_id": "invoices",
                "api_name": "Invoices",
                "versions": ["Default"],
                "allowed_urls": [{ "methods": ["GET"], "url": "/invoices/.*" }]
              }
            },
            "alias": "Billing, staging",
            "basic_auth_data": { "user": "billing" },
            "key_id": "acme-staging",
            "org_id": "acme",
            "per": 60,
            "quota_max": 10000,
            "quota_renewal_rate": 2592000,
            "rate": 100,
            "tags": ["billing", "staging"]
          },
          "key_hash": "cf8b241f759c893ae91c0b7116c518a55193d1c827f8334b0436eecf1e782954",
          "key_id": "acme-staging"
        }`,
    },
    deprecated: {
      summary: 'A deprecated field, and no identifier: the service generates one',
      body: `{ "alias": "Billing", "org_id": "acme", "apply_policy_id": "gold" }`,
      status: 200,
      response: `
        {
          "api_model": {},
          "data": { "alias": "Billing", "apply_policies": ["gold"], "org_id": "acme" },
          "key_hash": "6a3d725651bd9fb07f58ea06e17d5d1c695554a499fb57ead353a1f90ac42c24",
          "key_id": "acme_3f0c9d1e5b7a4826a1d4c6e8f0b2937d0337b71b",
          "warnings": [
            { "path": "apply_policy_id", "code": "DEPRECATED_FIELD", "message": "was moved into \`apply_policies\`" }
          ]
        }`,
    },
    mistakes: {
      summary: 'Three mistakes, reported together',
      body: `{ "alias": 7, "quota_maxx": 1, "access_rights": { "invoices": { "limit": { "quota_max": 1.5 } } } }`,
      status: 400,
      response: `
        {
          "status": "error",
          "message": "The key definition has 3 problems.",
          "code": "INVALID",
          "issues": [
            {
              "path": "access_rights.invoices.limit.quota_max",
              "code": "NOT_INTEGER",
              "message": "must be an integer"
            },
            { "path": "alias", "code": "WRONG_TYPE", "message": "must be a string" },
            {
              "path": "quota_maxx",
              "code": "UNKNOWN_FIELD",
              "message": "is an unknown field; did you mean \`quota_max\`?"
            }
          ],
          "request_id": "d8c76ddf-06f2-4174-ab90-73333590c7b4"
        }`,
    },
    otherOrganization: {
      ...otherOrganization,
      summary: 'A definition of globex, with a credential that is bound to acme',
      body: `{ "alias": "Reports", "org_id": "globex" }`,
    },
  },
  handle,
});

/** `POST /api/keys/preview`: returns the definition as it would be stored, with the secrets of the request except the password. */
async function handle(call: RouteCall): Promise<HTTPResponse> {
  const { caller, keys, query } = call;
  rejectParameters(query);
  const input = await readDefinition(call, 'preview');
  const { keyID, keyHash, definition, secrets, warnings, sources } = await keys.preview(caller, input);
  const { password, ...echoed } = secrets;
  return jsonResponse({
    api_model: {},
    data: definitionToWire(withSecrets(definition, echoed)),
    key_hash: keyHash,
    key_id: keyID,
    ...effectiveMember(sources),
    ...warningsMember(call, warnings),
  });
}

import type { Variant } from '../keys/definition.js';
import type { JSONSchema } from './json-schema.js';
import { staleStatus, type Route } from './routes.js';

/** What the documentation says of an operation that neither its route nor the table of fields knows. */
export interface Operation {
  readonly variant: Variant;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly JSONSchema[];
  /** The names of the schemas of its bodies. */
  readonly input: string;
  readonly output: string;
  readonly success: { readonly description: string; readonly headers: JSONSchema };
  /** The members of the answer, beside the warnings. */
  readonly answer: JSONSchema;
}

const keyHash = { type: 'string', description: 'Hash of the key identifier, in lower-case hex.' };

const previewKey: Operation = {
  variant: 'preview',
  summary: 'Validate a key definition',
  description:
    'Checks and normalises a key definition and hashes its identifier, without storing anything. A field that is null counts as left out.',
  parameters: [],
  input: 'PreviewKeyInput',
  output: 'KeyPreview',
  success: { description: 'Key definition is valid.', headers: {} },
  answer: {
    api_model: { type: 'object', description: 'Always an empty object.' },
    data: { $ref: '#/components/schemas/KeyDefinition' },
    key_hash: keyHash,
    key_id: { type: 'string', description: 'The key identifier that was sent, or a new one.' },
  },
};

const updateOrgKey: Operation = {
  variant: 'update',
  summary: 'Update an organisation key',
  description:
    'Replaces the definition of a key that exists, and resets its quota where asked to: all in one transaction, or nothing. What is left out or null is gone, except for secrets: those stay until they are replaced, or cleared with null.',
  parameters: [
    {
      name: 'keyID',
      in: 'path',
      required: true,
      description: 'Identifier of the key. A key that does not exist is not created.',
      schema: { type: 'string' },
    },
    {
      name: 'reset_quota',
      in: 'query',
      description:
        'Whether the live quota begins anew: the used count goes to 0, `quota_remaining` to `quota_max`, `quota_renews` to now plus `quota_renewal_rate`.',
      schema: { type: 'integer', enum: [1] },
    },
    {
      name: 'If-Match',
      in: 'header',
      description: `The ETag of the version that the update is meant for; ${staleStatus} where the key has another by now. Any version where it is absent or \`*\`.`,
      schema: { type: 'string' },
    },
  ],
  input: 'UpdateKeyInput',
  output: 'OrgKeyUpdate',
  success: {
    description: 'OK',
    headers: { ETag: { description: 'The version of the key after the update.', schema: { type: 'string' } } },
  },
  answer: {
    action: { const: 'modified' },
    key: { type: 'string', description: 'The key identifier.' },
    key_hash: keyHash,
    status: { const: 'ok' },
  },
};

/** Every operation, by the name that its route gives it. */
export const operations: Record<Route['operation'], Operation> = { previewKey, updateOrgKey };

import { noCredential, type CredentialKind } from '../../credentials/credential.js';
import { errorCodes, type ErrorCode } from '../../lib/errors.js';
import { KeyDefinition } from '../../keys/definition/schema.js';
import { inputs } from '../../keys/definition/parse.js';
import { issueCodes, warningCodes } from '../../keys/definition/issue-codes.js';
import { resetStatuses } from '../../keys/quota/external-counters.js';
import { statuses } from '../../http/error-response.js';
import { responseExamples, bodyExamples, toExample, etagsOf, parameterExamples } from './examples.js';
import { failureExamples } from './failure-examples.js';
import { objectSchema, type JSONSchema } from './json-schema.js';
import { actor } from '../operations/shared-docs.js';
import {
  commonErrors,
  isChange,
  preconditionFailedStatus,
  tags,
  unsupportedMediaTypeStatus,
  type RouteDefinition,
} from '../route.js';
import { routes } from '../routes.js';

/** The OpenAPI document of the key API, generated from its routes and the definition schema. */
export function openAPIDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Keyfront key API',
      version: '1',
      description:
        'Previews key definitions, and creates, reads, updates, deletes and restores the keys of organizations with their quotas. Integers of 64 bits are JSON numbers with all their digits.',
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: { schemas: schemas(), responses: failures(), securitySchemes },
  };
}

/** The text of the document, as in `schema/` and as it is served. */
export function openAPIText(): string {
  return `${JSON.stringify(openAPIDocument(), null, 2)}\n`;
}

const securitySchemes: Record<CredentialKind, JSONSchema> = {
  management: {
    type: 'http',
    scheme: 'bearer',
    description: 'A management credential: kf_mgt_…. Or a token of single sign-on.',
  },
  service: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Svc-Authorization',
    description:
      'A service credential: kf_svc_…. Or a token of single sign-on, which may stand in `Authorization: Bearer` too.',
  },
};

/** The routes by path, and then by method. */
function paths(): JSONSchema {
  const byPath = new Map<string, JSONSchema>();
  for (const route of routes) {
    const path = route.path.replace('*', '{keyID}');
    byPath.set(path, { ...byPath.get(path), ...pathItem(route) });
  }
  return Object.fromEntries(byPath);
}

function pathItem(route: RouteDefinition): JSONSchema {
  const { operation, method, credential, errors, tag, summary, description, parameters, input, output } = route;
  const { success, isVersioned, mayReset, examples } = route;
  return {
    [method.toLowerCase()]: {
      operationId: operation,
      tags: [tag],
      summary,
      description,
      security: [{ [credential]: [] }],
      parameters: parameterExamples(examples, isChange(route) ? [...parameters, actor] : parameters),
      ...(input && {
        requestBody: { required: input.variant !== undefined, content: contentOf(input, bodyExamples(examples)) },
      }),
      responses: {
        200: {
          description: success,
          headers: { ...requestIDHeader, ...(isVersioned && etagHeader(examples)), ...(mayReset && resetHeader) },
          content: jsonOf(output.name, responseExamples(examples, 200)),
        },
        ...Object.fromEntries([...commonErrors, ...errors].flatMap((code) => failuresOf(code, route))),
        ...(input && { [unsupportedMediaTypeStatus]: { $ref: '#/components/responses/INVALID' } }),
      },
    },
  };
}

const resetStatusText = Object.entries(resetStatuses)
  .map(([status, text]) => `\`${status.toLowerCase()}\`: ${text}`)
  .join(' ');

const requestIDHeader = {
  'X-Request-ID': { description: 'Identifies the request in the log of the service.', schema: { type: 'string' } },
};

const etagHeader = (examples: RouteDefinition['examples']) => ({
  ETag: {
    description: 'The version of the key, for `If-Match`. State and live quota do not change it.',
    schema: { type: 'string' },
    examples: etagsOf(examples),
  },
});

const resetHeader = {
  'Quota-Reset': {
    description: `The status of the reset; absent when the request contains no reset. ${resetStatusText}`,
    schema: { type: 'string', enum: Object.keys(resetStatuses).map((status) => status.toLowerCase()) },
  },
};

const retryAfter = {
  'Retry-After': { description: 'The number of seconds after which to retry.', schema: { type: 'integer' } },
};

const headersOfFailure: { readonly [Code in ErrorCode]?: JSONSchema } = {
  UNAUTHENTICATED: { 'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } } },
  RATE_LIMITED: retryAfter,
  UNAVAILABLE: retryAfter,
};

/** Returns the error responses of a code. CONFLICT has the status 412 for a stale version, 409 for any other state. */
function failuresOf(code: ErrorCode, { credential, examples }: RouteDefinition): [number, JSONSchema][] {
  const conflicts = [statuses.CONFLICT, preconditionFailedStatus];
  const found = code === 'CONFLICT' ? conflicts.filter((one) => responseExamples(examples, one)) : [statuses[code]];
  const shared = code === 'UNAUTHENTICATED' && credential === 'management' ? withoutManagement : code;
  return found.map((status) => {
    const shown = responseExamples(examples, status);
    return [status, shown ? failure(code, shown) : { $ref: `#/components/responses/${shared}` }];
  });
}

/** The name of the response without a management credential; without a service credential it is the code. */
const withoutManagement = 'UNAUTHENTICATED_MANAGEMENT';

/** The responses that several operations share. */
function failures(): JSONSchema {
  const shared = (code: ErrorCode, rewrite = (response: string) => response) => {
    const example = failureExamples[code];
    return failure(code, example && { any: toExample(example.summary, rewrite(example.response)) });
  };
  const [service, management] = [noCredential('service').message, noCredential('management').message];
  return {
    ...Object.fromEntries(commonErrors.map((code) => [code, shared(code)])),
    [withoutManagement]: shared('UNAUTHENTICATED', (response) => response.replace(service, management)),
  };
}

function failure(code: ErrorCode, examples: JSONSchema | undefined): JSONSchema {
  const headers = { ...requestIDHeader, ...headersOfFailure[code] };
  return { description: `The error has the code \`${code}\`.`, headers, content: jsonOf('Error', examples) };
}

function schemas(): JSONSchema {
  const components = new Map<string, JSONSchema>();
  for (const { input, output } of routes) {
    if (input?.schema) components.set(input.name, input.schema);
    if (input?.variant) {
      components.set(input.name, {
        description: input.variant === 'patch' ? patchDescription : 'A key definition. Every field is optional.',
        ...objectSchema(inputs[input.variant], { direction: 'input', components }),
      });
    }
    components.set(output.name, responseSchema(output));
  }
  components.set('KeyDefinition', {
    description: 'A key definition in its normal form, without null and without deprecated fields.',
    ...objectSchema(inputs.preview, { direction: 'preview', components }),
  });
  components.set('StoredKeyDefinition', {
    description: 'The definition of a stored key in its normal form, without its secrets.',
    ...objectSchema(KeyDefinition, { direction: 'stored', components }),
  });
  components.set('DeliveredKeyDefinition', {
    description:
      'The definition of a stored key in its normal form, with the hash of its password and its secrets in clear.',
    ...objectSchema(KeyDefinition, { direction: 'delivered', components }),
  });
  components.set('Error', errorSchema);
  components.set('Issue', problemSchema('One problem of one value.', issueCodes));
  components.set('Warning', problemSchema('A possible mistake in a definition that is valid.', warningCodes));
  return Object.fromEntries(components);
}

function responseSchema({ members, optional }: RouteDefinition['output']): JSONSchema {
  return { type: 'object', required: Object.keys(members), properties: { ...members, ...optional } };
}

const errorSchema = {
  type: 'object',
  required: ['status', 'message', 'code'],
  properties: {
    status: { const: 'error' },
    message: { type: 'string', description: 'Describes the error, for people.' },
    code: { type: 'string', enum: Object.keys(errorCodes), description: 'The error code, for programs.' },
    issues: {
      type: 'array',
      items: refTo('Issue'),
      description: 'Every issue of the request, when the request is invalid.',
    },
    retry_after_seconds: {
      type: 'integer',
      description: 'The value of the header Retry-After, when the response has one.',
    },
    request_id: {
      type: 'string',
      description:
        'Identifies the request in the log of the service; absent when the server rejects the request before it reads it.',
    },
  },
};

/** Path, code and message of an issue or a warning. The description of `code` lists the meaning of each code. */
function problemSchema(description: string, codes: Readonly<Record<string, string>>): JSONSchema {
  const meanings = Object.entries(codes).map(([code, meaning]) => `- \`${code}\`: ${meaning}`);
  return {
    description,
    type: 'object',
    required: ['path', 'code', 'message'],
    properties: {
      path: {
        type: 'string',
        description:
          'The path of the value; empty for the whole body. Example: access_rights.invoices.limit.quota_max.',
      },
      code: {
        type: 'string',
        enum: Object.keys(codes),
        description: `The code, for programs.\n${meanings.join('\n')}`,
      },
      message: { type: 'string', description: 'Describes the problem, for people: "path message" is a sentence.' },
    },
  };
}

const patchDescription =
  'The fields of a definition to change, as a JSON Merge Patch (RFC 7396): an absent field keeps its value, null clears it, an object is merged with the stored one, and any other value replaces the stored one.';

function contentOf({ name, variant }: NonNullable<RouteDefinition['input']>, examples?: JSONSchema): JSONSchema {
  const content = jsonOf(name, examples);
  return variant === 'patch' ? { 'application/merge-patch+json': { schema: refTo(name) }, ...content } : content;
}

function jsonOf(schema: string, examples?: JSONSchema): JSONSchema {
  return { 'application/json': { schema: refTo(schema), ...(examples && { examples }) } };
}

function refTo(schema: string): JSONSchema {
  return { $ref: `#/components/schemas/${schema}` };
}

import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { servedSchema } from '../../src/graphql/schema/served.js';
import { AppError, errorCodes, type ErrorCode } from '../../src/lib/errors.js';
import { routes } from '../../src/rest/routes.js';
import { codeOf, errorsOf } from '../support/responses.js';
import { startSharedApp, type TestResponse, type TestApp } from '../support/app.js';
import { sendTo, sendToFreshKey, type Headers } from './auth/endpoint-request.js';
import { endpoints, type Endpoint } from './auth/matrix-rows.js';

/*
 * Every error code that an operation documents, in the descriptions of the GraphQL schema or in the OpenAPI document, is
 * returned by a request of this file. A documented code without a request fails the first test.
 */

const t = await startSharedApp();

/** Provokes an error of an endpoint. */
type Provoke = (endpoint: Endpoint) => Promise<TestResponse>;

const headerOf = { management: 'authorization', service: 'x-svc-authorization' } as const;

const { secret: namedService } = await t.issue('service', { scopes: ['deliver'] });
const tokensOf = ({ isScopeNamed }: Endpoint) => ({
  management: t.management,
  service: isScopeNamed ? namedService : t.service,
});

function valid(endpoint: Endpoint, tokens: Record<'management' | 'service', string> = tokensOf(endpoint)): Headers {
  return endpoint.kinds.map((kind) => [
    headerOf[kind],
    kind === 'management' ? `Bearer ${tokens[kind]}` : tokens[kind],
  ]);
}

/** The endpoint with another GraphQL call, or another body. */
function withCall(endpoint: Endpoint, change: (call: string) => string): Endpoint {
  if (endpoint.isREST) return { ...endpoint, body: (keyID, node) => change(endpoint.body(keyID, node)) };
  const body: Endpoint['body'] = (keyID, node) => {
    const { query } = JSON.parse(endpoint.body(keyID, node)) as { query: string };
    return JSON.stringify({ query: change(query) });
  };
  return { ...endpoint, body };
}

/** A GraphQL call with one more argument. */
const withArgument = (endpoint: Endpoint, argument: string) =>
  withCall(endpoint, (query) => query.replace('(', `(${argument}, `));

/** A GraphQL call with other arguments. */
const withArguments =
  (list: string): Provoke =>
  (endpoint) =>
    sendValid(withCall(endpoint, (query) => query.replace(/\((?:[^()"]|"[^"]*")*\)/, `(${list})`)));

const sendValid: Provoke = (endpoint) => sendToFreshKey(t, endpoint, valid(endpoint));

/** Makes the store of credentials fail for one request. */
function whileCredentialsFail(error: Error): Provoke {
  return async (endpoint) => {
    const spy = vi.spyOn(t.app.services.credentials, 'findBySecretHash').mockRejectedValue(error);
    try {
      return await sendTo(t, endpoint, valid(endpoint));
    } finally {
      spy.mockRestore();
    }
  };
}

/** Whether the request of an operation of REST has no body. */
const hasNoBody = ({ isREST, name }: Endpoint) =>
  isREST && routes.some(({ operation, ...route }) => name === `REST ${operation}` && !('input' in route));

/** Makes the store reject one request as too large, which no request without a body is for a key of the allowed size. */
const whileKeysAreTooLarge: Provoke = async (endpoint) => {
  const error = new AppError('TOO_LARGE', 'The keys are too large.');
  const spies = (['find', 'list', 'update'] as const).map((name) =>
    vi.spyOn(t.app.services.store, name).mockRejectedValue(error),
  );
  try {
    return await sendTo(t, endpoint, valid(endpoint));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

const notFound: Provoke = (endpoint) => sendTo(t, endpoint, valid(endpoint), { keyID: 'absent' });
const conflict: Provoke = (endpoint) =>
  endpoint.isREST
    ? sendToFreshKey(t, endpoint, [...valid(endpoint), ['if-match', '"99"']])
    : sendValid(withArgument(endpoint, 'expectedVersion: 99'));

/** A rotation while one runs, or the cancellation of none. */
const whileRotationDiffers: Provoke = (endpoint) =>
  sendToFreshKey(t, { ...endpoint, key: endpoint.key === 'rotated' ? undefined : 'rotated' }, valid(endpoint));

/** The store of gateways is full: see test/service/keys/gateways.test.ts. */
const tooManyGateways: Provoke = async (endpoint) => {
  const error = new AppError('CONFLICT', 'There are too many gateways.');
  const spy = vi.spyOn(t.app.services.gateways, 'acknowledge').mockRejectedValue(error);
  try {
    return await sendTo(t, endpoint, valid(endpoint));
  } finally {
    spy.mockRestore();
  }
};

/** Another decision came first. */
const afterItsEnd: Provoke = async (endpoint) => {
  const error = new AppError('CONFLICT', 'The proposal is rejected already.');
  const spy = vi.spyOn(t.app.services.ports.proposals, 'find').mockRejectedValue(error);
  try {
    return await sendTo(t, endpoint, valid(endpoint));
  } finally {
    spy.mockRestore();
  }
};

/** There are too many credentials, or it is revoked already: see test/service/auth/credential-administration.test.ts. */
const whileCredentialsConflict: Provoke = async (endpoint) => {
  const error = new AppError('CONFLICT', 'There are too many credentials.');
  const spies = (['add', 'replace'] as const).map((name) =>
    vi.spyOn(t.app.services.credentials, name).mockRejectedValueOnce(error),
  );
  try {
    return await sendTo(t, endpoint, valid(endpoint), { credential: 'cred_1' });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

/** There are too many webhooks, or it is tested already: see test/service/webhooks/administration.test.ts. */
const whileWebhooksConflict: Provoke = async (endpoint) => {
  const error = new AppError('CONFLICT', 'There are too many webhooks.');
  const spies = (['add', 'list'] as const).map((name) =>
    vi.spyOn(t.app.services.webhooks, name).mockRejectedValueOnce(error),
  );
  try {
    return await sendTo(t, endpoint, valid(endpoint), { webhook: 'hook_1' });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

let clients = 0;

/** Codes that most operations document. */
const commonCases: Partial<Record<ErrorCode, Provoke>> = {
  UNAUTHENTICATED: (endpoint) => sendToFreshKey(t, endpoint, []),
  INVALID: (endpoint) =>
    endpoint.isREST
      ? sendToFreshKey(t, endpoint, valid(endpoint), '?unknown=1')
      : sendValid(withArgument(endpoint, 'unknown: 1')),
  // Of a service credential that may only call other operations.
  FORBIDDEN: async (endpoint) => {
    const { secret } = await t.issue('service', { scopes: [endpoint.method === 'GET' ? 'consume' : 'read'] });
    return sendToFreshKey(t, endpoint, valid(endpoint, { management: t.management, service: secret }));
  },
  NOT_FOUND: notFound,
  CONFLICT: conflict,
  TOO_LARGE: (endpoint) =>
    hasNoBody(endpoint)
      ? whileKeysAreTooLarge(endpoint)
      : sendValid(withCall(endpoint, (text) => text + ' '.repeat(300_000))),
  RATE_LIMITED: async (endpoint) => {
    clients += 1;
    let result = await sendFrom(`192.0.2.${clients}`, endpoint);
    for (let attempt = 0; attempt < 10; attempt += 1) result = await sendFrom(`192.0.2.${clients}`, endpoint);
    return result;
  },
  UNAVAILABLE: whileCredentialsFail(new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 })),
  INTERNAL: whileCredentialsFail(new Error('an unexpected error')),
};

/** Sends the request with a credential that is not valid from this address. */
async function sendFrom(address: string, endpoint: Endpoint): Promise<TestResponse> {
  const send: TestApp['send'] = async (path, init) => {
    const response = await t.app.fetch(new Request(`http://keyfront.test${path}`, init), address);
    const text = await response.text();
    const json = text.replace(/^event: next\ndata: /, '').split('\n')[0] ?? '';
    return { status: response.status, headers: response.headers, text, body: JSON.parse(json) as TestResponse['body'] };
  };
  return sendTo({ ...t, send }, endpoint, valid(endpoint, { management: 'kf_mgt_unknown', service: 'unknown' }));
}

const forbidden: Provoke = async (endpoint) => {
  const [management, service] = await Promise.all([
    t.issue('management', { orgID: 'globex' }),
    t.issue('service', { orgID: 'globex' }),
  ]);
  return sendToFreshKey(t, endpoint, valid(endpoint, { management: management.secret, service: service.secret }));
};
const withoutContentType: Provoke = (endpoint) =>
  sendToFreshKey(t, endpoint, [...valid(endpoint), ['content-type', 'text/plain']]);
const keyExists: Provoke = async (endpoint) => {
  const keyID = `existing-${endpoint.isREST}`;
  await t.importKeys({ key_id: keyID, org_id: 'acme' });
  return sendTo(t, endpoint, valid(endpoint), { keyID });
};
const invalidDefinition: Provoke = (endpoint) =>
  sendValid(withCall(endpoint, (query) => query.replace('input: {', 'input: {tags: [""], ')));

/** What provokes a code in these operations, unlike in all others. INVALID: for the cause that the operation describes. */
const ownCases: Readonly<Record<string, Partial<Record<ErrorCode, Provoke>>>> = {
  'GraphQL previewKey': { INVALID: invalidDefinition, FORBIDDEN: forbidden },
  'GraphQL node': { INVALID: withArguments('id: "nonsense"') },
  'GraphQL orgKey': { INVALID: withArguments('keyID: "a", keyHash: "b"') },
  'GraphQL orgKeys': { INVALID: withArguments('first: -1') },
  'GraphQL organizations': { INVALID: withArguments('first: -1') },
  'GraphQL keyPolicies': { INVALID: withArguments('first: -1') },
  'GraphQL keyPolicyHistory': { INVALID: withArguments('policyID: "gold", first: -1'), FORBIDDEN: forbidden },
  'GraphQL putKeyPolicies': { INVALID: withArguments('policies: [{policyID: ""}]'), FORBIDDEN: forbidden },
  'GraphQL removeKeyPolicies': { NOT_FOUND: withArguments('policyIDs: ["absent"]'), FORBIDDEN: forbidden },
  'GraphQL deliverKey': { INVALID: withArguments('by: {keyHash: "x"}') },
  'GraphQL deliverKeys': { INVALID: withArguments('first: 0') },
  'GraphQL acknowledgeChanges': { INVALID: withArguments('gateway: ""'), CONFLICT: tooManyGateways },
  'GraphQL forgetGateway': { INVALID: withArguments('gateway: ""'), NOT_FOUND: withArguments('gateway: "absent"') },
  'GraphQL gateways': { INVALID: withArguments('first: -1') },
  'GraphQL keyDigest': { INVALID: withArguments('cursor: "none"'), FORBIDDEN: forbidden },
  'GraphQL keyCredentials': { INVALID: withArguments('first: -1') },
  'GraphQL issueKeyCredential': { INVALID: withArguments('label: ""'), CONFLICT: whileCredentialsConflict },
  'GraphQL rotateKeyCredential': {
    INVALID: withArguments('id: "cred_1", overlapHours: -1'),
    CONFLICT: whileCredentialsConflict,
  },
  'GraphQL keyWebhooks': { INVALID: withArguments('first: -1') },
  'GraphQL addKeyWebhook': { INVALID: withArguments('url: "nonsense"'), CONFLICT: whileWebhooksConflict },
  'GraphQL testKeyWebhook': { CONFLICT: whileWebhooksConflict },
  'GraphQL rotateKeyWebhook': { INVALID: withArguments('id: "hook_1", overlapHours: -1') },
  'GraphQL orgKeyDeployed': { INVALID: withArguments('keyID: "KEY", gateways: []') },
  'GraphQL viewer': {
    INVALID: (endpoint) => sendValid(withCall(endpoint, (query) => query.replace('viewer', 'viewer(unknown: 1)'))),
  },
  'GraphQL approveKeyProposal': { CONFLICT: afterItsEnd },
  'GraphQL rejectKeyProposal': { CONFLICT: afterItsEnd },
  'GraphQL withdrawKeyProposal': { CONFLICT: afterItsEnd },
  'GraphQL patchOrgKey': { INVALID: withArguments('keyID: "KEY", patch: {tags: [""]}') },
  'GraphQL previewOrgKeyPatch': { INVALID: withArguments('keyID: "KEY", patch: {tags: [""]}') },
  'GraphQL previewOrgKeyUpdate': { INVALID: invalidDefinition },
  'GraphQL updateOrgKey': { INVALID: invalidDefinition },
  'GraphQL createOrgKey': { INVALID: invalidDefinition, FORBIDDEN: forbidden, CONFLICT: keyExists },
  'GraphQL updateOrgKeys': { INVALID: withArguments('filter: {aliasPrefix: ""}, patch: {tags: [""]}') },
  'GraphQL resetOrgQuotas': { INVALID: withArguments('filter: {aliasPrefix: ""}, first: 0') },
  'GraphQL consumeOrgQuota': { INVALID: withArguments('keyID: "a", amount: 0') },
  'GraphQL verifyKey': { INVALID: withArguments('keyID: "a", amount: -1') },
  'GraphQL orgKeyChanged': { INVALID: withArguments('after: "nonsense"') },
  'REST previewKey': { FORBIDDEN: forbidden },
  'REST createOrgKey': { FORBIDDEN: forbidden, CONFLICT: keyExists },
};

const codesIn = (text: string) =>
  (Object.keys(errorCodes) as ErrorCode[]).filter((code) => new RegExp(`\\b${code}\\b`).test(text));

interface Documented {
  readonly code: ErrorCode;
  /** Of REST. */
  readonly status?: number;
}

/** The codes in the descriptions of a root field and of its root type. */
function documentedByGraphQL(name: string): Documented[] {
  const roots = [servedSchema.getQueryType(), servedSchema.getMutationType(), servedSchema.getSubscriptionType()];
  const root = roots.find((type) => type?.getFields()[name] !== undefined);
  const [, own = ''] = (root?.getFields()[name]?.description ?? '').split('Errors:');
  const [, other] = /those of `(\w+)`/.exec(own) ?? [];
  if (other !== undefined) return documentedByGraphQL(other);
  return codesIn(`${root?.description ?? ''} ${own}`).map((code) => ({ code }));
}

/** The codes and statuses of the responses of an operation. */
function documentedByOpenAPI(name: string): Documented[] {
  const operations = Object.values(openAPI.paths).flatMap((methods) => Object.values(methods));
  const { responses = {} } = operations.find(({ operationId }) => operationId === name) ?? {};
  return Object.entries(responses).flatMap(([status, { description = '', $ref = '' }]) =>
    codesIn(`${description} ${$ref}`).map((code) => ({ code, status: Number(status) })),
  );
}

interface OpenAPI {
  readonly paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly description?: string; readonly $ref?: string }>;
}
const openAPI = JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8')) as OpenAPI;

const documented = endpoints.flatMap((endpoint) => {
  const name = endpoint.name.split(' ')[1] ?? '';
  const codes = endpoint.isREST ? documentedByOpenAPI(name) : documentedByGraphQL(name);
  return codes.map(({ code, status }) => {
    const common = status === 409 ? whileRotationDiffers : commonCases[code];
    const provoke = status === 415 ? withoutContentType : (ownCases[endpoint.name]?.[code] ?? common);
    return { endpoint, title: `${code}${status ? ` (${status})` : ''} for ${endpoint.name}`, code, status, provoke };
  });
});

describe('error codes', () => {
  it('are each documented with a request that provokes them', () => {
    expect(documented.filter(({ provoke }) => !provoke).map(({ title }) => title)).toEqual([]);
    const unused = Object.entries(ownCases).flatMap(([name, cases]) =>
      Object.keys(cases)
        .filter((code) => !documented.some((one) => one.endpoint.name === name && one.code === code))
        .map((code) => `${code} for ${name}`),
    );
    expect(unused).toEqual([]);
    // The lists were read: every root field and every route documents at least six codes.
    expect(documented.length).toBeGreaterThan(endpoints.length * 6);
  });

  it.each(documented)('$title is returned', async ({ endpoint, code, status, provoke }) => {
    const result = await provoke?.(endpoint);
    if (!result) throw new Error('There is no case.');
    expect({ code: codeOf(result), text: result.text }).toEqual({ code, text: result.text });
    if (status !== undefined) expect(result.status).toBe(status);
    const requestID = result.headers.get('x-request-id');
    expect(endpoint.isREST ? result.body['request_id'] : errorsOf(result)[0]?.extensions.requestID).toBe(requestID);
  });
});

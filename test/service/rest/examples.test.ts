import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Authenticate } from '../../../src/credentials/credential.js';
import { AppError } from '../../../src/lib/errors.js';
import { sampleKeyLines } from '../../../src/cli/serve/first-start.js';
import { createResponder } from '../../../src/http/respond.js';
import { parseJSON } from '../../../src/lib/json.js';
import type { KeyService } from '../../../src/keys/key-service.js';
import { createLogger } from '../../../src/lib/log.js';
import { createRESTRoutes } from '../../../src/rest/router.js';
import { startApp, type TestResponse, type TestApp } from '../../support/app.js';
import { mismatches, resolved, type Schema } from '../../support/json-schema.js';
import { requestContextOf } from '../../support/request-context.js';

/* These tests read operations from the served document only. */

interface Examples {
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Media extends Examples {
  readonly schema: Schema;
}
interface Content {
  readonly content: { readonly 'application/json': Media };
}
interface Response extends Content {
  readonly headers?: Readonly<Record<string, Examples>>;
}
interface Parameter extends Examples {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}
interface Case {
  readonly operation: string;
  readonly name: string;
  readonly status: number;
}

let document: Schema;
let operations: Readonly<Record<string, Operation & { readonly method: string; readonly path: string }>>;
let cases: readonly Case[];
let t: TestApp;

function responseOf(operation: string, status: number | string): Response {
  const found = operations[operation]?.responses[status];
  if (!found) throw new Error(`${operation} has no ${status}.`);
  return '$ref' in found ? (resolved(document, found.$ref) as unknown as Response) : found;
}

const mediaOf = (operation: string, status: number) => responseOf(operation, status).content['application/json'];

beforeAll(async () => {
  const own = await startApp();
  document = JSON.parse((await own.send('/openapi.json')).text) as Schema;
  await own.close();
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Operation>>);
  operations = Object.fromEntries(
    paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [operation.operationId, { ...operation, method, path }]),
    ),
  );
  cases = Object.entries(operations).flatMap(([operation, { responses }]) =>
    Object.entries(responses).flatMap(([status, response]) =>
      '$ref' in response
        ? []
        : Object.keys(response.content['application/json'].examples ?? {}).map((name) => ({
            operation,
            name,
            status: Number(status),
          })),
    ),
  );
});

/** What the sample keys must have been through before an example is sent. */
const before: Readonly<Record<string, readonly [string, string]>> = {
  'updateOrgKey changedSince': ['updateOrgKey', 'replace'],
  'patchOrgKey changedSince': ['updateOrgKey', 'replace'],
  'deleteOrgKey changedSince': ['updateOrgKey', 'replace'],
  'cancelKeyRotation cancel': ['rotateOrgKey', 'rotate'],
  'cancelKeyRotation changedSince': ['updateOrgKey', 'replace'],
  'rotateOrgKey changedSince': ['updateOrgKey', 'replace'],
  'rotateOrgKey running': ['rotateOrgKey', 'rotate'],
  'restoreOrgKey restore': ['deleteOrgKey', 'delete'],
  'restoreOrgKey changedSince': ['deleteOrgKey', 'delete'],
};

async function startSample(): Promise<void> {
  // The one thing that the document could not know.
  t = await startApp({}, { randomHex: () => '3f0c9d1e5b7a4826a1d4c6e8f0b2937d' });
  await t.importKeys(...sampleKeyLines.map((line) => JSON.parse(line) as object));
}

beforeEach(startSample);
afterEach(() => t.close());

interface Sent {
  readonly path: string;
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string };
}

/** The request of an example, as the document describes it, without a credential. */
function requestOf(operation: string, name: string): Sent {
  const found = operations[operation];
  if (!found) throw new Error(`There is no ${operation}.`);
  const values = (place: Parameter['in']) =>
    found.parameters.flatMap((parameter) => {
      const value = parameter.in === place ? parameter.examples?.[name]?.value : undefined;
      return value === undefined ? [] : [[parameter.name, String(value)] as const];
    });
  const path = values('path').reduce(
    (text, [parameter, value]) => text.replace(`{${parameter}}`, encodeURIComponent(value)),
    found.path,
  );
  const query = new URLSearchParams(values('query').map(([parameter, value]) => [parameter, value])).toString();
  const body = found.requestBody?.content['application/json'].examples?.[name]?.value;
  return {
    path: query ? `${path}?${query}` : path,
    init: {
      method: found.method.toUpperCase(),
      headers: {
        ...Object.fromEntries(values('header')),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  };
}

async function send(operation: string, name: string): Promise<TestResponse> {
  const { path, init } = requestOf(operation, name);
  // By its summary.
  const bound = name === 'otherOrganization' ? { orgID: 'acme' } : {};
  const named = operation.startsWith('deliver') ? { scopes: ['deliver'] as const } : {};
  const [management, service] = await Promise.all([
    t.issue('management', bound),
    t.issue('service', { ...bound, ...named }),
  ]);
  const credentials = { authorization: `Bearer ${management.secret}`, 'x-svc-authorization': service.secret };
  return t.send(path, { ...init, headers: { ...init.headers, ...credentials } });
}

/** A response's body, the one member that differs each time put aside. */
function comparable(text: string): unknown {
  const body = JSON.parse(text) as object;
  return 'request_id' in body ? { ...body, request_id: '' } : body;
}

function expectResponse(
  result: Pick<TestResponse, 'status' | 'text'>,
  { operation, status }: Case,
  documented: unknown,
): void {
  expect({ status: result.status, body: comparable(result.text) }).toStrictEqual({
    status,
    body: comparable(JSON.stringify(documented)),
  });
  expect(mismatches(document, mediaOf(operation, status).schema, JSON.parse(result.text))).toEqual([]);
}

describe('the served OpenAPI document', () => {
  it('has for every operation a successful response, and an example of each error that depends on the request', () => {
    for (const [operation, { responses }] of Object.entries(operations)) {
      const shown = cases.filter((one) => one.operation === operation).map(({ status }) => String(status));
      const own = Object.entries(responses).flatMap(([status, response]) => ('$ref' in response ? [] : [status]));
      expect([operation, ...new Set(shown)]).toEqual([operation, ...own]);
      expect(shown).toContain('200');
      expect(shown).toContain('400');
    }
    expect(cases.length).toBeGreaterThan(25);
  });

  it('has for the request and the response of an example one name, and neither without the other', () => {
    for (const [operation, { parameters, requestBody }] of Object.entries(operations)) {
      const completed = cases.filter((one) => one.operation === operation).map(({ name }) => name);
      expect(new Set(completed).size).toBe(completed.length);
      const sources: readonly Examples[] = [...parameters, requestBody?.content['application/json'] ?? {}];
      const requested = sources.flatMap(({ examples = {} }) => Object.keys(examples));
      expect(new Set(requested)).toEqual(new Set(completed));
    }
  });

  it('has examples that agree with the schemas: valid requests and all responses match, invalid requests may not', () => {
    const invalid = cases.flatMap(({ operation, name, status }) => {
      const { requestBody, parameters } = operations[operation] ?? { parameters: [] };
      const requested = [
        ...parameters.map(({ schema, examples }) => ({ schema, value: examples?.[name]?.value })),
        ...(requestBody ? [requestBody.content['application/json']] : []).map(({ schema, examples }) => ({
          schema,
          value: examples?.[name]?.value,
        })),
      ].filter(({ value }) => value !== undefined);
      const { schema, examples } = mediaOf(operation, status);
      const found = [
        ...(status === 400 ? [] : requested.flatMap(({ schema: own, value }) => mismatches(document, own, value))),
        ...mismatches(document, schema, examples?.[name]?.value),
      ];
      return found.map((mismatch) => `${operation} ${name}: ${mismatch}`);
    });
    expect(invalid).toEqual([]);
  });

  it('has examples with the actual responses and entity tags', async () => {
    const sent: Case[] = [];
    for (const one of cases) {
      const { operation, name, status } = one;
      await t.close();
      await startSample();
      const first = before[`${operation} ${name}`];
      if (first) expect((await send(...first)).status).toBe(200);
      const result = await send(operation, name);
      expectResponse(result, one, mediaOf(operation, status).examples?.[name]?.value);
      const tag = responseOf(operation, status).headers?.['ETag']?.examples?.[name]?.value ?? null;
      expect([operation, name, result.headers.get('etag')]).toEqual([operation, name, tag]);
      sent.push(one);
    }
    expect(sent).toEqual(cases);
  });
});

describe('the documented errors that do not depend on the request', () => {
  /** The one documented example of an error. */
  function documented(operation: string, status: number): unknown {
    const examples = Object.values(mediaOf(operation, status).examples ?? {});
    expect(examples).toHaveLength(1);
    return examples[0]?.value;
  }

  /** An example that succeeds, for each operation. */
  const good = () => cases.filter(({ status }, index) => status === 200 && cases[index - 1]?.status !== 200);

  it('UNAUTHENTICATED is returned by every operation', async () => {
    for (const { operation, name } of good()) {
      const { path, init } = requestOf(operation, name);
      const result = await t.send(path, init);
      expectResponse(result, { operation, name, status: 401 }, documented(operation, 401));
      expect(result.headers.has('www-authenticate')).toBe(true);
    }
  });

  it('RATE_LIMITED is returned by every operation', async () => {
    for (const { operation, name } of good()) {
      const { path, init } = requestOf(operation, name);
      const invalid = { ...init.headers, authorization: 'Bearer kf_mgt_nonsense', 'x-svc-authorization': 'nonsense' };
      const from = `10.0.0.${good().findIndex((one) => one.operation === operation)}`;
      let result = await t.app.fetch(new Request(`http://keyfront.test${path}`, { ...init, headers: invalid }), from);
      for (let attempt = 0; attempt < 10; attempt += 1) {
        result = await t.app.fetch(new Request(`http://keyfront.test${path}`, { ...init, headers: invalid }), from);
      }
      const { status } = result;
      const text = await result.text();
      expectResponse({ status, text }, { operation, name, status: 429 }, documented(operation, 429));
      expect(result.headers.get('retry-after')).toBe(String((JSON.parse(text) as Schema)['retry_after_seconds']));
    }
  });

  it('415 and TOO_LARGE are returned by every operation with a body', async () => {
    const withBody = good().filter(({ operation }) => operations[operation]?.requestBody);
    expect(withBody).toHaveLength(Object.values(operations).filter(({ requestBody }) => requestBody).length);
    for (const { operation, name } of withBody) {
      const { path, init } = requestOf(operation, name);
      const headers = { ...init.headers, ...t.credentials };
      const asText = { ...init, headers: { ...headers, 'content-type': 'text/plain' } };
      expectResponse(await t.send(path, asText), { operation, name, status: 415 }, documented(operation, 415));
      const large = { ...init, headers, body: ' '.repeat(256 * 1024 + 1) };
      expectResponse(await t.send(path, large), { operation, name, status: 413 }, documented(operation, 413));
    }
  });

  it.each([
    ['UNAVAILABLE', 503, new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 })],
    ['INTERNAL', 500, new Error('a fault')],
  ])('%s is returned by every operation', async (_code, status, thrown) => {
    const broken = new Proxy({} as KeyService, {
      get: (_, use) => () => {
        if (use !== 'hashOf') throw thrown;
      },
    });
    const authenticate: Authenticate = async () => ({
      management: { credentialID: 'm', label: 'm', orgID: undefined },
      service: { credentialID: 's', label: 's', orgID: undefined },
    });
    const routes = createRESTRoutes({
      keys: broken,
      audit: () => undefined,
      nextStage: () => Promise.resolve(),
    });
    const respond = createResponder({ routes, log: createLogger('silent') });
    for (const { operation, name } of good()) {
      const { path, init } = requestOf(operation, name);
      const request = new Request(`http://keyfront.test${path}`, init);
      const result = await respond(requestContextOf(request, { authenticate }));
      const text = String(result.body);
      expectResponse({ status: result.status, text }, { operation, name, status }, documented(operation, status));
      expect(parseJSON(text)).toMatchObject({ request_id: 'request-1' });
    }
  });

  afterAll(() => {
    // Each of them was looked at for every operation; nothing was left out because a list was empty.
    expect(good()).toHaveLength(Object.keys(operations).length);
  });
});

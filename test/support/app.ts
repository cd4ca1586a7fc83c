import { afterAll, onTestFinished } from 'vitest';
import { createApp, type App, type AppOverrides } from '../../src/app.js';
import { issueCredential } from '../../src/credentials/issue.js';
import type { Scope } from '../../src/keys/key.js';
import type { CredentialKind } from '../../src/credentials/credential.js';
import { importLines } from '../../src/cli/keys/import-lines.js';
import { readConfig } from '../../src/config/config.js';
import { parseJSON, stringifyJSON } from '../../src/lib/json.js';
import { createLogger } from '../../src/lib/log.js';
import type { Telemetry } from '../../src/telemetry/ports.js';
import { readStream } from './event-stream.js';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; empty if it is not JSON. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface TestApp {
  readonly app: App;
  readonly management: string;
  readonly service: string;
  /** The headers of both credentials. */
  readonly credentials: Readonly<Record<'authorization' | 'x-svc-authorization', string>>;
  /** Returns all log lines, at the most verbose level. */
  readonly logs: () => string;
  /** Returns the parsed log lines that contain a text. */
  readonly logLines: (text: string) => Record<string, unknown>[];
  /** The clock, which stands still until a test sets it. */
  readonly clock: { now: Date };
  issue(
    kind: CredentialKind,
    options?: { orgID?: string; expires?: Date; scopes?: readonly Scope[]; label?: string },
  ): Promise<{ id: string; secret: string }>;
  /** Imports keys like `keyfront keys import`; each is `{ key_id, ...definition }` in the names of REST. */
  importKeys(...keys: object[]): Promise<void>;
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<TestResponse>;
  /** Sends a body to /graphql with both credentials. A string is sent unchanged. */
  post(body: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Sends the parameters of an operation to /graphql by GET, with both credentials. */
  graphqlByGET(parameters: Record<string, string>, headers?: Record<string, string>): Promise<TestResponse>;
  preview(definition: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  update(keyID: string, definition: unknown, query?: string, headers?: Record<string, string>): Promise<TestResponse>;
  send(path: string, init?: RequestInit): Promise<TestResponse>;
  /** Closes the service. Has no effect on a closed one. */
  close(): Promise<void>;
}

/** Headers with which a request of `TestApp` has no credential. */
export const noCredentials = { authorization: '', 'x-svc-authorization': '' };

const isStream = ({ headers }: Response) => headers.get('content-type') === 'text/event-stream';

/** Returns the first event of a stream. */
async function firstOf(response: Response): Promise<TestResponse> {
  const stream = readStream(response);
  const body = ((await stream.next()) ?? {}) as Record<string, unknown>;
  await stream.close();
  return { status: response.status, headers: response.headers, body, text: JSON.stringify(body) };
}

/** Starts a service and closes it after the running test. */
export async function startOwnApp(...options: Parameters<typeof startApp>): Promise<TestApp> {
  const t = await startApp(...options);
  onTestFinished(() => t.close());
  return t;
}

/** Starts a service for all tests of a file, and closes it after them. */
export async function startSharedApp(...options: Parameters<typeof startApp>): Promise<TestApp> {
  const t = await startApp(...options);
  afterAll(() => t.close());
  return t;
}

/** Starts the service with an in-memory database, a clock that stands still at 2026-01-31T12:00:00Z, and no port. */
export async function startApp(
  env: Record<string, string> = {},
  overrides: AppOverrides = {},
  telemetry: Telemetry = {},
): Promise<TestApp> {
  const clock = { now: new Date('2026-01-31T12:00:00Z') };
  const lines: string[] = [];
  const { config, secrets } = readConfig(env);
  const inMemory = env['KEYFRONT_DATA'] === undefined;
  let hex = 0;
  const app = await createApp(
    inMemory ? { ...config, databaseFile: ':memory:' } : config,
    secrets,
    createLogger('trace', { write: (line) => void lines.push(line) }, telemetry.tracer?.ids),
    {
      now: () => clock.now,
      randomHex: () => (hex += 1).toString(16).padStart(32, '0'),
      // No job during a test: its statements and log lines would depend on the duration of the test.
      jobsEveryMs: 2 ** 31 - 1,
      ...overrides,
    },
    telemetry,
  );

  const issue: TestApp['issue'] = async (kind, { orgID, expires, scopes, label = `test ${kind}` } = {}) => {
    const credentialOptions = { kind, label, orgID, expires, scopes };
    const { credential, secret } = await issueCredential(app.services.credentials, credentialOptions, clock.now);
    return { id: credential.id, secret };
  };
  const management = (await issue('management')).secret;
  const service = (await issue('service')).secret;
  const credentials = { authorization: `Bearer ${management}`, 'x-svc-authorization': service };

  const send: TestApp['send'] = async (path, init) => {
    const response = await app.fetch(new Request(`http://keyfront.test${path}`, init));
    if (isStream(response)) return firstOf(response);
    const text = await response.text();
    const isJSON = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
    const body = isJSON ? (parseJSON(text) as Record<string, unknown>) : {};
    return { status: response.status, headers: response.headers, body, text };
  };
  const json = (value: unknown) => (typeof value === 'string' ? value : stringifyJSON(value));
  const post: TestApp['post'] = (body, headers = {}) =>
    send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credentials, ...headers },
      body: json(body),
    });

  let closed: Promise<void> | undefined;
  return {
    app,
    management,
    service,
    credentials,
    logs: () => lines.join(''),
    logLines: (text) =>
      lines
        .join('')
        .split('\n')
        .filter((line) => line.includes(text))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    clock,
    issue,
    importKeys: async (...keys) => {
      const rejected: string[] = [];
      await importLines(
        app.services,
        keys.map((key) => stringifyJSON(key)),
        { orgID: undefined, passwordsAreHashed: false, policies: await app.services.policies.current() },
        { onInvalidLine: (_line, reason) => rejected.push(reason), onProgress: () => undefined },
      );
      if (rejected.length > 0) throw new Error(`A key of the test was rejected: ${rejected.join('; ')}`);
    },
    graphql: (query, variables = {}, headers) => post({ query, variables }, headers),
    post,
    graphqlByGET: (parameters, headers = {}) =>
      send(`/graphql?${new URLSearchParams(parameters)}`, { headers: { ...credentials, ...headers } }),
    preview: (definition, headers = {}) =>
      send('/api/keys/preview', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${management}`, ...headers },
        body: json(definition),
      }),
    update: (keyID, definition, query = '', headers = {}) =>
      send(`/svc/org/keys/${encodeURIComponent(keyID)}${query}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'x-svc-authorization': service, ...headers },
        body: json(definition),
      }),
    send,
    close: () => (closed ??= app.close()),
  };
}

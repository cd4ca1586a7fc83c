import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import ts from 'typescript';
import { beforeEach, describe, expect, it } from 'vitest';
import { unsupportedSettings, isTracingEnabled } from '../../../src/telemetry/tracing.js';
import { version } from '../../../src/lib/version.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { nodesOf, sourceFiles } from '../../support/source.js';
import { timersDueWithin } from '../../support/until.js';
import { createTestTelemetry, type TestSpan } from '../../support/telemetry.js';

const telemetry = createTestTelemetry();
let folder: string;
let t: TestApp;
let seen = 0;
beforeEach(async () => {
  folder = await temporaryFolder();
  t = await startOwnApp({ KEYFRONT_DATA: folder }, {}, { tracer: telemetry.tracer });
  await t.importKeys({ key_id: 'billing', org_id: 'acme', quota_max: 100 });
  seen = telemetry.spans().length;
});

const spans = (): readonly TestSpan[] => telemetry.spans().slice(seen);
const only = (name: string): TestSpan => {
  const [span, ...more] = spans().filter((candidate) => candidate.name === name);
  if (!span || more.length > 0)
    throw new Error(
      `Not one span ${name}: ${spans()
        .map((found) => found.name)
        .join()}`,
    );
  return span;
};
const parent = { traceID: '4bf92f3577b34da6a3ce929d0e0e4736', spanID: '00f067aa0ba902b7' };
const traceparent = `00-${parent.traceID}-${parent.spanID}-01`;
const update = 'mutation Mine { updateOrgKey(keyID: "billing", input: {orgID: "acme"}) { version } }';

describe('a trace', () => {
  it('continues that of the client, through the request and the operation to the disk', async () => {
    const response = await t.graphql(update, {}, { traceparent });
    const request = only('POST /graphql');
    const operation = only('GraphQL mutation');
    const commit = only('commit');
    expect(spans().map(({ traceID }) => traceID)).toEqual(spans().map(() => parent.traceID));
    expect([request.parentID, operation.parentID, commit.parentID]).toEqual([
      parent.spanID,
      request.spanID,
      operation.spanID,
    ]);
    expect(request.kind).toBe('SERVER');
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'keyfront.operation': 'updateOrgKey',
      'keyfront.verdict': 'ok',
      'keyfront.request_id': response.headers.get('x-request-id'),
    });
    expect(operation.attributes).toEqual({
      'graphql.operation.type': 'mutation',
      'keyfront.graphql.fields': ['updateOrgKey'],
    });
    expect(commit.attributes).toEqual({ 'keyfront.commit.batch_size': 1 });
  });

  it('starts in the service if the client has none, or an invalid one', async () => {
    await t.update('billing', { org_id: 'acme' });
    await t.update('billing', { org_id: 'acme' }, '', { traceparent: '00-nonsense-nonsense-01' });
    const requests = spans().filter(({ name }) => name === 'PUT /svc/org/keys/*');
    expect(requests.map(({ parentID }) => parentID)).toEqual([undefined, undefined]);
    expect(new Set(requests.map(({ traceID }) => traceID)).size).toBe(2);
  });

  it('belongs to one of many concurrent requests, though their changes share a disk sync', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, rate) => t.update('billing', { org_id: 'acme', rate })));
    const commits = spans().filter(({ name }) => name === 'commit');
    const requests = spans().filter(({ name }) => name.startsWith('PUT'));
    const pairs = commits.map(({ parentID }) => requests.filter(({ spanID }) => spanID === parentID).length);
    expect(pairs).toEqual(Array.from({ length: 8 }, () => 1));
    // How many go together depends on how the event loop divides the work.
    expect(
      Math.max(...commits.map(({ attributes }) => Number(attributes['keyfront.commit.batch_size']))),
    ).toBeGreaterThan(1);
  });

  it('S-03 names a span by the route and never by the path', async () => {
    await t.update('billing', { org_id: 'acme' });
    await t.send('/svc/org/keys/billing/quota', { method: 'POST', headers: { 'x-svc-authorization': t.service } });
    await t.send('/no/such/billing?a=billing', { method: 'PATCH' });
    await t.send('/svc/org/keys/billing', { method: 'BILLING' });
    await t.send('/health');
    expect(spans().flatMap(({ name }) => (name === 'commit' ? [] : [name]))).toEqual([
      'PUT /svc/org/keys/*',
      'POST /svc/org/keys/*/quota',
      'PATCH (other)',
      'HTTP /svc/org/keys/*',
      'GET /health',
    ]);
    expect(telemetry.sent()).not.toMatch(/billing|Mine/i);
  });

  it('marks internal errors as errors, and errors of clients by their code alone', async () => {
    await t.update('unknown', { org_id: 'acme' });
    expect(only('PUT /svc/org/keys/*')).toMatchObject({ isError: false, attributes: { 'error.type': 'NOT_FOUND' } });
    seen = telemetry.spans().length;
    const other = new Database(join(folder, 'keyfront.db'));
    other.exec('ALTER TABLE history RENAME TO history_away');
    other.close();
    await t.graphql(update);
    expect(only('POST /graphql')).toMatchObject({ isError: true, attributes: { 'error.type': 'INTERNAL' } });
    expect(only('commit')).toMatchObject({ isError: true, attributes: { 'error.type': 'INTERNAL' } });
    expect(telemetry.sent()).not.toContain('history_away');
  });

  it('has the duration of the work', async () => {
    await t.update('billing', { org_id: 'acme', basic_auth_data: { password: 'p' } });
    const request = only('PUT /svc/org/keys/*');
    expect(request.ms).toBeGreaterThan(only('commit').ms);
    expect(request.ms).toBeGreaterThan(10);
  });
});

describe('the log lines of a request', () => {
  it('have its id and those of its trace, also when written later', async () => {
    const response = await t.graphql(update, {}, { traceparent, authorization: 'Bearer kf_mgt_nonsense' });
    await timersDueWithin(60);
    const requestID = response.headers.get('x-request-id');
    const found = t.logLines(String(requestID));
    expect(found.map((line) => line['msg']).toSorted()).toEqual(['change', 'rejected', 'request']);
    for (const line of found) expect(line).toMatchObject({ trace_id: parent.traceID });
    const span = spans().find(({ spanID }) => spanID === found.find((line) => line['msg'] === 'change')?.['span_id']);
    expect(span).toBeDefined();
  });

  it('contain its operation, its outcome, and its duration', async () => {
    await t.graphql(update);
    const line = t.logLines('"msg":"request"')[0];
    expect(line).toMatchObject({ method: 'POST', route: '/graphql', operation: 'updateOrgKey', verdict: 'ok' });
    expect(line?.['ms']).toBeGreaterThan(0);
  });

  it('have no trace id without tracing', async () => {
    const plain = await startOwnApp();
    await plain.graphql('{ __typename }', {}, { traceparent });
    expect(plain.logs()).toContain('"msg":"request"');
    expect(plain.logs()).not.toContain('trace_id');
  });
});

describe('tracing that is not enabled', () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'keys' }, false],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, false],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x' }, true],
    [{ OTEL_TRACES_EXPORTER: 'console' }, true],
    [{ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ])('records no trace: %o for %s', (env, wanted) => {
    expect(isTracingEnabled(env)).toBe(wanted);
  });

  it.each<[Record<string, string>, string[]]>([
    [{}, []],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, []],
    [{ OTEL_PROPAGATORS: 'tracecontext, baggage' }, []],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_PROPAGATORS: 'b3' },
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_PROPAGATORS'],
    ],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, ['OTEL_TRACES_EXPORTER']],
  ])('reports settings that are not supported: %o', (env, names) => {
    expect(unsupportedSettings(env).map(({ name }) => name)).toEqual(names);
  });

  it('is not loaded: prom-client and OpenTelemetry are imported on start, and for types', () => {
    const importersOf = (names: RegExp) =>
      sourceFiles()
        .filter(({ imports }) => imports.some((name) => names.test(name)))
        .filter(({ tree }) =>
          nodesOf(tree).some(
            (node) =>
              (ts.isImportDeclaration(node) &&
                names.test(node.moduleSpecifier.getText()) &&
                node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) ||
              (ts.isExportDeclaration(node) && names.test(node.moduleSpecifier?.getText() ?? '')),
          ),
        )
        .map(({ path }) => path)
        .toSorted();
    expect(importersOf(/prom-client|@opentelemetry\//)).toEqual([
      'telemetry/aggregate.ts',
      'telemetry/metrics.ts',
      'telemetry/open-telemetry.ts',
    ]);
    expect(importersOf(/telemetry\/aggregate\.js/)).toEqual(['cli/serve/worker-metrics.ts']);
    expect(importersOf(/telemetry\/metrics\.js|open-telemetry\.js|worker-metrics\.js/)).toEqual([]);
  });
});

describe('the version that metrics and traces name', () => {
  it('is that of package.json', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(version).toBe(manifest.version);
  });
});

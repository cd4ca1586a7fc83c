import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Running } from '../../support/process.js';
import { useProcesses } from '../../support/processes.js';

const { start } = useProcesses();

const metricsURL = (one: Running) => /"url":"(http:[^"]+\/metrics)"/.exec(one.stderr())?.[1] ?? '';

/** Records the requests to a collector of traces. */
async function startCollector(): Promise<{ endpoint: string; received: () => string; server: Server }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(`${request.url} ${Buffer.concat(chunks).toString('latin1')}`);
      response.writeHead(200, { 'content-type': request.headers['content-type'] ?? '' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, received: () => bodies.join('\n'), server };
}

describe('metrics of a process', () => {
  it('are served at their own port, which serves nothing else, and not at that of the service', async () => {
    const one = await start([], { KEYFRONT_METRICS_PORT: '0' });
    // Standard output, which ends the start, may arrive before standard error.
    await one.untilLogged('"msg":"listening"');
    const url = metricsURL(one);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    await fetch(`${one.url}/health`);
    const result = await fetch(url);
    expect([result.status, result.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    const text = await result.text();
    expect(text).toContain('keyfront_requests_total{face="health",operation="other",verdict="ok"} 1');
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toContain('keyfront_build_info{version="');
    expect((await fetch(new URL('/graphql', url), { method: 'POST' })).status).toBe(404);
    expect((await fetch(new URL('/', url))).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${one.url}/metrics`)).status).toBe(404);
    one.signal('SIGTERM');
    expect(await one.exited).toEqual({ code: 0, signal: null });
  });

  it('are not measured by default, and a port in use prevents the start', async () => {
    const one = await start();
    await one.untilLogged('"msg":"listening"');
    expect(metricsURL(one)).toBe('');
    const { port } = new URL(one.url);
    const twice = start([], { KEYFRONT_METRICS_PORT: port }, 'other');
    await expect(twice).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set KEYFRONT_METRICS_PORT to another port.`,
    );
  });
});

describe('traces of a process', () => {
  it('reach the collector of the standard variables, the last ones when the service stops', async () => {
    const { endpoint, received, server } = await startCollector();
    const one = await start([], { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'keys-of-acme' });
    const traceID = '4bf92f3577b34da6a3ce929d0e0e4736';
    await fetch(`${one.url}/graphql?a=canary-query`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer canary-token',
        traceparent: `00-${traceID}-00f067aa0ba902b7-01`,
      },
      body: JSON.stringify({ query: '{ __typename }', operationName: null }),
    });
    await fetch(`${one.url}/svc/org/keys/canary-key`);
    one.signal('SIGTERM');
    expect(await one.exited).toEqual({ code: 0, signal: null });
    server.close();
    expect(received()).toMatch(/^\/v1\/traces /);
    for (const name of ['POST /graphql', 'GraphQL query', 'GET /svc/org/keys/*', 'keys-of-acme', 'service.version']) {
      expect(received()).toContain(name);
    }
    expect(received()).toContain(Buffer.from(traceID, 'hex').toString('latin1'));
    expect(received()).not.toMatch(/canary|__typename|\/v1\/(metrics|logs)|process\.command|host\.name/);
    expect(one.stderr()).toContain(`"trace_id":"${traceID}"`);
  });

  it('delay nothing when the collector never responds, neither requests nor the stop', async () => {
    const silent = createSocketServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const one = await start([], { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);
    const before = performance.now();
    one.signal('SIGTERM');
    expect(await one.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - before).toBeLessThan(10_000);
    silent.close();
  });

  it('that cannot be sent are reported in the log, without the content of the address', async () => {
    const endpoint = Object.assign(new URL('http://127.0.0.1:1'), { username: 'ada', password: 'canary' });
    const one = await start([], {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.href,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=canary-header',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    await fetch(`${one.url}/ready`);
    await one.untilLogged('traces cannot be sent');
    expect(one.stderr() + one.stdout()).not.toContain('canary');
  });
});

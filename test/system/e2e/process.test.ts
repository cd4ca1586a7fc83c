import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { readResponse, raw, start, type Running } from '../../support/process.js';

let main: string;
beforeAll(async () => {
  main = await buildMain();
}, 120_000);

const kill = async (one: Running) => {
  one.signal('SIGKILL');
  await one.exited;
};

/** A process that the tests of a group share. */
function sharedProcess(args: string[] = []): () => Running {
  let own: string;
  let one: Running;
  beforeAll(async () => {
    own = await mkdtemp(join(tmpdir(), 'keyfront-e2e-'));
    one = await start(main, join(own, 'data'), args);
  });
  afterAll(async () => {
    await kill(one);
    await rm(own, { recursive: true });
  });
  return () => one;
}

let folder: string;
let running: Running[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-e2e-'));
});
afterEach(async () => {
  await Promise.all(running.map(kill));
  running = [];
  await rm(folder, { recursive: true });
});

async function started(args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const one = await start(main, join(folder, 'data'), args, env);
  running.push(one);
  return one;
}

async function stopped(one: Running) {
  one.signal('SIGTERM');
  return one.exited;
}

const tokensIn = (text: string) => ({
  management: /kf_mgt_\w{38}/.exec(text)?.[0] ?? '',
  service: /kf_svc_\w{38}/.exec(text)?.[0] ?? '',
});

/** Does what a printed `curl` command would do. */
async function curl(command: string): Promise<Response> {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );
  const after = (option: string) => words.flatMap((word, index) => (words[index - 1] === option ? [word] : []));
  const headers = after('-H').map((header): [string, string] => {
    const [name = '', value = ''] = header.split(/: (.*)/s);
    return [name, value];
  });
  const [url = ''] = words.filter((word) => word.startsWith('http'));
  return fetch(url, { method: 'POST', headers, body: after('-d')[0] ?? '' });
}

describe('the first start', () => {
  it('prints one credential of each kind and commands that work as printed', async () => {
    const { stdout, stderr, url } = await started();
    const { management, service } = tokensIn(stdout());
    expect(management).not.toBe('');
    expect(service).not.toBe('');
    expect(stdout()).toContain(`GraphiQL:  ${url}/`);
    expect(stdout()).toContain(`REST API:  ${url}/docs`);
    expect(stdout()).toContain(`Console:   ${url}/console`);

    const commands = [...stdout().matchAll(/curl -s (?:[^\n]*\\\n)+[^\n]*/g)].map(([command]) => command);
    expect(commands).toHaveLength(2);
    const [rest, graphql] = await Promise.all(commands.map(curl));
    expect(rest?.status).toBe(200);
    expect(await rest?.json()).toMatchObject({ data: { alias: 'Billing', org_id: 'acme', per: 60, rate: 100 } });
    expect(graphql?.status).toBe(200);
    expect(await graphql?.json()).toMatchObject({
      data: { previewKey: { keyID: expect.stringMatching(/^acme[0-9a-f]{32}$/) } },
    });
    expect(stderr()).not.toContain(management);
    expect(stderr()).not.toContain(service);
  });

  it('logs one line with the version, the address and the data folder', async () => {
    const { stderr, url } = await started();
    const start = /^\{.*"msg":"listening".*\}$/m.exec(stderr())?.[0] ?? '{}';
    expect(JSON.parse(start)).toMatchObject({
      level: 'info',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      url,
      production: false,
      workers: 1,
      storage: 'sqlite',
      data: expect.stringMatching(/^\//) as string,
      quota: 'database',
    });
  });

  it('prints only served addresses in production, and none that cannot be opened', async () => {
    const { stdout } = await started([], { NODE_ENV: 'production', HOST: '0.0.0.0' });
    const advertised = [...stdout().matchAll(/https?:\/\/[^\s']+/g)].map(([url]) => url);
    const [listening = '', ...others] = advertised;
    expect(new URL(listening).hostname).toBe('0.0.0.0');
    expect(others.map((url) => new URL(url).hostname)).toEqual(others.map(() => '127.0.0.1'));
    const statuses = await Promise.all(others.map(async (url) => `${url} ${(await fetch(url)).status}`));
    expect(statuses.filter((status) => status.endsWith(' 404'))).toEqual([]);
    expect(stdout()).toContain('KEYFRONT_GRAPHIQL=on');
    expect(stdout()).not.toMatch(/GraphiQL: |REST API: |Console: /);
  });

  it('creates with --sample the keys that the printed update finds', async () => {
    const { stdout, url } = await started(['--sample']);
    expect(stdout()).toContain('Sample keys: 3 imported, 0 skipped (already exist). Try acme-billing.');
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': tokensIn(stdout()).service };
    const response = await fetch(`${url}/svc/org/keys/acme-billing?reset_quota=1`, {
      method: 'PUT',
      headers,
      body: '{"quota_max":5}',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ action: 'modified', status: 'ok', key: 'acme-billing' });
  });

  it('creates no keys without --sample', async () => {
    const { stdout, url } = await started();
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': tokensIn(stdout()).service };
    expect((await fetch(`${url}/svc/org/keys/acme-billing`, { method: 'PUT', headers, body: '{}' })).status).toBe(404);
  });
});

describe('a later start', () => {
  it('prints no credential, and accepts those of the first start', async () => {
    const first = await started(['--sample']);
    const { management } = tokensIn(first.stdout());
    await stopped(first);
    const second = await started(['--sample']);
    expect(second.stdout()).toContain(
      `Sample keys: 0 imported, 3 skipped (already exist). Try acme-billing.\nKeyfront listens on ${second.url}\n`,
    );
    expect(second.stdout()).toContain(`GraphiQL:  ${second.url}/`);
    expect(second.stdout()).toContain('npx keyfront credentials issue --kind service');
    expect(second.stdout()).not.toContain('kf_');
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${management}` };
    expect((await fetch(`${second.url}/api/keys/preview`, { method: 'POST', headers, body: '{}' })).status).toBe(200);
  });

  it('D-02 finds every acknowledged update after the process was killed', async () => {
    const first = await started(['--sample']);
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': tokensIn(first.stdout()).service };
    const put = async ({ url }: Running, alias: string) => {
      const body = JSON.stringify({ alias });
      const response = await fetch(`${url}/svc/org/keys/acme-billing`, { method: 'PUT', headers, body });
      return response.headers.get('etag');
    };
    for (const version of [2, 3, 4, 5, 6]) expect(await put(first, `alias ${version}`)).toBe(`"${version}"`);
    first.signal('SIGKILL');
    expect(await first.exited).toStrictEqual({ code: null, signal: 'SIGKILL' });
    expect(await put(await started(), 'alias 7')).toBe('"7"');
  });

  it('prints the credentials that were not shown, after a start that failed at its port with a message', async () => {
    const { port } = await started();
    const other = join(folder, 'other');
    await expect(start(main, other, [], { PORT: String(port) })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set PORT to another port.\n`,
    );
    const second = await start(main, other);
    running.push(second);
    expect(tokensIn(second.stdout()).management).not.toBe('');
  });
});

async function isRejected(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

describe('SIGTERM', () => {
  it('O-01 completes requests in progress, accepts no new ones, closes the database and exits with 0', async () => {
    const one = await started(['--sample']);
    const { service } = tokensIn(one.stdout());
    const body = '{"alias":"in flight"}';
    const half = body.length / 2;
    const sockets = ['acme-billing', 'acme-mobile', 'globex-reports'].map((key) => {
      const socket = connect(one.port, '127.0.0.1');
      socket.write(
        `PUT /svc/org/keys/${key} HTTP/1.1\r\nHost: x\r\nX-Svc-Authorization: ${service}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
      );
      return socket;
    });
    const idle = connect(one.port, '127.0.0.1');
    await Promise.all([...sockets, idle].map(async (socket) => once(socket, 'connect')));
    // A response shows that the ones sent before it have arrived.
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);

    one.signal('SIGTERM');
    await one.untilLogged('stopping');
    await expect.poll(() => isRejected(one.port)).toBe(true);
    for (const socket of sockets) socket.write(body.slice(half));
    const responses = await Promise.all(sockets.map(readResponse));
    for (const result of responses) {
      expect(result).toMatch(/^HTTP\/1\.1 200 /);
      expect(result).toMatch(/^connection: close\r$/im);
      expect(result).toContain('"status":"ok"');
    }
    expect(await one.exited).toStrictEqual({ code: 0, signal: null });
    expect((await readdir(join(folder, 'data'))).sort()).toStrictEqual(['key-ring.json', 'keyfront.db']);
  });

  // The limit is that of a wait for something: requests that are never finished are given up only after 8 seconds.
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'does not wait for idle connections, and neither does %s',
    async (signal) => {
      const one = await started();
      const silent = connect(one.port, '127.0.0.1');
      await once(silent, 'connect');
      expect((await fetch(`${one.url}/ready`)).status).toBe(200);
      one.signal(signal);
      expect(await one.exited).toStrictEqual({ code: 0, signal: null });
      silent.destroy();
    },
    7_000,
  );
});

describe('the server', () => {
  const shared = sharedProcess(['--sample']);
  let one: Running;
  let tokens: ReturnType<typeof tokensIn>;
  beforeAll(() => {
    one = shared();
    tokens = tokensIn(one.stdout());
  });
  const statusOf = (result: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(result)?.[1]);

  it('responds at /health and /ready, and at no path that only ends like them', async () => {
    expect(await (await fetch(`${one.url}/health`)).text()).toBe('ok\n');
    expect(await (await fetch(`${one.url}/ready`)).text()).toBe('ready\n');
    for (const path of [
      '/api/health',
      '/health/',
      '/x/ready',
      '/graphql/health',
      '/Health',
      '/graphql/unused',
      '/nothing?x=/health',
    ]) {
      expect(`${path} ${(await fetch(`${one.url}${path}`, { method: 'DELETE' })).status}`).toBe(`${path} 404`);
    }
  });

  it('A-03 rejects a credential header that is sent twice, whichever of the two is valid', async () => {
    const preview = (...values: string[]) =>
      raw(
        one.port,
        `POST /api/keys/preview HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${values
          .map((value) => `Authorization: ${value}\r\n`)
          .join('')}\r\n{}`,
      );
    const update = (...values: string[]) =>
      raw(
        one.port,
        `PUT /svc/org/keys/acme-billing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${values
          .map((value) => `X-Svc-Authorization: ${value}\r\n`)
          .join('')}\r\n{}`,
      );
    const bearer = `Bearer ${tokens.management}`;
    expect(statusOf(await preview(bearer))).toBe(200);
    expect(statusOf(await update(tokens.service))).toBe(200);
    for (const values of [
      [bearer, bearer],
      [bearer, 'x'],
      ['x', bearer],
      [bearer, ''],
      ['', bearer],
    ]) {
      expect(`${values.length} ${statusOf(await preview(...values))}`).toBe('2 401');
    }
    for (const values of [
      [tokens.service, tokens.service],
      [tokens.service, 'x'],
      ['x', tokens.service],
    ]) {
      expect(statusOf(await update(...values))).toBe(401);
    }
  });

  it.each([
    '/svc/org/keys/%2e%2e',
    '/svc/org/keys/%2E%2e/keys/acme-billing',
    '/svc/org/keys/.%2e',
    '/svc/org/keys/../keys/acme-billing',
    '/svc/./org/keys/acme-billing',
    '/svc/%2e/org/keys/acme-billing',
    '//svc/org/keys/acme-billing',
    '/svc//org/keys/acme-billing',
    '/svc/org/keys//acme-billing',
    '/svc/org/keys\\acme-billing',
    'svc/org/keys/acme-billing',
    'http://other.example/svc/org/keys/acme-billing',
    '*',
  ])('R-01 rejects the target %s with 400 and changes no key', async (target) => {
    const version = async () => {
      const headers = { 'x-svc-authorization': tokens.service };
      return (await fetch(`${one.url}/svc/org/keys/acme-billing`, { headers })).headers.get('etag');
    };
    const before = await version();
    expect(before).toMatch(/^"\d+"$/);
    const body = JSON.stringify({ alias: `sent to ${target}` });
    const result = await raw(
      one.port,
      `PUT ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Svc-Authorization: ${tokens.service}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    expect(statusOf(result)).toBe(400);
    expect(await version()).toBe(before);
  });

  it('accepts dots in a key identifier that are no dot segment', async () => {
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': tokens.service };
    for (const key of ['...', 'a..b', '.a', '%2e%2e%2e']) {
      expect((await fetch(`${one.url}/svc/org/keys/${key}`, { method: 'PUT', headers, body: '{}' })).status).toBe(404);
    }
  });

  it('rejects a body over the limit as too large for every announced length, and continues', async () => {
    const head = `POST /api/keys/preview HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${tokens.management}\r\nContent-Type: application/json\r\n`;
    expect(statusOf(await raw(one.port, `${head}Content-Length: 999999999\r\n\r\n{`))).toBe(413);
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    expect(statusOf(await raw(one.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`))).toBe(
      413,
    );
    expect((await fetch(`${one.url}/ready`)).status).toBe(200);
  });

  it('S-02 writes one log line for a request and one for its change, without the key identifier or a credential', async () => {
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': tokens.service };
    const response = await fetch(`${one.url}/svc/org/keys/acme-billing`, {
      method: 'PUT',
      headers,
      body: '{"alias":"x"}',
    });
    const requestID = String(response.headers.get('x-request-id'));
    await one.untilLogged(requestID);
    const lines = one
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const own = lines.filter((line) => line['requestID'] === requestID);
    expect(own).toMatchObject([
      { level: 'info', event: 'change', operation: 'updateOrgKey', verdict: 'accepted' },
      { level: 'info', method: 'PUT', route: '/svc/org/keys/*', status: 200 },
    ]);
    expect(one.stderr()).not.toContain('acme-billing');
    expect(one.stderr()).not.toContain(tokens.service);
  });
});

describe('GraphiQL on a running service', () => {
  const shared = sharedProcess();
  let one: Running;
  beforeAll(() => {
    one = shared();
  });

  async function get(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ response: IncomingMessage; body: Buffer }> {
    const requested = request(`${one.url}${path}`, { headers });
    requested.end();
    const [response] = (await once(requested, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { response, body: Buffer.concat(chunks) };
  }

  /** The page with all that it loads. */
  async function whole(headers: Record<string, string> = {}): Promise<Buffer> {
    const parts = ['page.css', 'page.js', 'icon.svg', 'graphiql.css', 'graphiql.js'];
    const workers = ['graphql', 'json', 'editorWorkerService'].map((name) => `${name}.worker.js`);
    const paths = ['/', ...[...parts, ...workers].map((name) => `/graphiql/${name}`)];
    return Buffer.concat(await Promise.all(paths.map(async (path) => (await get(path, headers)).body)));
  }

  it('is served at the root, and a browser at /graphql is redirected to it', async () => {
    const { response, body } = await get('/', { accept: 'text/html' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body.toString('utf8')).toMatch(/^\s*<!doctype html>/);
    const script = await get('/graphiql/page.js');
    for (const text of ['previewKey', 'updateOrgKey', 'Authorization', 'X-Svc-Authorization'])
      expect(script.body.includes(text)).toBe(true);
    const moved = await get('/graphql', { accept: 'text/html' });
    expect([moved.response.statusCode, moved.response.headers.location]).toStrictEqual([302, '/']);
  });

  it('is compressed if the browser accepts that, and not sent again if the browser has it', async () => {
    const path = '/graphiql/graphiql.js';
    const plain = await get(path);
    const packed = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    expect(packed.response.headers['content-encoding']).toBe('br');
    expect(packed.response.headers.vary).toBe('accept-encoding');
    expect(brotliDecompressSync(packed.body).equals(plain.body)).toBe(true);
    const sizes = [await whole({ 'accept-encoding': 'br' }), await whole({ 'accept-encoding': 'gzip' }), await whole()];
    const [br = 0, gzip = 0, raw = 0] = sizes.map(({ length }) => length);
    expect([br < 2_500_000, gzip < 2_700_000, raw > 8_000_000]).toEqual([true, true, true]);

    const etag = String((await get('/')).response.headers.etag);
    expect(etag).toMatch(/^"[0-9a-f]+"$/);
    const again = await get('/', { 'if-none-match': etag });
    expect([again.response.statusCode, again.body.length]).toStrictEqual([304, 0]);
    expect((await get('/', { 'if-none-match': '"other"' })).response.statusCode).toBe(200);
  });

  it('G-22 requests nothing from other hosts: its policy forbids it, and nothing in the page tries', async () => {
    const { response, body } = await get('/');
    // The policy is what counts: with it, a browser sends requests to this origin only.
    const policy = String(response.headers['content-security-policy']);
    const sources = policy.split(';').flatMap((directive) => directive.trim().split(/\s+/).slice(1));
    const own = ["'none'", "'self'", "'unsafe-inline'", 'data:'];
    expect(sources.filter((source) => !own.includes(source))).toStrictEqual([]);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/connect-src 'self'(;|$)/);

    expect(
      body
        .toString('utf8')
        .match(
          /<(script|link|img|iframe|object|embed|base|form|a)\b[^>]*\b(src|href|action|data)\s*=\s*["']?(https?:)?\/\/[^>]*>/gi,
        ),
    ).toBeNull();
    const loads =
      /(?:\b(?:fetch|import|importScripts|Worker|SharedWorker|WebSocket|EventSource|XMLHttpRequest)\s*\(\s*|\.open\(\s*["'`][A-Z]+["'`]\s*,\s*|@import\s*(?:url\()?\s*|\burl\(\s*)["'`]?(?:https?:|wss?:)?\/\/[^\s"'`)]{4,}/g;
    expect((await whole()).toString('utf8').match(loads)).toBeNull();
  });

  it('contains only hosts of namespaces, examples and documents', async () => {
    const page = (await whole()).toString('utf8');
    const hosts = new Set([...page.matchAll(/\bhttps?:\/\/([a-z0-9.-]+\.[a-z]{2,})/gi)].map(([, host]) => host));
    const known = [
      'www.w3.org',
      'json-schema.org',
      'lists.w3.org',
      'www.example.com',
      'dummyhostname.com',
      '24ways.org',
      'code.visualstudio.com',
      'commonmark.org',
      'en.wikipedia.org',
      'github.com',
      'microsoft.com',
      'prettier.io',
      'radix-ui.com',
      'react.dev',
      'www.onegraph.com',
      'www.rapidtables.com',
      'yarnpkg.com',
    ];
    expect([...hosts].filter((host) => !known.includes(String(host)))).toStrictEqual([]);
  });

  it('G-22 is off in production unless it is enabled', async () => {
    const production = await started([], { NODE_ENV: 'production' });
    expect((await fetch(`${production.url}/`, { headers: { accept: 'text/html' } })).status).toBe(404);
    const on = await started([], { NODE_ENV: 'production', KEYFRONT_GRAPHIQL: 'on' });
    expect((await fetch(`${on.url}/`, { headers: { accept: 'text/html' } })).status).toBe(200);
  });
});

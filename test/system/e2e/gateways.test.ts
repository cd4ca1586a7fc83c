import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { freePort } from '../../support/free-port.mjs';
import { start, type Running } from '../../support/process.js';
import { describeWith } from '../../support/programs.js';
import { until } from '../../support/until.js';

// Gateways that ask the service about each request, with the files of docs/deploy/gateway.

const deploy = new URL('../../../docs/deploy/gateway/', import.meta.url);

/** What the upstream of the gateway has received. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let folder: string;
let main: string;
let port: number;
let service: Running;
let admin: string;
let credential: string;
let upstream: Server;
let received: Received[] = [];

const startService = () => start(main, join(folder, 'data'), ['serve'], { PORT: String(port) });
const stopService = async () => {
  service.signal('SIGTERM');
  await service.exited;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-gateway-'));
  main = await buildMain();
  port = await freePort();
  service = await startService();
  admin = /kf_svc_\w+/.exec(service.stdout())?.[0] ?? '';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'credentials', 'issue', '--kind', 'service', '--label', 'gateway', '--scopes', 'verify'],
    { env: { PATH: process.env['PATH'], KEYFRONT_DATA: join(folder, 'data') } },
  );
  credential = /kf_svc_\w+/.exec(stdout)?.[0] ?? '';
  expect(credential).not.toBe('');
  upstream = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body });
      response.end('from the upstream');
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(async () => {
  await stopService();
  upstream.close();
  upstream.closeAllConnections();
  await rm(folder, { recursive: true });
});

async function configure(name: string, replacements: Readonly<Record<string, string>>): Promise<string> {
  let configuration = await readFile(new URL(name, deploy), 'utf8');
  for (const [old, next] of Object.entries(replacements)) {
    expect(configuration).toContain(old);
    configuration = configuration.replaceAll(old, next);
  }
  await writeFile(join(folder, name), configuration);
  return join(folder, name);
}

interface Gateway {
  readonly url: string;
  readonly child: ChildProcess;
}

async function launch(command: string, args: readonly string[], url: string): Promise<Gateway> {
  const env = {
    PATH: `${process.env['PATH']}:/usr/sbin`,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    KEYFRONT_CREDENTIAL: credential,
  };
  const child = spawn(command, args, { env, stdio: 'ignore' });
  await until(
    () =>
      fetch(`${url}/invoices/1`).then(
        ({ status }) => status === 401,
        () => false,
      ),
    `${command} asks the service`,
  );
  return { url, child };
}

const addresses = () => ({
  '127.0.0.1:4000': `127.0.0.1:${port}`,
  '127.0.0.1:8080': `127.0.0.1:${(upstream.address() as AddressInfo).port}`,
});

async function startNginx(): Promise<Gateway> {
  const [own, limits] = [await freePort(), `127.0.0.1:${await freePort()}`];
  const [service, target] = Object.entries(addresses()).map(([from, to]) => ({ [from]: to }));
  const behind = await configure('nginx-limits.conf', { ...target, '127.0.0.1:8081;': `${limits};` });
  const site = await configure('nginx.conf', {
    ...service,
    '127.0.0.1:8080': limits,
    'listen 80': `listen 127.0.0.1:${own}`,
    'kf_svc_…': credential,
    // A request that the gateway gives up on a busy machine is counted, and not granted.
    'proxy_connect_timeout 1s': 'proxy_connect_timeout 60s',
    'proxy_read_timeout 5s': 'proxy_read_timeout 60s',
  });
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join(' ');
  // Its workers write bodies into the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const text = `daemon off; ${user} pid ${folder}/nginx.pid; events {} http { access_log off; ${folders} include ${site}; include ${behind}; }`;
  await writeFile(join(folder, 'main.conf'), text);
  const args = ['-c', join(folder, 'main.conf'), '-e', join(folder, 'nginx.log')];
  return launch('nginx', args, `http://127.0.0.1:${own}`);
}

async function startCaddy(): Promise<Gateway> {
  const own = await freePort();
  const file = await configure('Caddyfile', {
    ...addresses(),
    'api.example.com {': `{\n\tadmin off\n}\nhttp://127.0.0.1:${own} {\n\tbind 127.0.0.1`,
  });
  return launch('caddy', ['run', '--adapter', 'caddyfile', '--config', file], `http://127.0.0.1:${own}`);
}

const suite = (name: string, startGateway: () => Promise<Gateway>) => () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(async () => {
    gateway.child.kill('SIGTERM');
    await once(gateway.child, 'exit');
  });
  const send = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(`${gateway.url}${path}`, { headers, redirect: 'manual', ...init });
    await response.text();
    return response;
  };
  const statusOf = async (path: string, key: string, init?: RequestInit) =>
    (await send(path, { 'x-api-key': key }, init)).status;
  const change = async (method: string, key: string, definition: object) => {
    const response = await fetch(`${service.url}/svc/org/keys/${key}`, {
      method,
      headers: { 'x-svc-authorization': admin, 'content-type': 'application/json' },
      body: JSON.stringify(definition),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  };
  const create = (key: string, definition: object = {}) =>
    change('POST', key, {
      org_id: 'acme',
      access_rights: { invoices: { allowed_urls: [{ url: '/invoices/\\d+$', methods: ['GET', 'POST'] }] } },
      ...definition,
    });

  it('lets a request with a key through, with what the upstream may know of it', async () => {
    const key = `${name}-one`;
    await create(key, { rate: 10, per: 60, quota_max: 9, quota_renewal_rate: 3600 });
    received = [];
    expect(await statusOf('/invoices/7?x=%20y', key)).toBe(200);
    expect(received).toMatchObject([{ method: 'GET', url: '/invoices/7?x=%20y' }]);
    expect(received[0]?.headers).toMatchObject({
      'x-key-org': 'acme',
      'x-key-hash': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      'x-key-remaining': '8',
      'x-key-renews': expect.stringMatching(/^\d{10}$/) as string,
      'x-key-rate': '10',
      'x-key-per': '60',
    });
    expect(JSON.stringify(received[0])).not.toMatch(new RegExp(`${key}|kf_svc_`));
  });

  it('passes the body of a request on, and asks without it', async () => {
    const key = `${name}-body`;
    await create(key);
    received = [];
    const body = 'x'.repeat(300_000);
    expect(await statusOf('/invoices/7', key, { method: 'POST', body })).toBe(200);
    expect(received).toMatchObject([{ method: 'POST', body }]);
  });

  it('denies what the key may not do, and asks for a key', async () => {
    const key = `${name}-denied`;
    await create(key);
    await create(`${name}-other`, { access_rights: { orders: {} } });
    received = [];
    const none = await send('/invoices/7');
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([
      401,
      'ApiKey realm="api", header="x-api-key"',
    ]);
    expect(await statusOf('/invoices/7', 'unknown')).toBe(401);
    expect(await statusOf('/invoices/7', `${name}-other`)).toBe(403);
    expect(await statusOf('/invoices/all', key)).toBe(403);
    expect(await statusOf('/invoices/7', key, { method: 'PUT' })).toBe(403);
    expect(received).toEqual([]);
  });

  it('takes nothing from the client that the gateway states', async () => {
    const key = `${name}-spoofed`;
    await create(key, { quota_max: 100 });
    received = [];
    const spoofed = {
      'x-api-key': key,
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/invoices/7',
      'x-svc-authorization': admin,
      'x-request-id': 'mine',
      'x-key-org': 'globex',
      'x-key-remaining': '1000',
      'x-key-alias': 'boss',
    };
    expect((await send('/invoices/all', spoofed)).status).toBe(403);
    expect((await send('/invoices/7', spoofed, { method: 'PUT' })).status).toBe(403);
    for (let n = 0; n < 2; n += 1) expect((await send('/invoices/7', spoofed)).status).toBe(200);
    expect(received.map(({ headers }) => [headers['x-key-org'], headers['x-key-remaining']])).toEqual([
      ['acme', '99'],
      ['acme', '98'],
    ]);
  });

  it('grants exactly the quota to 64 clients', async () => {
    const key = `${name}-quota`;
    await create(key, { quota_max: 200, quota_renewal_rate: 3600 });
    let left = 320;
    const statuses = new Map<number, number>();
    const client = async () => {
      while (left > 0) {
        left -= 1;
        const status = await statusOf('/invoices/7', key);
        // On a busy machine the service rejects what has waited too long, and counts none of it.
        if (status === 503) left += 1;
        else statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
    expect(Object.fromEntries(statuses)).toEqual({ 200: 200, 429: 120 });
    const denied = await send('/invoices/7', { 'x-api-key': key });
    expect([denied.status, Number(denied.headers.get('retry-after')) > 3000]).toEqual([429, true]);
  });

  const itOfNginx = (title: string, test: () => Promise<void>) => name === 'nginx' && it(title, test);
  itOfNginx('limits the rate of each key with the second server', async () => {
    for (const key of ['fast', 'slow-1', 'slow-2']) {
      await create(key, { rate: key === 'fast' ? 1000 : 10, per: 60 });
      const statuses = [];
      for (let n = 0; n < 12; n += 1) statuses.push(await statusOf('/invoices/7', key));
      // A slow machine may take the six seconds in which one more is allowed.
      const limited = statuses.filter((status) => status === 429).length;
      expect(limited > 0).toBe(key !== 'fast');
      expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 200));
    }
  });

  it('denies a key from the moment that it is changed, and when it expires', async () => {
    const key = `${name}-changed`;
    await create(key);
    for (let n = 0; n < 3; n += 1) {
      expect(await statusOf('/invoices/7', key)).toBe(200);
      await change('PATCH', key, { is_inactive: true });
      expect(await statusOf('/invoices/7', key)).toBe(403);
      await change('PATCH', key, { is_inactive: false });
    }
    await change('PATCH', key, { expires: Math.floor(Date.now() / 1000) + 2 });
    await until(async () => (await statusOf('/invoices/7', key)) === 401, 'the key expires');
    await change('PATCH', key, { expires: 0 });
    expect(await statusOf('/invoices/7', key)).toBe(200);
  });

  it('lets nothing through while the service is stopped, and continues after its start', async () => {
    const key = `${name}-stopped`;
    await create(key, { quota_max: 3 });
    expect(await statusOf('/invoices/7', key)).toBe(200);
    await stopService();
    received = [];
    for (let n = 0; n < 3; n += 1) expect(await statusOf('/invoices/7', key)).toBe(503);
    expect(received).toEqual([]);
    service = await startService();
    await until(async () => (await statusOf('/invoices/7', key)) === 200, 'the gateway reaches the service');
    expect(await statusOf('/invoices/7', key)).toBe(200);
    expect(await statusOf('/invoices/7', key)).toBe(429);
  });
};

describeWith('nginx', 'nginx', 'nginx', suite('nginx', startNginx));
describeWith('caddy', 'caddy', 'Caddy', suite('caddy', startCaddy));

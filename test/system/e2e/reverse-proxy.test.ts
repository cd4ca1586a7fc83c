import { request as httpsRequest } from 'node:https';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildMain } from '../../support/build.mjs';
import { freePort } from '../../support/free-port.mjs';
import { certificate, writeTLSFiles, type TLSFixture } from '../../support/localhost-tls.js';
import { start, type Running } from '../../support/process.js';
import { describeWith } from '../../support/programs.js';
import { until } from '../../support/until.js';
import { connectSocket } from '../../support/websocket.js';

// The service behind nginx and Caddy, with the files of docs/deploy.

const deploy = new URL('../../../docs/deploy/', import.meta.url);

interface Proxy {
  readonly url: string;
  readonly child: ChildProcess;
}

interface Call {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The address of the client. */
  readonly from?: string;
}

/** Sends a request and resolves when its headers arrive. */
async function send(url: string, { path, from, body, ...options }: Call): Promise<IncomingMessage> {
  const { protocol, hostname, port } = new URL(url);
  const start = protocol === 'https:' ? httpsRequest : httpRequest;
  const request = start({
    hostname,
    port,
    path,
    ca: certificate,
    servername: 'localhost',
    localAddress: from,
    ...options,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

let folder: string;
let tls: TLSFixture;
let service: Running;
let secret: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-proxy-'));
  tls = writeTLSFiles();
  service = await start(await buildMain(), join(folder, 'data'), ['serve', '--sample'], {
    KEYFRONT_TRUSTED_PROXIES: '1',
  });
  secret = /kf_svc_\w+/.exec(service.stdout())?.[0] ?? '';
});
afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  tls.remove();
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

async function launch(command: string, args: readonly string[], url: string): Promise<Proxy> {
  const env = {
    PATH: `${process.env['PATH']}:/usr/sbin`,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const child = spawn(command, args, { env, stdio: 'ignore' });
  await until(
    () =>
      send(url, { path: '/health' }).then(
        (response) => response.resume().statusCode === 200,
        () => false,
      ),
    `${command} listens`,
  );
  return { url, child };
}

async function startNginx(): Promise<Proxy> {
  const port = await freePort();
  const site = await configure('nginx.conf', {
    '127.0.0.1:4000': `127.0.0.1:${service.port}`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/keyfront/fullchain.pem': tls.certFile,
    '/etc/ssl/keyfront/privkey.pem': tls.keyFile,
  });
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/nginx-${name};`)
    .join(' ');
  const main = `daemon off; pid ${folder}/nginx.pid; events {} http { access_log off; ${folders} include ${site}; }`;
  await writeFile(join(folder, 'main.conf'), main);
  return launch(
    'nginx',
    ['-c', join(folder, 'main.conf'), '-e', join(folder, 'nginx.log')],
    `https://127.0.0.1:${port}`,
  );
}

async function startCaddy(): Promise<Proxy> {
  const port = await freePort();
  // Over plain HTTP and without its administration port, which would be the same for every test run.
  const file = await configure('Caddyfile', {
    '127.0.0.1:4000': `127.0.0.1:${service.port}`,
    'keys.example.com {': `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {\n\tbind 127.0.0.1`,
  });
  return launch('caddy', ['run', '--adapter', 'caddyfile', '--config', file], `http://127.0.0.1:${port}`);
}

const suite = (startProxy: () => Promise<Proxy>) => () => {
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy();
  });
  afterAll(async () => {
    proxy.child.kill('SIGTERM');
    await once(proxy.child, 'exit');
  });
  const authorized = () => ({ 'x-svc-authorization': secret, 'content-type': 'application/json' });

  it('forwards paths unchanged, and the credential', async () => {
    const name = `a?b ${new URL(proxy.url).port}`;
    const created = await send(proxy.url, {
      path: `/svc/org/keys/${encodeURIComponent(name)}`,
      method: 'POST',
      headers: authorized(),
      body: '{"alias":"Question","org_id":"acme"}',
    });
    expect([created.statusCode, JSON.parse(await text(created))]).toMatchObject([200, { key: name }]);
  });

  it('delivers each event of a subscription at once', async () => {
    const stream = await send(proxy.url, {
      path: '/graphql',
      method: 'POST',
      headers: { ...authorized(), accept: 'text/event-stream' },
      body: JSON.stringify({
        query: 'subscription { orgKeyChanged { ... on OrgKeyChanged { entry { reason } } } }',
      }),
    });
    let received = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    const reason = `through ${new URL(proxy.url).port}`;
    const query = `mutation { patchOrgKey(keyID: "acme-billing", patch: {tags: ["${reason}"]}, reason: "${reason}") { version } }`;
    const changed = await send(proxy.url, {
      path: '/graphql',
      method: 'POST',
      headers: authorized(),
      body: JSON.stringify({ query }),
    });
    expect(await text(changed)).toContain('"version"');
    await until(() => received.includes(reason), 'the event');
    stream.destroy();
  });

  it('passes WebSockets', async () => {
    const socket = await connectSocket(proxy.url, { 'x-svc-authorization': secret }, {}, { ca: certificate });
    const { payload } = await socket.request('{ viewer { label } }');
    expect(payload).toEqual({ data: { viewer: { label: 'first start' } } });
    socket.socket.terminate();
  });

  it('passes the address of each client, so that one cannot use up the failed attempts of another', async () => {
    const attempt = async (from: string, number: number) => {
      const headers = {
        'x-svc-authorization': `kf_svc_${from.at(-1)}x${number}x`,
        'x-forwarded-for': '127.0.0.9',
      };
      return (await send(proxy.url, { path: '/svc/org/keys', headers, from })).resume().statusCode;
    };
    const [one, other] = proxy.url.startsWith('https') ? ['127.0.0.2', '127.0.0.3'] : ['127.0.0.4', '127.0.0.5'];
    for (let number = 0; number < 10; number += 1) expect(await attempt(one, number)).toBe(401);
    expect(await attempt(one, 10)).toBe(429);
    expect(await attempt(other, 0)).toBe(401);
  });
};

describeWith('nginx', 'nginx', 'behind nginx', suite(startNginx));
describeWith('caddy', 'caddy', 'behind Caddy', suite(startCaddy));

import { spawn, execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pathText } from '../../../src/lib/errors.js';
import { parsePath } from '../../../src/cli/input.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { freePort } from '../../support/free-port.mjs';
import { writeTLSFiles, type TLSFixture } from '../../support/localhost-tls.js';
import { startServer, type TestServer } from '../../support/server.js';

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const secret = 'credential-of-these-tests';
const json = { 'content-type': 'application/json' };
const busy: Reply = {
  status: 503,
  headers: { ...json, 'retry-after': '0' },
  body: '{"status":"error","code":"UNAVAILABLE","message":"The service is overloaded."}',
};
const fine: Reply = { status: 200, headers: json, body: '{"key_hash":"ab","data":{}}' };

let c: CommandLine;
let server: Server;
let url: string;
let replies: (Reply | 'cut')[] = [];
let requests: IncomingMessage[] = [];
let file: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request);
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === undefined || reply === 'cut') return void request.socket.destroy();
    request.resume().on('end', () => response.writeHead(reply.status, reply.headers).end(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(async () => {
  c = await makeOwnCommandLine();
  file = await c.file('definition.json', '{}');
  replies = [fine];
  requests = [];
});

const credentials = { KEYFRONT_MANAGEMENT_CREDENTIAL: secret, KEYFRONT_SERVICE_CREDENTIAL: secret };
const preview = async (at = url, args: readonly string[] = [], env: Record<string, string> = credentials) => {
  const outcome = await c.keyfront(['preview', file, '--url', at, ...args], env);
  expect(outcome.out + outcome.stderr).not.toContain(secret);
  return outcome;
};

describe('a connection to a service', () => {
  it('sends the credential in its header and the definition to a path below the base URL', async () => {
    expect((await preview(`${url}/below`)).code).toBe(0);
    expect(requests[0]?.url).toBe('/below/api/keys/preview');
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it.each(['640', '604', '644', '660'])('rejects a credential file of mode %s, which others can open', async (mode) => {
    const credential = await c.file('credential', secret);
    await chmod(credential, mode);
    const { code, stderr } = await preview(url, ['--credential-file', credential], {});
    expect([code, stderr]).toStrictEqual([
      2,
      `The file ${credential} is open to other users. Run: chmod 600 ${credential}\n`,
    ]);
    expect(requests).toStrictEqual([]);
  });

  it('reads the credential from a pipe, as that of <(command) in a shell', async () => {
    const pipe = `${c.folder}.pipe`;
    execFileSync('mkfifo', ['-m', '644', pipe]);
    spawn('sh', ['-c', 'printf %s "$CREDENTIAL" > "$PIPE"'], { env: { CREDENTIAL: secret, PIPE: pipe } });
    expect((await preview(url, ['--credential-file', pipe], {})).code).toBe(0);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('names a credential file that does not exist', async () => {
    const { code, stderr } = await preview(url, ['--credential-file', '/nowhere/credential'], {});
    expect([code, stderr]).toStrictEqual([
      2,
      'Cannot read the file /nowhere/credential: it does not exist; check the path (ENOENT).\n',
    ]);
  });

  it('retries after the delay that a busy service requests', async () => {
    replies = [busy, busy, fine];
    const { code, stderr } = await preview();
    expect(code).toBe(0);
    expect(stderr).toContain('The service is busy. Retrying in 0 s.\n');
    expect(requests).toHaveLength(3);
  });

  it('fails with exit code 2 after four attempts', async () => {
    replies = [busy];
    const { code, stderr } = await preview();
    expect(code).toBe(2);
    expect(stderr).toContain('The service is overloaded.');
    expect(requests).toHaveLength(4);
  });

  it('retries a GraphQL operation that returns UNAVAILABLE', async () => {
    const rejection = { message: 'Storage is busy.', extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 0 } };
    const done = {
      change: {
        orgKey: { keyHash: 'ab' },
        version: 2,
        changed: true,
        changes: [],
        quotaEffect: { before: { used: 0 }, after: { used: 0 } },
        warnings: [],
      },
    };
    replies = [
      { status: 200, headers: json, body: JSON.stringify({ errors: [rejection] }) },
      { status: 200, headers: json, body: JSON.stringify({ data: done }) },
    ];
    const { code } = await c.keyfront(['delete', 'a-key', '--url', url], credentials);
    expect(code).toBe(0);
    expect(requests.map(({ headers }) => headers['x-svc-authorization'])).toStrictEqual([secret, secret]);
    // The identifier of a key may be a token, and addresses are written into logs.
    expect(requests.map((request) => request.url)).toStrictEqual(['/graphql', '/graphql']);
  });

  it('does not follow a redirect, which would receive the credential', async () => {
    replies = [{ status: 302, headers: { location: `${url}/elsewhere` } }];
    const { code, stderr } = await preview();
    expect(code).toBe(2);
    expect(stderr).toContain('redirects (status 302)');
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Reply]>([
    ['a page', { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>404</h1>' }],
    ['no JSON', { status: 200, headers: json, body: '{' }],
    ['another JSON', { status: 200, headers: json, body: '[]' }],
  ])('reports that a server that returns %s is not Keyfront', async (_, reply) => {
    replies = [reply];
    const { code, stderr } = await preview();
    expect(code).toBe(2);
    expect(stderr).toContain(`${url}/ is not a Keyfront service (status ${reply.status}).`);
  });

  const notFound = '{"status":"error","code":"NOT_FOUND","message":"The path does not exist."}';
  it.each<[string, string, Reply]>([
    ['a path of Keyfront', 'credentials list', { status: 404, headers: json, body: notFound }],
    ['GraphQL of another service', 'webhooks list', { status: 200, headers: json, body: '{"detail":"none"}' }],
    ['REST of another service', 'keys list', { status: 404, headers: json, body: '{"detail":"none"}' }],
  ])('names the URL and the status if the JSON is that of %s', async (_, command, reply) => {
    replies = [reply];
    const { code, stderr } = await c.keyfront([...command.split(' '), '--url', `${url}/foo`], credentials);
    expect(code).not.toBe(0);
    expect(stderr).toBe(`${url}/foo/ is not a Keyfront service (status ${reply.status}). Check the URL.\n`);
  });

  it('reports an overload that is not an error of GraphQL', async () => {
    replies = [busy];
    const { stderr } = await c.keyfront(['credentials', 'list', '--url', url], credentials);
    expect(stderr).toMatch(/Retrying in 0 s\.\nThe service is overloaded\.\n$/);
  });

  it('prints no control characters of a response', async () => {
    const message = 'red \u001b[31m \u009b2J';
    const issues = [{ path: 'a\u001b', code: 'B\u001b', message }];
    replies = [
      { status: 400, headers: json, body: JSON.stringify({ status: 'error', code: 'INVALID', message, issues }) },
    ];
    const { code, out, stderr } = await preview(url);
    expect(code).toBe(1);
    expect(out).toContain('\uFFFD[31m');
    expect(out + stderr).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('reports that the result of an interrupted change is unknown, and does not retry it', async () => {
    replies = ['cut'];
    const { code, stderr } = await c.keyfront(['delete', 'a-key', '--url', url], credentials);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'the connection was closed. It is unknown whether the change was made: see `keyfront keys history`.',
    );
    expect(requests).toHaveLength(1);
    expect((await preview()).stderr).toMatch(/the connection was closed\.\n$/);
  });

  it('explains a failed connection and an unknown host name', async () => {
    const at = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await preview(at);
    expect([code, stderr]).toStrictEqual([2, `Cannot connect to ${at}: connection refused.\n`]);
    expect((await preview('http://127.0.0.1:1')).stderr).toContain('the connection failed (bad port)');
    const { stderr: unknown } = await preview('https://keyfront.invalid');
    expect(unknown).toMatch(
      /^Cannot connect to https:\/\/keyfront\.invalid: (the host name cannot be resolved|the network is unreachable)\.\n$/,
    );
  });

  it('explains a failed TLS handshake', async () => {
    const { code, stderr } = await preview(url.replace('http:', 'https:'));
    expect(code).toBe(2);
    expect(stderr).toMatch(/the TLS handshake failed; does the server use http:\/\/\?\n$/);
  });

  it.each([
    ['http://keys.example.com', 'would be sent unencrypted to'],
    ['http://10.0.0.1:4000', 'would be sent unencrypted to'],
    ['ftp://127.0.0.1', 'The URL of a service is an http:// or https:// URL without a query'],
    ['127.0.0.1:4000', 'such as https://keys.example.com; did you mean http://127.0.0.1:4000?'],
    ['http://127.0.0.1:4000/?token=x', 'such as https://keys.example.com.'],
    ['https://user:word@127.0.0.1', 'must not contain a credential'],
  ])('rejects %s before it sends a request', async (at, reason) => {
    expect(await preview(at)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) as string });
  });

  it('uses plain HTTP to another machine only with --plain-http', async () => {
    const { stderr } = await preview('http://keyfront.invalid', ['--plain-http']);
    expect(stderr).toContain('Cannot connect to http://keyfront.invalid:');
  });

  it.each([
    [{}, 'KEYFRONT_MANAGEMENT_CREDENTIAL is not set'],
    [{ KEYFRONT_MANAGEMENT_CREDENTIAL: ' ' }, 'KEYFRONT_MANAGEMENT_CREDENTIAL is not set'],
    [{ KEYFRONT_MANAGEMENT_CREDENTIAL: 'a\nb: c' }, 'KEYFRONT_MANAGEMENT_CREDENTIAL does not contain a credential.'],
    [
      { KEYFRONT_MANAGEMENT_CREDENTIAL: 'Bearer kf_mgt_0' },
      'KEYFRONT_MANAGEMENT_CREDENTIAL does not contain a credential; remove `Bearer` before it.',
    ],
    [
      { KEYFRONT_MANAGEMENT_CREDENTIAL: 'kf_svc_0' },
      'KEYFRONT_MANAGEMENT_CREDENTIAL contains a service credential. This command needs a management credential.',
    ],
  ])('rejects the environment %j with exit code 2', async (env, reason) => {
    expect(await preview(url, [], env)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) as string });
    expect(requests).toHaveLength(0);
  });
});

describe('a connection to a service over TLS', () => {
  let tls: TLSFixture;
  let secure: TestServer;
  beforeAll(async () => {
    tls = writeTLSFiles();
    secure = await startServer({}, { tls });
  });
  afterAll(async () => {
    await secure.close();
    tls.remove();
  });

  it('explains an untrusted certificate and sends no credential', async () => {
    const { code, stderr } = await preview(`https://127.0.0.1:${secure.port}`);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'the certificate is not signed by a trusted authority; NODE_EXTRA_CA_CERTS can name an additional one.',
    );
  });
});

describe('a path', () => {
  it.each([
    [['alias']],
    [['accessRights', 2, 'limit', 'quotaMax']],
    [['accessRights', 'a label with "quotes", a ] and \u001b', 'apiID']],
    [['metaData', '', 'x']],
    [['metaData', 'a.b']],
    [[]],
  ])('parses the path %j that pathText formatted', (path) => {
    expect(parsePath(pathText(path))).toStrictEqual(path);
  });
});

import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

describe('the files of GraphiQL', () => {
  async function get(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ response: IncomingMessage; body: Buffer }> {
    const requested = request(`${server.url}${path}`, { headers });
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

  it('are compressed to a third of their size', async () => {
    const sizes = [await whole({ 'accept-encoding': 'br' }), await whole({ 'accept-encoding': 'gzip' }), await whole()];
    const [br = 0, gzip = 0, raw = 0] = sizes.map(({ length }) => length);
    expect([br < 2_500_000, gzip < 2_700_000, raw > 8_000_000]).toEqual([true, true, true]);
  });

  it('G-22 request nothing from other hosts: the policy of the page forbids it, and nothing in it tries', async () => {
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

  it('contain only hosts of namespaces, examples and documents', async () => {
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
});

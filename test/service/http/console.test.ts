import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrgKeyCountDocument } from '../../../src/client/client.js';
import { consoleAssets, consoleDocuments } from '../../../src/http/console-assets.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';

// What it does in a browser is tested in test/system/browser.
describe('the console', () => {
  let t: TestApp;
  let page: string;
  beforeAll(async () => {
    t = await startApp();
    page = (await t.send('/console')).text;
  });
  afterAll(() => t.close());

  it.each([
    ['development', {}, 200],
    ['development, switched off', { KEYFRONT_CONSOLE: 'off' }, 404],
    ['development without GraphiQL', { KEYFRONT_GRAPHIQL: 'off' }, 200],
    ['production', { NODE_ENV: 'production' }, 404],
    ['production, switched on', { NODE_ENV: 'production', KEYFRONT_CONSOLE: 'on' }, 200],
  ])('is served in %s as configured', async (_, env, status) => {
    const own = await startOwnApp(env);
    const views = ['/console', '/console/preview', `/console/keys/${'0'.repeat(64)}`, '/console/page.js'];
    const statuses = await Promise.all(views.map(async (path) => (await own.send(path)).status));
    expect(statuses).toEqual(views.map(() => status));
  });

  it('allows scripts and styles of its own origin only, and none inline', async () => {
    for (const path of ['/console', '/console/keys/abc', '/console/page.js']) {
      const policy = (await t.send(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).not.toMatch(/unsafe|blob:|https?:|\*/);
    }
    expect(page).not.toMatch(/<script(?![^>]* src="\/)|\son\w+=|style="/);
  });

  it.each([
    ['https://idp.example.test/a?b="c"&d', 'https://idp.example.test/a?b=&quot;c&quot;&amp;d'],
    [undefined, ''],
  ])('names the issuer %s of single sign-on, with special characters escaped', async (issuer, content) => {
    const asset = consoleAssets(issuer).get('/console');
    const html = Buffer.from((await asset?.bytes.identity()) ?? []).toString();
    expect(html).toContain(`<meta name="issuer" content="${content}"`);
  });

  it('references only files that are served', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.length).toBe(3);
    expect(named.filter((path) => !consoleAssets().has(path))).toEqual([]);
  });

  it('has at most 150 kB of script and style, compressed', async () => {
    const texts = await Promise.all(['page.js', 'page.css'].map(async (name) => t.send(`/console/${name}`)));
    const bytes = texts.reduce((sum, { text }) => sum + gzipSync(text).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(150_000);
  });

  it('is served as a view for one segment only', async () => {
    expect((await t.send('/console/nothing')).status).toBe(404);
    expect((await t.send('/console/keys/a/b')).status).toBe(404);
  });
});

describe('the documents of the console', () => {
  const count = {
    documentId: String(OrgKeyCountDocument.__meta__?.['hash']),
    variables: { filter: null },
  };
  const send = async (env: Record<string, string>) => {
    const own = await startOwnApp(env);
    return (await own.post(count)).body;
  };

  it('are executed by their ids where only trusted documents are', async () => {
    const body = await send({ KEYFRONT_ONLY_TRUSTED_DOCUMENTS: 'on', KEYFRONT_TRUSTED_DOCUMENTS: consoleDocuments });
    expect(body).toEqual({ data: { orgKeys: { totalCount: 0 } } });
  });

  it('are those of the client, and need no setting while the console is on', async () => {
    expect(readFileSync(consoleDocuments, 'utf8')).toContain(count.documentId.slice(7));
    expect(await send({})).toEqual({ data: { orgKeys: { totalCount: 0 } } });
    expect(await send({ KEYFRONT_CONSOLE: 'off' })).toMatchObject({
      errors: [{ message: 'There is no trusted document with this id.' }],
    });
  });
});

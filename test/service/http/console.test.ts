import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrgKeyCountDocument } from '../../../src/client/client.js';
import { readBuiltDocuments, readTrustedDocuments } from '../../../src/graphql/execution/trusted-documents.js';
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
    const keyPage = `/console/keys/${'0'.repeat(64)}`;
    const views = ['', '/new', '/bulk', '/organizations', '/changes', '/preview', '/page.js']
      .map((path) => `/console${path}`)
      .concat(keyPage);
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
    const html = typeof asset === 'object' ? Buffer.from(await asset.bytes.identity()).toString() : '';
    expect(html).toContain(`<meta name="issuer" content="${content}"`);
  });

  it('references only files that are served', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.length).toBe(3);
    expect(named.filter((path) => !consoleAssets().has(path))).toEqual([]);
  });

  /** The bytes of a script and of those that it imports at once, compressed. */
  const weightOf = async (name: string, counted = new Set<string>()): Promise<number> => {
    if (counted.has(name)) return 0;
    counted.add(name);
    const { text, status } = await t.send(`/console/${name}`);
    expect(status).toBe(200);
    const imported = [...text.matchAll(/(?:from|^import)\s*"\.\/([\w.-]+)"/gm)].map(([, file = '']) => file);
    let bytes = gzipSync(text).length;
    for (const file of imported) bytes += await weightOf(file, counted);
    return bytes;
  };

  it('loads at most 60 kB of script for its first page, compressed, and other pages later', async () => {
    const scripts = [...consoleAssets().keys()].map((path) => path.slice('/console/'.length));
    const counted = new Set<string>();
    const list = scripts.find((name) => name.startsWith('keys-view-')) ?? '';
    const bytes = (await weightOf('page.js', counted)) + (await weightOf(list, counted));
    expect(bytes).toBeGreaterThan(15_000);
    expect(bytes).toBeLessThanOrEqual(60_000);
    for (const later of ['edit-view', 'bulk-view', 'create-view', 'key-view']) {
      expect([...counted].filter((name) => name.startsWith(later))).toEqual([]);
    }
  });

  // A start does not validate them.
  it('has documents that match the schema, and are known by their hashes', () => {
    expect(readBuiltDocuments(consoleDocuments)).toStrictEqual(readTrustedDocuments(consoleDocuments));
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

it('serves the address of every page, so that it can be reloaded', () => {
  const source = readFileSync(new URL('../../../src/console/pages.ts', import.meta.url), 'utf8');
  const addresses = [...source.matchAll(/^ {2}'(\/console[^']*)': /gm)].map(([, address = '']) => address);
  expect(addresses.length).toBeGreaterThan(5);
  const served = consoleAssets();
  expect(addresses.filter((address) => !served.has(address))).toEqual([]);
});

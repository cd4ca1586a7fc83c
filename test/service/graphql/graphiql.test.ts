import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialKinds } from '../../../src/credentials/credential.js';
import { graphiqlAssets } from '../../../src/graphql/graphiql/serve.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';

const asBrowser = { headers: { accept: 'text/html' } };

// What it does in a browser is tested in test/system/browser.
describe('GraphiQL', () => {
  let t: TestApp;
  let page: string;
  beforeAll(async () => {
    t = await startApp();
    page = (await t.send('/', asBrowser)).text;
  });
  afterAll(() => t.close());

  it.each([
    ['development', {}, 200],
    ['development, switched off', { KEYFRONT_GRAPHIQL: 'off' }, 404],
    ['production', { NODE_ENV: 'production' }, 404],
    ['production, switched on', { NODE_ENV: 'production', KEYFRONT_GRAPHIQL: 'on' }, 200],
  ])('G-22 serves GraphiQL in %s as configured', async (_, env, status) => {
    const own = await startOwnApp(env);
    const root = await own.send('/', asBrowser);
    const script = await own.send('/graphiql/graphiql.js');
    const endpoint = await own.send('/graphql', asBrowser);
    expect([root.status, script.status]).toEqual([status, status]);
    expect(root.text.includes('<!doctype html>')).toBe(status === 200);
    expect(endpoint.status === 302).toBe(status === 200);
    expect(endpoint.text).not.toContain('<');
  });

  it('G-22 has a field for each kind of credential, which the browser does not fill or store, and contains none', async () => {
    const fields = page.match(/<input[^>]*>/g) ?? [];
    expect(fields.map((field) => /id="(\w+)"\s+type="password"\s+autocomplete="off"/.exec(field)?.[1])).toEqual(
      credentialKinds,
    );
    const { text } = await t.send('/graphiql/page.js');
    for (const secret of [t.management, t.service]) expect(page + text).not.toContain(secret);
  });

  it('references only files and pages that are served', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((path) => !graphiqlAssets().has(path))).toEqual(['/docs', '/console']);
  });

  it('allows scripts of its own origin only, and no eval', async () => {
    for (const path of ['/', '/graphiql/page.js', '/graphiql/graphql.worker.js']) {
      const policy = (await t.send(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; worker-src 'self'; ");
      expect(policy).toContain("; connect-src 'self'; ");
      expect(policy).not.toMatch(/unsafe-eval|blob:|https?:|\*/);
    }
    expect(page).not.toMatch(/<script(?![^>]* src="\/)|\son\w+=|style="/);
  });

  it('returns 404 for unknown paths and 405 for other methods', async () => {
    expect((await t.send('/graphiql/nothing.js')).status).toBe(404);
    expect((await t.send('/graphiql')).status).toBe(404);
    expect((await t.send('/graphiql/page.js', { method: 'POST' })).status).toBe(405);
  });
});

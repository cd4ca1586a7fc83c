import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.js';

const asBrowser = { headers: { accept: 'text/html' } };

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
  ])('G-22 in %s is there or not, as it is set', async (_, env, status) => {
    const own = await startApp(env);
    const root = await own.send('/', asBrowser);
    const endpoint = await own.send('/graphql', asBrowser);
    await own.close();
    expect(root.status).toBe(status);
    expect(root.text.includes('renderYogaGraphiQL')).toBe(status === 200);
    expect(endpoint.status === 302).toBe(status === 200);
    expect(endpoint.text).not.toContain('<');
  });

  /** What the page is called with. */
  const options = () => {
    const [, json = ''] =
      /renderYogaGraphiQL\(\s*window\.document\.querySelector\('#root'\),\s*(\{.*\}),\s*\)/.exec(page) ?? [];
    return JSON.parse(json) as Record<string, unknown>;
  };

  it('G-22 is told not to keep headers, and offers no switch to keep them', () => {
    // With false, and not merely left out, GraphiQL hides the switch and passes over what an earlier visit set.
    expect(options()['shouldPersistHeaders']).toBe(false);
    expect(options()).not.toHaveProperty('showPersistHeadersSettings');
  });

  it('G-22 comes with the beginnings of credentials only, and sends nothing of its own with a request', () => {
    const { defaultHeaders, defaultTabs } = options() as {
      defaultHeaders: string;
      defaultTabs: { query: string; headers: string }[];
    };
    for (const headers of [defaultHeaders, ...defaultTabs.map((tab) => tab.headers)]) {
      expect(JSON.parse(headers)).toStrictEqual({
        Authorization: 'Bearer kf_mgt_',
        'X-Svc-Authorization': 'kf_svc_',
      });
    }
    expect(options()).not.toHaveProperty('additionalHeaders');
    expect(page).not.toContain(t.management);
    expect(page).not.toContain(t.service);
  });

  it('G-22 writes no header into the browser’s storage', () => {
    // No browser runs here, so that the code of the package is read, at the places where it writes.
    // Tabs: `headers` is replaced by null, unless they are to be kept.
    expect(page).toMatch(/JSON\.stringify\(\w+,\(\w+,(\w+)\)=>[^)]{0,60}!\w+&&\w+==="headers"\?null:\1\)/);
    // The editor of headers: has a place in the storage only where they are to be kept.
    expect(page).toMatch(/\w+\(\w+,\w+\?\w+\.headers:null,"headers"\)/);
    // The history of operations would keep their headers in any case: its plugin is not among those of the page.
    expect(page).toMatch(/(\w+)=\w+\(\{showAttribution:!0\}\)[^]{0,500}shouldPersistHeaders:!0,plugins:\[\1\],/);
    expect(options()).not.toHaveProperty('plugins');
    expect(page).not.toMatch(/sessionStorage|document\.cookie|indexedDB\.open/);
  });

  it('G-22 puts the operation into the address of the page, and nothing else', () => {
    expect(page.match(/history\.(replace|push)State/g)).toHaveLength(1);
    expect(page).toMatch(/\w+\.searchParams\.set\("query",\w+\),history\.replaceState\(\{\},"",\w+\)/);
  });
});

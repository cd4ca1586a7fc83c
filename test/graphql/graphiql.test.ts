import { createAsset } from '../../src/asset.js';
import { createServeGraphiQL } from '../../src/graphql/graphiql/serve-graphiql.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../src/graphql/graphiql/in-browser/explain.js';
import { startApp, type TestApp } from '../support/app.js';

const asBrowser = { headers: { accept: 'text/html' } };

// What it does in a browser is tested in test/browser.
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
    const script = await own.send('/graphiql/graphiql.js');
    const endpoint = await own.send('/graphql', asBrowser);
    await own.close();
    expect([root.status, script.status]).toEqual([status, status]);
    expect(root.text.includes('<!doctype html>')).toBe(status === 200);
    expect(endpoint.status === 302).toBe(status === 200);
    expect(endpoint.text).not.toContain('<');
  });

  it('G-22 comes with the beginnings of credentials only', () => {
    const [, json = ''] = /<script id="options" type="application\/json">(.*?)<\/script>/.exec(page) ?? [];
    const { tabs, defaultHeaders } = JSON.parse(json) as { defaultHeaders: string; tabs: { headers: string }[] };
    const beginnings = { Authorization: 'Bearer kf_mgt_', 'X-Svc-Authorization': 'kf_svc_' };
    expect(JSON.parse(defaultHeaders)).toStrictEqual(beginnings);
    expect(tabs.length).toBeGreaterThan(10);
    for (const { headers } of tabs) expect(beginnings).toMatchObject(JSON.parse(headers) as object);
    expect(page).not.toContain(t.management);
    expect(page).not.toContain(t.service);
  });

  it('lets no script run but those of its own origin, and none be made out of a text', async () => {
    for (const path of ['/', '/graphiql/page.js', '/graphiql/graphql.worker.js']) {
      const policy = (await t.send(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self';");
      expect(policy).not.toMatch(/unsafe-eval|blob:|https?:|\*/);
    }
    expect(page).not.toMatch(/<script(?![^>]*(src=|type="application\/json"))|\son\w+=|style="/);
  });

  it('answers other paths below its own with 404, and other methods with 405', async () => {
    expect((await t.send('/graphiql/nothing.js')).status).toBe(404);
    expect((await t.send('/graphiql')).status).toBe(404);
    expect((await t.send('/graphiql/page.js', { method: 'POST' })).status).toBe(405);
  });

  describe('explains a refused credential by what can be seen of it:', () => {
    const sent = (management: string, service: string) => [
      { kind: 'management', name: 'Authorization', beginning: 'Bearer kf_mgt_', value: management },
      { kind: 'service', name: 'X-Svc-Authorization', beginning: 'kf_svc_', value: service },
    ];
    it.each([
      [
        'missing',
        'service',
        sent('Bearer kf_mgt_abc', ''),
        /needs a service credential.*X-Svc-Authorization.*--kind service/,
      ],
      ['without Bearer', 'management', sent('kf_mgt_abc', ''), /must hold the word Bearer, a space/],
      [
        'of the other kind',
        'service',
        sent('', 'kf_mgt_abc'),
        /begins like a management credential.*begins with kf_svc_/,
      ],
      ['of the right form', 'service', sent('', 'kf_svc_abc'), /opens nothing here/],
      ['of single sign-on', 'management', sent('Bearer eyJhbGciOi', ''), /opens nothing here/],
      ['missing for the schema', 'any', sent('', ''), /shown to holders of a credential only\. Paste yours/],
      ['wrong for the schema', 'any', sent('Bearer kf_mgt_abc', ''), /what stands under Headers opens nothing/],
    ])('%s', (_, needed, headers, words) => {
      expect(explain(needed, headers)).toMatch(words);
      // Whoever looks over a shoulder, or at a picture in a report, must not read a credential there.
      expect(explain(needed, headers)).not.toMatch(/abc|eyJ/);
    });
  });
});

describe('the page of GraphiQL', () => {
  it('is made again at the next request after it has failed', async () => {
    let attempts = 0;
    const serve = createServeGraphiQL(async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('EMFILE');
      return Promise.resolve(new Map([['/', createAsset('text/html', 'a page')]]));
    });
    const request = new Request('http://keyfront.test/');
    await expect(serve('/', request)).rejects.toThrow('EMFILE');
    expect((await serve('/', request))?.status).toBe(200);
    expect(await serve('/graphql', request)).toBeUndefined();
    await serve('/', request);
    expect(attempts).toBe(2);
  });
});

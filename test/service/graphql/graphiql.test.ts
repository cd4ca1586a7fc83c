import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialKinds } from '../../../src/credentials/credential.js';
import { graphiqlAssets } from '../../../src/graphql/graphiql/serve.js';
import { credentialHeaders, headersTemplate } from '../../../src/graphql/graphiql/browser/credential-headers.js';
import { explainRejection, type SentHeader } from '../../../src/graphql/graphiql/browser/explain.js';
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

  it('G-22 contains only prefixes of credentials, one header for each kind', async () => {
    expect(credentialHeaders.map(({ kind }) => kind)).toEqual(credentialKinds);
    expect(JSON.parse(headersTemplate(credentialHeaders))).toStrictEqual({
      Authorization: 'Bearer kf_mgt_',
      'X-Svc-Authorization': 'kf_svc_',
    });
    const { text } = await t.send('/graphiql/page.js');
    expect(text).toContain('kf_mgt_');
    for (const secret of [t.management, t.service]) expect(page + text).not.toContain(secret);
  });

  it('references only files that are served', () => {
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((path) => !graphiqlAssets.has(path))).toEqual([]);
  });

  it('allows scripts of its own origin only, and no eval', async () => {
    for (const path of ['/', '/graphiql/page.js', '/graphiql/graphql.worker.js']) {
      const policy = (await t.send(path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self';");
      expect(policy).not.toMatch(/unsafe-eval|blob:|https?:|\*/);
    }
    expect(page).not.toMatch(/<script(?![^>]* src="\/)|\son\w+=|style="/);
  });

  it('returns 404 for unknown paths and 405 for other methods', async () => {
    expect((await t.send('/graphiql/nothing.js')).status).toBe(404);
    expect((await t.send('/graphiql')).status).toBe(404);
    expect((await t.send('/graphiql/page.js', { method: 'POST' })).status).toBe(405);
  });

  describe('explains a rejected credential that is', () => {
    const sent = (management: string, service: string): SentHeader[] => [
      { kind: 'management', name: 'Authorization', prefix: 'Bearer kf_mgt_', value: management },
      { kind: 'service', name: 'X-Svc-Authorization', prefix: 'kf_svc_', value: service },
    ];
    it.each([
      [
        'missing',
        'service',
        sent('Bearer kf_mgt_abc', ''),
        /needs a service credential.*X-Svc-Authorization.*--kind service/,
      ],
      ['without Bearer', 'management', sent('kf_mgt_abc', ''), /must contain the word Bearer, a space/],
      [
        'of the other kind',
        'service',
        sent('', 'kf_mgt_abc'),
        /begins like a management credential.*begins with kf_svc_/,
      ],
      ['with Bearer', 'service', sent('', 'Bearer kf_svc_abc'), /must contain the credential alone, without .* Bearer/],
      ['of the right form', 'service', sent('', 'kf_svc_abc'), /is not valid\./],
      ['of single sign-on', 'management', sent('Bearer eyJhbGciOi', ''), /is not valid\./],
      ['missing for the schema', 'any', sent('', ''), /require a credential\. Paste yours/],
      ['wrong for the schema', 'any', sent('Bearer kf_mgt_abc', ''), /the ones under Headers are not valid/],
    ] as const)('%s', (_, needed, headers, words) => {
      expect(explainRejection(needed, headers)).toMatch(words);
      // The text may be visible to bystanders and in screenshots.
      expect(explainRejection(needed, headers)).not.toMatch(/abc|eyJ/);
    });
  });
});

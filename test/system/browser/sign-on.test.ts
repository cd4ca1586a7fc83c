import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { audience, startIdentityProvider, type IdentityProvider } from '../../support/identity-provider.js';
import { startServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';
import { openGraphiQL } from './graphiql-page.js';

describeInBrowser('sign-on in a browser', (browser) => {
  let idp: IdentityProvider;
  let server: TestServer;
  beforeEach(async () => {
    idp = await startIdentityProvider();
    idp.claims = { name: 'Ada Lovelace', groups: ['editors'] };
    server = await startServer({
      KEYFRONT_OIDC_ISSUER: idp.url,
      KEYFRONT_OIDC_AUDIENCE: audience,
      KEYFRONT_OIDC_CLIENT_ID: 'console',
      KEYFRONT_OIDC_SIGN_ON_PARAMETERS: `scope=openid%20profile&resource=${audience}`,
      KEYFRONT_OIDC_MAPPING: JSON.stringify({
        rules: [{ claim: 'groups', value: 'editors', role: 'editor', org: 'acme' }],
      }),
    });
    server.t.clock.now = new Date();
    await server.t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'Billing' });
    idp.returnTo(`${server.url}/sign-on`);
    return async () => {
      await server.close();
      await idp.close();
    };
  });
  let close: () => Promise<void> = () => Promise.resolve();
  afterEach(() => close());

  /** Lets the pages of a context reach the provider too. Returns the addresses that were requested of it. */
  async function reachProvider(context: BrowserContext): Promise<readonly string[]> {
    const addresses: string[] = [];
    await context.route(
      (url) => url.origin === idp.url,
      async (route) => {
        addresses.push(route.request().url());
        await route.continue();
      },
    );
    return addresses;
  }
  async function open(): Promise<ConsolePage & { readonly addresses: readonly string[] }> {
    const c = await openConsole(browser(), server);
    close = c.close;
    return { ...c, addresses: await reachProvider(c.context) };
  }
  const host = () => new URL(idp.url).host;
  async function startSignOn(page: Page): Promise<Page> {
    const [popup] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: `Sign on with ${host()}` }).click(),
    ]);
    await popup.getByRole('link', { name: 'Continue as Ada' }).waitFor();
    return popup;
  }
  const signOn = async (page: Page) => {
    const popup = await startSignOn(page);
    await popup.getByRole('link', { name: 'Continue as Ada' }).click();
    return popup;
  };
  const tokenRequests = () => idp.requested.filter((path) => path === 'POST /token').length;
  const alert = (page: Page) => page.getByRole('alert').innerText();

  it('shows the keys of the person, whose name is in the history; tokens are in memory only, and requests go to both alone', async () => {
    const c = await open();
    const popup = await signOn(c.page);
    await c.link('Billing').waitFor();
    await until(() => popup.isClosed() || popup.getByText('You can close this window.').isVisible());
    await c.page.locator('.account summary', { hasText: 'Ada Lovelace' }).waitFor();
    expect(await c.kept()).not.toMatch(/eyJ|access_token|refresh/);
    await c.link('Billing').click();
    await c.heading('Billing');
    const origins = new Set(c.addresses.map((address) => new URL(address).pathname.split('/')[1]));
    expect([...origins].toSorted()).toEqual(['auth', 'interaction', 'token']);
    expect(c.requests.filter((request) => /https?:/.test(request))).toEqual([]);
    expect(c.problems).toEqual([]);
    const { headers } = await server.t.send('/console');
    expect(headers.get('content-security-policy')).toContain(`connect-src 'self' ${idp.url};`);
    expect(await c.violations()).toEqual([]);
  });

  it('says that it was denied, and can be tried again', async () => {
    const c = await open();
    const popup = await startSignOn(c.page);
    await popup.getByRole('link', { name: 'Deny' }).click();
    await c.page.getByText(`${host()} has denied the sign-on.`).waitFor();
    expect(await alert(c.page)).toContain('access_denied');
    expect(tokenRequests()).toBe(0);
    await signOn(c.page);
    await c.link('Billing').waitFor();
  });

  it('takes no response with another state, and none that somebody else got', async () => {
    const c = await open();
    await startSignOn(c.page);
    const [address = ''] = c.addresses;
    const state = new URL(address).searchParams.get('state') ?? '';
    expect(state.length).toBeGreaterThan(20);
    const forged = await c.context.newPage();
    await forged.goto(`${server.url}/sign-on?code=forged&state=forged&iss=${idp.url}`);
    await forged.getByText('No page of Keyfront in this browser waits for this sign-on.').waitFor();
    expect(forged.url()).toBe(`${server.url}/sign-on`);
    expect(await c.page.getByText('Continue in the window').isVisible()).toBe(true);
    // The issuer in the response is another one.
    await forged.goto(`${server.url}/sign-on?code=forged&state=${state}&iss=https://other.example`);
    await c.page.getByText('The sign-on failed.').waitFor();
    expect(tokenRequests()).toBe(0);
    // The code was not given for this sign-on.
    const popup = await startSignOn(c.page);
    const second = new URL(c.addresses.findLast((one) => one.includes('/auth?')) ?? '').searchParams.get('state') ?? '';
    await popup.goto(`${server.url}/sign-on?code=forged&state=${second}&iss=${encodeURIComponent(idp.url)}`);
    await c.page.getByText('invalid_grant').waitFor();
    await c.page.getByLabel('Service credential or token').waitFor();
  });

  it('renews an expired session without a word, and asks again if it cannot', async () => {
    const c = await open();
    await signOn(c.page);
    await c.link('Billing').waitFor();
    const renewed = tokenRequests();
    idp.tokenSeconds = 7200;
    server.t.clock.now = new Date(Date.now() + 3_600_000);
    await c.link('Billing').click();
    await c.heading('Billing');
    await c.page.getByText('Activity').first().waitFor();
    expect(tokenRequests()).toBeGreaterThan(renewed);
    // The session has ended at the provider, and so has the token.
    idp.rotateKey();
    server.t.clock.now = new Date(Date.now() + 86_400_000);
    await c.go('/console');
    await c.button(`Sign on with ${host()}`).waitFor();
    idp.tokenSeconds = 200_000;
    await signOn(c.page);
    await c.link('Billing').waitFor();
  });

  it('renews a token before it expires', async () => {
    idp.tokenSeconds = 2;
    const c = await open();
    await signOn(c.page);
    await c.link('Billing').waitFor();
    const before = tokenRequests();
    await until(() => tokenRequests() > before + 1);
  });

  it('ends with a sign-out, which revokes the refresh token', async () => {
    const c = await open();
    await signOn(c.page);
    await c.page.locator('.account summary', { hasText: 'Ada Lovelace' }).click();
    await c.button('Sign out').click();
    await c.button(`Sign on with ${host()}`).waitFor();
    await until(() => idp.requested.includes('POST /token/revocation'));
    expect(await c.page.getByText('Ada Lovelace').count()).toBe(0);
  });

  it('is not available while the provider does not respond; a credential can be pasted', async () => {
    idp.mood = 'gone';
    const c = await open();
    await c.page.getByText(`Sign-on is not available, because ${host()} does not respond.`).waitFor();
    expect(await c.button(`Sign on with ${host()}`).isDisabled()).toBe(true);
    const { headers } = await server.t.send('/console');
    expect(headers.get('content-security-policy')).toContain(`connect-src 'self';`);
    await c.signIn(server.t.service);
    await c.link('Billing').waitFor();
  });

  it('says that the provider does not respond when it goes away in the middle', async () => {
    const c = await open();
    const popup = await startSignOn(c.page);
    await c.context.route(`${idp.url}/token`, (route) => route.abort('connectionrefused'));
    await popup.getByRole('link', { name: 'Continue as Ada' }).click();
    await c.page.getByText(`${host()} does not respond. Try again later.`).waitFor();
  });

  it('refuses a person without rights, and says so', async () => {
    idp.claims = { groups: [] };
    const c = await open();
    await signOn(c.page);
    await c.page.getByRole('alert').waitFor();
    expect(await alert(c.page)).toContain('Not signed in');
  });

  it('works in GraphiQL', async () => {
    const g = await openGraphiQL(browser(), server.url);
    close = g.close;
    await reachProvider(g.page.context());
    await signOn(g.page);
    await g.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await g.write('operation', '{ viewer { label orgID } }');
    expect(await g.run()).toEqual({ data: { viewer: { label: 'Ada Lovelace', orgID: 'acme' } } });
    await g.page.getByRole('button', { name: 'Sign out' }).click();
    expect(JSON.stringify(await g.run())).toContain('UNAUTHENTICATED');
    expect(await g.kept()).not.toMatch(/eyJ/);
    expect(g.problems.filter((problem) => problem.includes('violation'))).toEqual([]);
  });
});

import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { audience, startIdentityProvider, type IdentityProvider } from '../../support/identity-provider.js';
import { hashOf } from '../../support/factories.js';
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
  /** Signs on a person whom the provider knows: it asks nothing. */
  const signOnAgain = (page: Page) => page.getByRole('button', { name: `Sign on with ${host()}` }).click();
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

  it('takes no token with another nonce, or none', async () => {
    const c = await open();
    for (const nonce of ['of another sign-on', undefined]) {
      await c.context.route(
        (url) => url.pathname === '/auth',
        async (route) => {
          const url = new URL(route.request().url());
          if (nonce === undefined) url.searchParams.delete('nonce');
          else url.searchParams.set('nonce', nonce);
          await route.continue({ url: url.href });
        },
        { times: 1 },
      );
      const before = tokenRequests();
      await (before === 0 ? signOn(c.page) : signOnAgain(c.page));
      await c.page.getByText('The sign-on failed.').waitFor();
      expect(tokenRequests()).toBe(before + 1);
      expect(await c.button('Sign in').isVisible()).toBe(true);
    }
    await signOnAgain(c.page);
    await c.link('Billing').waitFor();
  });

  it('shows the error code of the provider, as text', async () => {
    const c = await open();
    for (const code of ['server_error', '<img src=x onerror=alert(1)>']) {
      const popup = await startSignOn(c.page);
      const address = new URL(c.addresses.findLast((one) => one.includes('/auth?')) ?? '');
      const response = { error: code, state: address.searchParams.get('state') ?? '', iss: idp.url };
      await popup.goto(`${server.url}/sign-on?${String(new URLSearchParams(response))}`);
      await c.page.getByText(code).waitFor();
      expect(await alert(c.page)).toContain('The sign-on failed. Try again.');
    }
    expect(tokenRequests()).toBe(0);
    expect(c.problems.filter((problem) => problem.includes('violation'))).toEqual([]);
  });

  it('says that the browser has blocked the window, and can be tried again', async () => {
    const c = await open();
    await c.page.evaluate('self.openWindow = self.open; self.open = () => null');
    await c.button(`Sign on with ${host()}`).click();
    await c.page.getByText('The browser has blocked the window. Allow this page to open windows').waitFor();
    await c.page.evaluate('self.open = self.openWindow');
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
    for (const query of [`code=forged&state=forged&iss=${idp.url}`, `code=forged&iss=${idp.url}`, 'error=forged', '']) {
      await forged.goto(`${server.url}/sign-on?${query}`);
      await forged.getByText('No page of Keyfront in this browser waits for this sign-on.').waitFor();
      expect(forged.url()).toBe(`${server.url}/sign-on`);
    }
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

  it('asks again for a token that cannot be renewed, and keeps what was typed', async () => {
    idp.hasRefreshTokens = false;
    const c = await open();
    await signOn(c.page);
    await c.link('Billing').waitFor();
    await c.go(`/console/keys/${hashOf('k1')}?edit=yes`);
    await c.field('alias').fill('Mine');
    await c.button('Save 1 change').waitFor();
    server.t.clock.now = new Date(Date.now() + 3_600_000);
    await c.field('alias').fill('Mine 2');
    const dialog = c.page.getByRole('dialog', { name: 'Sign in' });
    await dialog.waitFor();
    idp.tokenSeconds = 7200;
    await signOnAgain(c.page);
    await dialog.waitFor({ state: 'detached' });
    expect(await c.field('alias').inputValue()).toBe('Mine 2');
    await c.button('Save 1 change').click();
    await c.heading('Mine 2 Active');
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

  /** Lets the time limits of requests to the provider pass a hundred times as fast. */
  const hurry = (page: Page) =>
    page.evaluate(
      'self.timeout = AbortSignal.timeout; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 100)',
    );

  it('waits for no provider that hangs: its page can be canceled, and its other responses are due in time', async () => {
    const c = await open();
    // Its page does not load.
    idp.mood = 'silent';
    const [first] = await Promise.all([c.context.waitForEvent('page'), c.button(`Sign on with ${host()}`).click()]);
    await until(() => idp.requested.includes('GET /auth'));
    await c.page.getByText('Continue in the window').waitFor();
    await c.button('Cancel').click();
    await until(() => first.isClosed());
    await c.button(`Sign on with ${host()}`).waitFor();
    // It gives no token.
    idp.mood = 'well';
    await hurry(c.page);
    await c.context.route(`${idp.url}/token`, () => undefined, { times: 1 });
    await signOn(c.page);
    await c.page.getByText(`${host()} does not respond. Try again later.`).waitFor();
    await c.page.evaluate('AbortSignal.timeout = self.timeout');
    await signOnAgain(c.page);
    await c.link('Billing').waitFor();
  });

  it('is canceled for good: a token that arrives later signs nobody on', async () => {
    const c = await open();
    const { promise: isCanceled, resolve: canceled } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
    await c.context.route(`${idp.url}/token`, async (route) => {
      const response = await route.fetch();
      asked();
      await isCanceled;
      await route.fulfill({ response }).catch(() => undefined);
      done();
    });
    await signOn(c.page);
    await isAsked;
    await c.button('Cancel').click();
    canceled();
    await isDone;
    await c.button(`Sign on with ${host()}`).waitFor();
    // What the page would do with the token comes before what it is asked now.
    await c.page.evaluate('new Promise((resolve) => setTimeout(resolve, 250))');
    expect(c.requests.filter((request) => request.startsWith('POST /graphql'))).toEqual([]);
    expect(await c.page.getByText('Ada Lovelace').count()).toBe(0);
  });

  it('refuses a person without rights, and says so', async () => {
    idp.claims = { groups: [] };
    const c = await open();
    await signOn(c.page);
    await c.page.getByRole('alert').waitFor();
    expect(await alert(c.page)).toContain('Not signed in');
    // The tokens are not kept.
    await until(() => idp.requested.includes('POST /token/revocation'));
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

  it('says in GraphiQL that it was blocked, denied, canceled or has expired, and keeps what was typed', async () => {
    idp.hasRefreshTokens = false;
    idp.tokenSeconds = 2;
    const g = await openGraphiQL(browser(), server.url);
    close = g.close;
    await reachProvider(g.page.context());
    await g.write('operation', '{ viewer { label } }');
    await g.page.evaluate('self.openWindow = self.open; self.open = () => null');
    const button = g.page.getByRole('button', { name: `Sign on with ${host()}` });
    await button.click();
    await g.page.getByText('The browser has blocked the window.').waitFor();
    await g.page.evaluate('self.open = self.openWindow');
    const denied = await startSignOn(g.page);
    await denied.getByRole('link', { name: 'Deny' }).click();
    await g.page.getByText('The sign-on failed (denied: access_denied).').waitFor();
    await startSignOn(g.page);
    await g.page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await button.waitFor();
    expect(tokenRequests()).toBe(0);
    await signOn(g.page);
    await g.page.getByText('Your sign-on has expired.').waitFor();
    await button.waitFor();
    expect(JSON.stringify(await g.run())).toContain('UNAUTHENTICATED');
    idp.tokenSeconds = 300;
    await signOnAgain(g.page);
    await g.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect((await g.editors()).operation).toBe('{ viewer { label } }');
    expect(await g.run()).toEqual({ data: { viewer: { label: 'Ada Lovelace' } } });
  });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 100, per: 60, tags: ['production'], quota_max: 1000 },
  { key_id: 'mobile', org_id: 'acme', alias: 'Mobile', is_inactive: true, apply_policies: ['gold'] },
  { key_id: 'trial', org_id: 'globex', alias: 'Trial', expires: 1893456000 },
];

describeInBrowser('the list of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (path = '/console', secret = server.t.service) => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(secret);
  };
  const openWithKeys = async (path?: string) => {
    await server.t.importKeys(...keys);
    await open(path);
  };
  const search = (typed: string) => c.page.getByRole('combobox').fill(typed);
  const count = (view: string) => c.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view });

  it('lists keys without an error, a violation of its policy or a request to another host', async () => {
    await openWithKeys();
    await expect.poll(c.names).toEqual(['Billing', 'Mobile', 'Trial']);
    expect(await c.column('State')).toEqual(['Active', 'Inactive', 'Active']);
    expect(await c.column('Rate')).toEqual(['100 per minute', 'by policy gold', 'no limit']);
    expect((await c.column('Quota used'))[0]).toContain('0 of 1,000 · does not renew');
    expect(c.problems).toEqual([]);
    expect(c.requests.filter((request) => !/^(GET \/console|POST \/graphql$|HEAD \/docs$)/.test(request))).toEqual([]);
  });

  it('keeps the credential in memory only, and not in the address', async () => {
    await openWithKeys();
    await expect.poll(c.names).toHaveLength(3);
    expect(await c.kept()).not.toContain(server.t.service.slice(7));
    await c.page.reload();
    await c.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('explains a credential of the wrong kind without sending it, and one that is not accepted', async () => {
    c = await openConsole(browser(), server);
    await c.signIn(server.t.management);
    expect(await c.page.getByRole('alert').innerText()).toContain('Keys need a service credential');
    expect(c.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
    // secret-scan: fixture
    await c.signIn('kf_svc_0000000000000000000000000000000000000x');
    await c.page.getByText('The service does not accept this credential.').waitFor();
    expect(await c.page.locator('main').innerText()).not.toContain('Authorization');
    expect(await c.page.getByRole('navigation', { name: 'Views' }).count()).toBe(0);
    await c.signIn(server.t.service);
    await c.page.getByRole('heading', { name: 'No keys yet' }).waitFor();
  });

  it('requests another credential after a revocation, and continues in the same view', async () => {
    await openWithKeys('/console?org=acme');
    await expect.poll(c.names).toEqual(['Billing', 'Mobile']);
    const { credentials } = server.t.app.services;
    const service = (await credentials.list()).find(({ kind }) => kind === 'service');
    await credentials.revoke(service?.id ?? '', server.t.clock.now);
    await c.go('/console?org=acme&sort=EXPIRES');
    await c.page.getByRole('dialog').getByText('does not accept this credential').waitFor();
    await c.signIn((await server.t.issue('service')).secret);
    await c.page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(c.names).toEqual(['Billing', 'Mobile']);
  });

  it('finds keys by a name, a tag or an organization in its one search field, and shows each as a chip', async () => {
    await openWithKeys();
    await expect.poll(c.names).toHaveLength(3);
    await c.page.keyboard.press('/');
    await c.page.keyboard.type('mob');
    await c.page.keyboard.press('Enter');
    await expect.poll(c.names).toEqual(['Mobile']);
    expect(new URL(c.page.url()).search).toBe('?name=mob');
    await c.button('Remove the filter Name: mob').click();
    await expect.poll(c.names).toHaveLength(3);
    await search('glo');
    await c.page.getByRole('option', { name: 'Organization globex' }).click();
    await expect.poll(c.names).toEqual(['Trial']);
    await search('prod');
    await c.page.getByRole('option', { name: 'Tag prod', exact: true }).click();
    await c.page.getByRole('heading', { name: 'No key matches' }).waitFor();
    await c.link('Clear all').first().click();
    await expect.poll(c.names).toHaveLength(3);
  });

  it('opens a key by its identifier, which is not in the address, or by its hash', async () => {
    await openWithKeys();
    await expect.poll(c.names).toHaveLength(3);
    await search('unknown');
    await c.page.getByRole('option', { name: 'Identifier is exactly' }).click();
    await c.page.getByText('No key has this identifier').waitFor();
    await search('mobile');
    await c.page.getByRole('option', { name: 'Identifier is exactly' }).click();
    await c.heading(/^Mobile/);
    expect(c.page.url()).toBe(`${server.url}/console/keys/${hashOf('mobile')}`);
    await c.page.goBack();
    await search(hashOf('trial'));
    await c.page.keyboard.press('Enter');
    await c.heading(/^Trial/);
  });

  it('filters by every condition of the address, which is shareable', async () => {
    // No result equals the one before, which is shown until the next one arrives.
    const cases = {
      'org=globex': ['Trial'],
      'name=OBI': ['Mobile'],
      'tag=production': ['Billing'],
      'policy=gold': ['Mobile'],
      'expires=3650': ['Trial'],
      'state=INACTIVE': ['Mobile'],
      'org=acme&state=ACTIVE,EXPIRED': ['Billing'],
    };
    await openWithKeys();
    for (const [query, found] of Object.entries(cases)) {
      await c.go(`/console?${query}`);
      await expect.poll(c.names).toEqual(found);
    }
    await c.go('/console?api=nothing');
    await c.page.getByRole('heading', { name: 'No key matches' }).waitFor();
  });

  it('adds a filter from its menu, sorts, and goes back with the browser', async () => {
    await openWithKeys();
    await c.page.getByText('+ Filter').click();
    await c.page.getByLabel('Value').fill('acme');
    await c.button('Add').click();
    await expect.poll(c.names).toEqual(['Billing', 'Mobile']);
    await c.button('Key').click();
    await expect.poll(c.names).toEqual(['Mobile', 'Billing']);
    expect(await c.page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    expect(c.page.url()).toBe(`${server.url}/console?org=acme&sort=ALIAS&descending=yes`);
    await c.page.goBack();
    await c.page.goBack();
    await expect.poll(c.names).toEqual(['Billing', 'Mobile', 'Trial']);
  });

  it('counts the keys of each view without a button, and shows what expires soon first', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    await server.t.importKeys(
      { key_id: 'late', org_id: 'acme', alias: 'A late one', expires: seconds + 20 * 86_400 },
      { key_id: 'soon', org_id: 'acme', alias: 'B soon', expires: seconds + 86_400 },
      { key_id: 'gone', org_id: 'acme', alias: 'C gone', expires: seconds - 86_400 },
    );
    await openWithKeys();
    await expect.poll(() => count('All').innerText()).toBe('All 6');
    expect(await count('Expired').innerText()).toBe('Expired 1');
    expect(await count('Inactive').innerText()).toBe('Inactive 1');
    expect(await count('Deleted').innerText()).toBe('Deleted 0');
    await count('Expiring in 30 days').click();
    await expect.poll(c.names).toEqual(['B soon', 'A late one']);
    expect(await c.column('State')).toEqual(['Expires tomorrow', 'Expires in 20 days']);
    await c.page.getByText('2 on this page, 2 in this view').waitFor();
  });

  it('continues with the rows after a search, and keeps the panel of a filter in the window', async () => {
    await openWithKeys();
    await search('bill');
    await c.page.keyboard.press('Enter');
    await expect.poll(c.names).toEqual(['Billing']);
    await c.page.keyboard.press('j');
    expect(await c.page.evaluate('document.activeElement.innerText')).toBe('Billing');
    await c.link('Clear all').click();
    await c.page.locator('summary', { hasText: 'Filter' }).click();
    const panel = await c.page.locator('details[open] .popover').boundingBox();
    expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBeLessThanOrEqual(1280);
  });

  it('counts only the keys of the shown view while a search is shown', async () => {
    await openWithKeys('/console?name=i');
    await expect.poll(() => count('All').innerText()).toBe('All 3');
    await count('Inactive').click();
    await expect.poll(() => count('Inactive').innerText()).toBe('Inactive 1');
    expect((await count('All').innerText()).trim()).toBe('All');
  });

  it('turns pages of many keys in both directions', async () => {
    const many = Array.from({ length: 120 }, (_, number) => {
      const name = `many-${String(number).padStart(5, '0')}`;
      return { key_id: name, org_id: 'many', alias: name };
    });
    await server.t.importKeys(...many);
    await open('/console?org=many');
    await expect.poll(c.names).toHaveLength(50);
    await c.page.getByText('50 on this page, 120 in this view').waitFor();
    await c.link('Next page').click();
    await expect.poll(c.names).toEqual(many.slice(50, 100).map(({ alias }) => alias));
    await c.link('Previous page').click();
    await expect.poll(c.names).toEqual(many.slice(0, 50).map(({ alias }) => alias));
  });

  it('moves through its rows with j and k, selects with x, and opens with Enter', async () => {
    await openWithKeys();
    await expect.poll(c.names).toHaveLength(3);
    for (const key of ['j', 'j', 'x', 'k', 'j', 'j']) await c.page.keyboard.press(key);
    await c.page.getByText('1 key selected').waitFor();
    expect(await c.page.getByLabel('Select Mobile').isChecked()).toBe(true);
    await c.page.keyboard.press('Enter');
    await c.heading(/^Trial/);
    await c.page.keyboard.press('?');
    await c.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('changes rows as their keys change, and states that others have changed', async () => {
    await openWithKeys('/console?name=bill');
    await expect.poll(c.names).toEqual(['Billing']);
    await c.page.getByText('Live', { exact: true }).waitFor();
    await server.t.update('billing', { alias: 'Renamed', rate: 7, is_inactive: true });
    await c.page.locator('tr.changed').waitFor();
    await expect.poll(c.names).toEqual(['Renamed']);
    expect(await c.column('State')).toEqual(['Inactive']);
    await server.t.update('trial', { alias: 'Billed trial' });
    await c.page.getByText('1 key changed meanwhile').waitFor();
    await c.button('Show').click();
    await expect.poll(c.names).toEqual(['Billed trial']);
  });

  it('says how to begin without any key, and shows the first one as soon as there is one', async () => {
    await open();
    await c.page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    await c.page.getByText('Live', { exact: true }).waitFor();
    await server.t.graphql('mutation { createOrgKey(input: { orgID: "acme", alias: "First" }) { version } }');
    await expect.poll(c.names).toEqual(['First']);
  });

  it('shows no button that the credential may not use', async () => {
    await server.t.importKeys(...keys);
    const reader = await server.t.issue('service', { scopes: ['read'] });
    await open('/console', reader.secret);
    await expect.poll(c.names).toHaveLength(3);
    const visible = async () => {
      const main = c.page.locator('main');
      return [...(await main.getByRole('button').allInnerTexts()), ...(await main.getByRole('link').allInnerTexts())];
    };
    expect((await visible()).join()).not.toMatch(/Create|Change/);
    expect(await c.page.getByRole('checkbox').count()).toBe(0);
    await c.link('Billing').click();
    await c.heading(/^Billing/);
    expect((await visible()).join()).not.toMatch(/Edit|Reset|More|Revert|Delete|Raise/);
    await c.page.locator('.account summary').click();
    await c.page.getByText('read keys', { exact: true }).waitFor();
  });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', quota_max: 1000 },
  { key_id: 'mobile', org_id: 'acme', alias: 'Mobile', quota_max: 500 },
  { key_id: 'report', org_id: 'acme', alias: 'Report' },
  { key_id: 'trial', org_id: 'globex', alias: 'Trial' },
];

describeInBrowser('the overviews of the console', (browser) => {
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
  const open = async (path: string) => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(server.t.service);
  };
  const feed = async () =>
    (await c.page.locator('.feed .what').allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' '));

  it('sums the quotas of each organization, and leads to its keys', async () => {
    await server.t.importKeys(...keys);
    await server.t.graphql('mutation { consumeOrgQuota(keyID: "mobile", amount: 500) { allowed } }');
    await open('/console/organizations');
    const row = (name: string) => c.page.getByRole('row', { name });
    await row('acme').getByText('500 of 1,500 · 1,000 left').waitFor();
    expect(await row('acme').innerText()).toMatch(/3 keys\s+2 with a quota/);
    expect(await row('acme').locator('.state').innerText()).toBe('1 key');
    await row('globex').getByText('no key has a quota').waitFor();
    await c.link('globex').click();
    await expect.poll(c.names).toEqual(['Trial']);
    expect(c.problems).toEqual([]);
  });

  it('turns the pages of many organizations', async () => {
    const many = Array.from({ length: 25 }, (_, number) => ({ key_id: `key-${number}`, org_id: `org-${number + 10}` }));
    await server.t.importKeys(...many);
    await open('/console/organizations');
    await c.link('org-29').waitFor();
    await c.link('Next page').click();
    await c.link('org-34').waitFor();
    expect(await c.link('org-29').count()).toBe(0);
    await c.link('Previous page').click();
    await c.link('org-10').waitFor();
  });

  it('tells every change, those of others as they are made, and the older ones on request', async () => {
    await server.t.importKeys(...keys);
    const at = (seconds: number) => {
      server.t.clock.now = new Date(server.t.clock.now.getTime() + seconds * 1000);
    };
    at(10);
    await server.t.update('billing', { alias: 'Billing', rate: 5, per: 60, quota_max: 1000 });
    at(10);
    await server.t.update('billing', { alias: 'Billing', rate: 7, per: 60, quota_max: 1000 });
    at(10);
    await server.t.graphql('mutation { revertOrgKey(keyID: "billing", toVersion: 2) { version } }');
    at(10);
    await server.t.send('/svc/org/keys/trial', {
      method: 'DELETE',
      headers: { 'x-svc-authorization': server.t.service },
    });
    await open('/console/changes');
    await expect
      .poll(async () => (await feed()).slice(0, 4))
      .toEqual([
        'test service deleted Trial globex',
        'test service reverted Billing acme to version 2',
        'test service changed Billing acme',
        'test service changed Billing acme',
      ]);
    const shown = await c.page.locator('.feed').innerText();
    expect(shown).toMatch(/Rate\s+7\s+5\s.*Rate\s+5\s+7\s.*Rate\s+no limit\s+5 per minute/s);
    await c.page.getByText('Live', { exact: true }).waitFor();
    at(10);
    await server.t.update('mobile', { alias: 'Mobile 2', quota_max: 500 });
    await expect.poll(async () => (await feed())[0]).toBe('test service changed Mobile 2 acme');
    await c.page.getByLabel('Organization').selectOption('globex');
    await expect
      .poll(async () => (await feed()).map((line) => line.split(' ').slice(-3).join(' ')))
      .toEqual(['deleted Trial globex', 'imported Trial globex']);
    await c.link('Trial').first().click();
    await c.heading('Trial Deleted');
    expect(c.problems).toEqual([]);
  });

  it('pages through older changes', async () => {
    const many = Array.from({ length: 40 }, (_, number) => ({
      key_id: `key-${number}`,
      org_id: 'acme',
      alias: `Key ${number}`,
    }));
    await server.t.importKeys(...many);
    await open('/console/changes');
    await expect.poll(async () => (await feed()).length).toBe(30);
    await c.button('Show older changes').click();
    await expect.poll(async () => (await feed()).length).toBe(40);
    expect(await c.button('Show older changes').count()).toBe(0);
    // A new change comes before those that are shown, and these stay.
    await c.page.getByText('Live', { exact: true }).waitFor();
    await server.t.update('key-0', { alias: 'Renamed' });
    await expect.poll(async () => (await feed())[0]).toBe('test service changed Renamed acme');
    expect((await feed()).length).toBe(41);
  });

  it('says what appears where there is nothing yet', async () => {
    await open('/console/changes');
    await c.page.getByText('No changes yet').waitFor();
    await c.link('Organizations').click();
    await c.page.getByText('No organization has a key').waitFor();
  });
});

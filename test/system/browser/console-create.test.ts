import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

describeInBrowser('the page of the console that creates a key', (browser) => {
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
  const open = async (secret = server.t.service) => {
    c = await openConsole(browser(), server, { path: '/console/new' });
    await c.signIn(secret);
    await c.heading('Create key');
  };
  const keys = async () => {
    const { body } = await server.t.graphql(
      '{ orgKeys { edges { node { keyID orgID definition { alias rate per } history(first: 1) { edges { node { reason } } } } } } }',
    );
    const { edges } = (body as { data: { orgKeys: { edges: { node: Record<string, unknown> }[] } } }).data.orgKeys;
    return edges.map(({ node }) => node);
  };

  it('creates a key, and shows its identifier to be copied and downloaded', async () => {
    await open();
    await c.field('orgID').fill('acme');
    await c.field('alias').fill('Checkout');
    await c.field('rate').fill('50');
    await c.page.locator('summary', { hasText: 'Identifier' }).click();
    await c.page.getByLabel('Readable beginning').fill('acme_live_');
    await c.page.getByLabel('Reason').fill('New shop');
    await c.button('Create key').click();
    await c.heading('Checkout is created');
    const [key] = await keys();
    expect(key).toMatchObject({
      keyID: expect.stringMatching(/^acme_live_[0-9a-f]{40}$/) as string,
      orgID: 'acme',
      definition: { alias: 'Checkout', rate: 50, per: 60 },
      history: { edges: [{ node: { reason: 'New shop' } }] },
    });
    const keyID = String(key?.['keyID']);
    expect(await c.card('Identifier of the key').innerText()).toContain(keyID);
    expect(c.page.url()).not.toContain(keyID);
    const [file] = await Promise.all([c.page.waitForEvent('download'), c.button('Download').click()]);
    expect(file.suggestedFilename()).toBe('acme-Checkout.txt');
    expect(await readFile(await file.path(), 'utf8')).toBe(`${keyID}\n`);
    expect(await c.kept()).not.toContain(keyID);
    await c.link('Open the key').click();
    await c.heading('Checkout Active');
    expect(await c.page.locator('main').innerText()).not.toContain(keyID);
    expect(c.problems).toEqual([]);
  });

  it('says which policies are not known while they are typed, and still creates the key', async () => {
    await importPolicies(server.t, { policy_id: 'gold' }, { policy_id: 'other', org_id: 'globex' });
    await open();
    await c.field('orgID').fill('acme');
    const add = async (name: string) => {
      await c.field('applyPolicies').fill(name);
      await c.field('applyPolicies').press('Enter');
    };
    await add('gold');
    await add('glod');
    await c.page.getByText('No policy glod is imported.').waitFor();
    expect(await c.announced()).toContain('No policy glod is imported.');
    // The policy of another organization.
    await add('other');
    await c.page.getByText('No policies glod and other are imported.').waitFor();
    await c.button('Remove glod from Policies').click();
    await c.button('Remove other from Policies').click();
    await c.page.getByText('imported').waitFor({ state: 'detached' });
    await add('glod');
    await c.button('Create key').click();
    await c.heading('The key is created');
    await c.page.getByRole('list', { name: 'Warnings' }).getByText('is no known policy').waitFor();
  });

  it('says nothing about policies if none is imported', async () => {
    await open();
    await c.field('applyPolicies').fill('gold');
    await c.field('applyPolicies').press('Enter');
    await c.button('Remove gold from Policies').waitFor();
    expect(await c.page.getByText('imported').count()).toBe(0);
  });

  it('shows each problem beside its field, and creates one key when it is sent again', async () => {
    await open();
    await c.button('Create key').click();
    expect(await c.page.evaluate(`document.querySelector('[data-path=orgID]').matches(':invalid')`)).toBe(true);
    await c.field('orgID').fill('acme');
    await c.field('rate').fill('-5');
    await c.button('Create key').click();
    await c.page.locator('.field').getByText('Rate must be at least -1').waitFor();
    expect(await keys()).toEqual([]);
    await c.field('rate').fill('5');
    // The response to the first attempt is lost.
    let isLost = false;
    await c.page.route('**/graphql', async (route) => {
      if (isLost || !(route.request().postData() ?? '').includes('idempotencyKey')) return route.fallback();
      isLost = true;
      await route.fetch();
      await route.abort('connectionreset');
    });
    await c.button('Create key').click();
    await c.page.getByRole('alert').getByText('No connection to the service').waitFor();
    await c.button('Create key').click();
    await c.heading('The key is created');
    expect(await keys()).toHaveLength(1);
  });

  it('takes the organization of a credential that is bound to one', async () => {
    const { secret } = await server.t.issue('service', { orgID: 'globex' });
    await open(secret);
    expect(await c.field('orgID').isDisabled()).toBe(true);
    await c.button('Create key').click();
    await c.heading('The key is created');
    expect(await keys()).toMatchObject([{ orgID: 'globex' }]);
  });
});

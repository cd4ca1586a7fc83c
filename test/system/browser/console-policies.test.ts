import { afterEach, beforeEach, expect, it } from 'vitest';
import { parsePolicy } from '../../../src/keys/access/policy-definition.js';
import { policyFromWire } from '../../../src/wire/field-names.js';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const gold = {
  policy_id: 'gold',
  name: 'Gold',
  governs: ['rate_limit', 'access_rights'],
  rate: 100,
  per: 60,
  access_rights: {
    invoices: { api_name: 'Invoices', allowed_urls: [{ url: '/invoices/.*', methods: ['GET'] }] },
    search: {},
    catalog: {},
    feed: {},
  },
};
const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', apply_policies: ['gold'] },
  { key_id: 'mobile', org_id: 'globex', alias: 'Mobile', apply_policies: ['gold'], rate: 3, per: 1 },
  { key_id: 'report', org_id: 'acme', alias: 'Report' },
];

describeInBrowser('the policies in the console', (browser) => {
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
  const open = async (path: string, secret = server.t.service) => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(secret);
  };
  const row = (name: string) => c.page.getByRole('row', { name });
  const impact = () => c.card('Impact: nothing has been changed');
  const versions = async () => {
    const known = await server.t.app.services.policies.current();
    return [...known.values()].map(({ policyID, version }) => [policyID, version]);
  };

  it('tells what each policy governs, and leads to the policy and to its keys', async () => {
    await server.t.importKeys(...keys);
    await importPolicies(server.t, gold, { policy_id: 'retired', is_inactive: true, org_id: 'acme', quota_max: 50 });
    await open('/console/policies');
    await row('Gold').waitFor();
    expect((await row('Gold').innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /^Gold gold rate access rate 100 per minute Invoices, search, catalog and 1 more all .* version 1$/,
    );
    expect((await row('retired').innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /^retired Switched off rate quota query depth access quota 50 in total none acme .* version 1$/,
    );
    await c.link('Gold').click();
    await c.heading('Gold');
    await c.page.getByText('2 keys name this policy. If the policy is removed').waitFor();
    expect(await c.page.title()).toBe('Gold · Keyfront');
    await c.link('Show these keys').click();
    await expect.poll(c.names).toEqual(['Billing', 'Mobile']);
    expect(c.problems).toEqual([]);
  });

  it('says how to import policies where there is none, and that there is no such policy', async () => {
    await open('/console/policies');
    await c.page.getByText('No policy is imported').waitFor();
    await c.page.getByText('keyfront policies import policies.jsonl').waitFor();
    await c.go('/console/policies/gold%ff');
    await c.page.getByRole('alert').getByText('There is no such policy').waitFor();
  });

  it('shows policies of other organizations to no credential that is bound to one', async () => {
    await importPolicies(server.t, { ...gold, org_id: 'globex' }, { policy_id: 'ours', org_id: 'acme' });
    await open('/console/policies', (await server.t.issue('service', { orgID: 'acme' })).secret);
    await c.link('ours').waitFor();
    expect(await c.link('Gold').count()).toBe(0);
    await c.go('/console/policies/gold');
    await c.page.getByRole('alert').getByText('There is no such policy').waitFor();
  });

  it('turns the pages, also with the keyboard, and finds a policy behind the first hundred', async () => {
    const many = Array.from({ length: 105 }, (_, number) => ({ policy_id: `policy-${number + 100}`, rate: 1, per: 1 }));
    await importPolicies(server.t, ...many);
    await open('/console/policies');
    await c.link('policy-119').waitFor();
    await c.link('Next page').focus();
    await c.page.keyboard.press('Enter');
    await c.link('policy-120').waitFor();
    expect(await c.link('policy-119').count()).toBe(0);
    await c.link('Previous page').click();
    await c.link('policy-100').waitFor();
    await c.go('/console/policies/policy-204');
    await c.heading('policy-204');
    await c.page.getByText('0 keys name this policy.').waitFor();
  });

  it('shows an error of the service, and recovers', async () => {
    await importPolicies(server.t, gold);
    c = await openConsole(browser(), server, { path: '/console' });
    await c.signIn(server.t.service);
    await c.page.getByText('Live', { exact: true }).waitFor();
    const error = { message: 'Internal error.', extensions: { code: 'INTERNAL' } };
    await c.page.route('**/graphql', (route) =>
      route.fulfill({ json: { data: { keyPolicies: null }, errors: [error] } }),
    );
    await c.link('Policies').click();
    await c.page.getByRole('alert').getByText('Internal error.').waitFor();
    await c.page.unroute('**/graphql');
    await c.button('Try again').click();
    await c.link('Gold').waitFor();
  });

  it('lists the keys that a change would change, and stores nothing', async () => {
    await server.t.importKeys(...keys);
    await importPolicies(server.t, gold);
    await open('/console/policies/gold');
    expect(await c.button('Show the impact').isDisabled()).toBe(true);
    await c.field('rate').fill('50');
    await c.page.getByRole('checkbox', { name: 'Access' }).uncheck();
    await c.button('Show the impact').click();
    await impact().getByText('2 keys would change.').waitFor();
    const mobile = (await row('Mobile').innerText()).replaceAll(/\s+/g, ' ');
    expect(mobile).toMatch(/^Mobile globex Rate 100 50 Access/);
    await impact().getByText('Import this version').click();
    const line = await impact().locator('pre').innerText();
    const wanted = { ...gold, rate: 50, governs: ['rate_limit'] };
    expect(parsePolicy(policyFromWire(JSON.parse(line)))).toEqual(parsePolicy(policyFromWire(wanted)));
    await c.field('rate').fill('51');
    await impact().getByText('The values above have changed since.').waitFor();
    await c.button('Back to the present values').click();
    await impact().waitFor({ state: 'detached' });
    expect(await c.field('rate').inputValue()).toBe('100');
    expect(await versions()).toEqual([['gold', 1]]);
    expect(c.problems).toEqual([]);
  });

  it('says that no key would change, and looks at more keys on request', async () => {
    const many = Array.from({ length: 25 }, (_, number) => ({
      ...keys[0],
      key_id: `key-${number}`,
      alias: `Key ${number}`,
    }));
    await server.t.importKeys(...many);
    await importPolicies(server.t, gold);
    await open('/console/policies/gold');
    await c.field('quotaMax').fill('10');
    await c.button('Show the impact').click();
    await impact().getByText('No key would change.').waitFor();
    await c.page.getByRole('checkbox', { name: 'Quota' }).check();
    await c.button('Show the impact').click();
    await impact().getByText('20 keys would change so far.').waitFor();
    await c.button('Look at more keys').click();
    await impact().getByText('25 keys would change.').waitFor();
    expect(await c.button('Look at more keys').count()).toBe(0);
  });

  it('names the values that are not valid at their fields', async () => {
    await importPolicies(server.t, gold);
    await open('/console/policies/gold');
    await c.field('rate').fill('-5');
    await c.button('Show the impact').click();
    await c.page.getByRole('alert').getByText('1 value is not valid.').waitFor();
    await c.page.getByText('Rate must be at least -1').waitFor();
    expect(await impact().count()).toBe(0);
  });

  it('suggests the imported policies that keys of the organization may name', async () => {
    await server.t.importKeys(...keys);
    await importPolicies(
      server.t,
      gold,
      { policy_id: 'ours', org_id: 'acme' },
      { policy_id: 'theirs', org_id: 'globex' },
    );
    await open('/console');
    await c.link('Report').click();
    await c.link('Edit').click();
    const listed = () =>
      c
        .field('applyPolicies')
        .evaluate((input: HTMLInputElement) => [...(input.list?.options ?? [])].map(({ value }) => value));
    await expect.poll(listed).toEqual(['gold', 'ours']);
  });
});

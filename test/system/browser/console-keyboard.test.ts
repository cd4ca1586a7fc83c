import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 100, per: 60, access_rights: { invoices: {} } },
  { key_id: 'mobile', org_id: 'acme', alias: 'Mobile', apply_policies: ['gold'] },
];
const maxTabs = 120;

describeInBrowser('the console with the keyboard alone', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
    await server.t.importKeys(...keys);
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });

  const press = async (...names: string[]) => {
    for (const name of names) await c.page.keyboard.press(name);
  };
  const type = (text: string) => c.page.keyboard.insertText(text);
  /** The name of the control that has the focus, or the path of its field. */
  const focused = () =>
    c.page.evaluate<string>(`(() => {
      const { ariaLabel, dataset, innerText, labels } = document.activeElement;
      return [dataset.path, ariaLabel, labels?.[0]?.innerText, innerText].find((name) => name) ?? '';
    })()`);
  /** Moves the focus with the tabulator to the control whose name begins with a text. */
  const tabTo = async (name: string) => {
    const seen: string[] = [];
    for (let count = 0; count < maxTabs; count += 1) {
      await press('Tab');
      const reached = await focused();
      if (reached.startsWith(name)) return;
      seen.push(reached);
    }
    throw new Error(`The focus did not reach ${name}. It was at: ${seen.join(', ')}`);
  };
  const open = async (path: string, credential = server.t.service) => {
    c = await openConsole(browser(), server, { path });
    await expect.poll(() => c.page.evaluate('document.activeElement.id')).toBe('credential');
    await type(credential);
    await press('Enter');
  };
  const keyPage = (name: string) => `/console/keys/${hashOf(name)}`;
  const stateOf = async (keyHash: string) => {
    const query = 'query ($by: OrgKeyByInput!) { orgKey(by: $by, includeDeleted: true) { state } }';
    const { body } = await server.t.graphql(query, { by: { keyHash } });
    return (body as { data: { orgKey: { state: string } } }).data.orgKey.state;
  };

  it('creates a key', async () => {
    await open('/console/new');
    await c.heading('Create key');
    await tabTo('orgID');
    await type('acme');
    await tabTo('alias');
    await type('New one');
    await tabTo('Create key');
    await press('Enter');
    await c.heading('New one is created');
    await tabTo('Copy');
  });

  it('deletes a key and restores it', async () => {
    await open(keyPage('billing'));
    await c.heading('Billing Active');
    await tabTo('More');
    await press('Enter');
    await tabTo('Delete');
    await press('Enter');
    await c.page.getByRole('dialog').waitFor();
    await tabTo('Reason');
    await type('not used');
    await press('Enter');
    await c.heading('Billing Deleted');
    await expect.poll(() => c.page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(await stateOf(hashOf('billing'))).toBe('DELETED');
    await tabTo('Restore');
    await press('Enter');
    await c.page.getByRole('dialog').waitFor();
    await tabTo('Restore the key');
    await press('Enter');
    await c.heading('Billing Active');
    expect(await stateOf(hashOf('billing'))).toBe('ACTIVE');
  });

  it('switches a key off, and reverts the change', async () => {
    await open(keyPage('billing'));
    await c.heading('Billing Active');
    await tabTo('More');
    await press('Enter');
    await tabTo('Switch off');
    await press('Enter');
    await tabTo('Switch off');
    await press('Enter');
    await c.heading('Billing Inactive');
    await tabTo('Revert to version 1');
    await press('Enter');
    await c.page.getByRole('dialog').getByText('These fields change.').waitFor();
    await tabTo('Revert');
    await press('Enter');
    await c.heading('Billing Active');
  });

  it('resets a quota', async () => {
    await server.t.importKeys({
      key_id: 'limited',
      org_id: 'acme',
      alias: 'Limited',
      quota_max: 1000,
      quota_remaining: 400,
    });
    await open(keyPage('limited'));
    await c.heading('Limited Active');
    await tabTo('Reset quota');
    await press('Enter');
    await c.page.getByRole('dialog').waitFor();
    await tabTo('Reason');
    await type('Complaint');
    await press('Enter');
    await c.card('Quota').getByText('1,000 left').waitFor();
  });

  it('merges an edit with a version that another client has saved', async () => {
    await open(keyPage('billing'));
    await c.heading('Billing Active');
    await tabTo('Edit');
    await press('Enter');
    await c.heading(/^Edit key/);
    await tabTo('rate');
    await press('ControlOrMeta+a');
    await type('300');
    await c.button('Save 1 change').waitFor();
    await server.t.update('billing', { alias: 'Billing', rate: 400, per: 60, access_rights: { invoices: {} } });
    await c.button('Merge …').waitFor();
    await tabTo('Merge …');
    await press('Enter');
    await tabTo('Yours: 300');
    await press('ArrowDown');
    expect(await focused()).toBe('Theirs: 400');
    await tabTo('Merge');
    await press('Enter');
    await c.page.getByText('Merged with version 2.').waitFor();
    expect(await c.field('rate').inputValue()).toBe('400');
    await tabTo('Undo the merge');
    await press('Enter');
    expect(await c.field('rate').inputValue()).toBe('300');
  });

  it('previews a definition', async () => {
    await open('/console/preview', server.t.management);
    await c.heading('Preview');
    await tabTo('Definition as JSON');
    await type('{"key_id":"demo","alias":"Demo"}');
    await tabTo('Check');
    await press('Enter');
    await c.card('What would be stored').getByText(hashOf('demo')).waitFor();
  });

  it('changes selected keys in bulk', async () => {
    await open('/console');
    await c.page.getByRole('table').waitFor();
    await press('j', 'x', 'j', 'x');
    await c.page.getByRole('region', { name: '2 keys selected' }).waitFor();
    await c.page.evaluate(`document.querySelector('h1').focus()`);
    await tabTo('Change 2 keys');
    await press('Enter');
    await c.heading('Change in bulk');
    await tabTo('Field');
    await press('R', 'a', 't', 'e');
    await tabTo('rate');
    await type('50');
    await tabTo('Try it');
    await press('Enter');
    await c.button('Apply to 2 keys').waitFor();
    await tabTo('Apply to 2 keys');
    await press('Enter');
    await c.card('Result').getByText('2 keys changed.').waitFor();
  });

  it('narrows the list by view, filter and order', async () => {
    await open('/console');
    await c.page.getByRole('table').waitFor();
    await tabTo('Inactive');
    await press('Enter');
    await c.page.getByRole('heading', { name: 'No key matches' }).waitFor();
    await tabTo('Clear');
    await press('Enter');
    await c.page.getByRole('table').waitFor();
    await tabTo('Last change');
    await press('Enter');
    await expect.poll(() => c.page.evaluate('location.search')).toContain('sort=LAST_UPDATED');
  });

  it('explains a request', async () => {
    await open(keyPage('billing'));
    await c.heading('Billing Active');
    await tabTo('Path');
    await press('ControlOrMeta+a');
    await type('/invoices/7');
    await press('Enter');
    await c.page.getByText('the request is allowed').waitFor();
  });

  it('shows the impact of a policy', async () => {
    await importPolicies(server.t, { policy_id: 'gold', name: 'Gold', rate: 5, per: 1 });
    await open('/console');
    await c.page.getByRole('table').waitFor();
    await tabTo('Policies');
    await press('Enter');
    await c.heading('Policies');
    await c.link('Gold').waitFor();
    await tabTo('Gold');
    await press('Enter');
    await c.heading('Gold');
    await tabTo('rate');
    await press('ControlOrMeta+a');
    await type('6');
    await tabTo('Show the impact');
    await press('Enter');
    await c.page.getByText('1 key would change.').first().waitFor();
    await tabTo('Mobile');
    await press('Enter');
    await c.heading('Mobile Active');
  });
});

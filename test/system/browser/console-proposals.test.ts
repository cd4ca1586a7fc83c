import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Scope } from '../../../src/keys/key.js';
import { hashOf } from '../../support/factories.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

describeInBrowser('the proposals of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
    await server.t.importKeys(
      { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 5, per: 60 },
      { key_id: 'trial', org_id: 'globex', alias: 'Trial' },
    );
  });
  afterEach(async () => {
    expect(c.problems).toEqual([]);
    await c.close();
    await server.close();
  });

  const credentialOf = async (label: string, scopes: Scope[], orgID = 'acme') =>
    (await server.t.issue('service', { label, scopes, orgID })).secret;
  const approver = () => credentialOf('Bob', ['read', 'approve']);
  const send = async (field: string, secret: string) => {
    const { body } = await server.t.graphql(
      `mutation { done: ${field} { id } }`,
      {},
      { 'x-svc-authorization': secret },
    );
    const { data } = body as { readonly data?: { readonly done: { readonly id: string } | null } };
    if (!data?.done) throw new Error(JSON.stringify(body));
    return data.done.id;
  };
  const propose = async (change: string, more = '', secret?: string) =>
    send(
      `proposeKeyChange(keyID: "billing", change: { ${change} } ${more})`,
      secret ?? (await credentialOf('Ann', ['read', 'propose'])),
    );
  const open = async (secret: string, path = '/console/proposals') => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(secret);
  };
  const items = () => c.page.locator('.feed > li');
  const texts = async () => (await items().allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' '));
  const buttons = async () => items().getByRole('button').allInnerTexts();

  it('shows a proposal as it is made; an approval makes its change, by the keyboard too', async () => {
    await open(await approver());
    await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await propose('patch: { patch: { rate: 50, tags: ["a"] } }', 'reason: "OPS-812"');
    await c.card('Proposals').waitFor();
    expect(await texts()).toEqual([
      expect.stringMatching(
        /^Ann proposes to change Billing acme .* Waits for an approval expires next month “OPS-812” Rate 5 50 Tags a /,
      ),
    ]);
    expect(await buttons()).toEqual(['Approve …', 'Reject …']);
    await c.button('Approve … the proposal for Billing').focus();
    await c.page.keyboard.press('Enter');
    const dialog = c.page.getByRole('dialog', { name: 'Approve the change of Billing?' });
    await dialog.getByText('What the change would do now:').waitFor();
    expect(await dialog.locator('.diff').innerText()).toMatch(/Rate 5 50/);
    await c.escapeDialog();
    await expect.poll(() => c.page.evaluate('document.activeElement.textContent')).toBe('Approve …');
    await c.page.keyboard.press('Enter');
    await dialog.getByLabel('Reason').fill('agreed');
    await c.page.keyboard.press('Enter');
    await c.page.getByRole('status').getByText('Approved.').waitFor();
    await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await c.link('Ended').click();
    await expect.poll(texts).toEqual([expect.stringMatching(/Made just now, approved by Bob “agreed”/)]);
    expect(await buttons()).toEqual([]);
  });

  it('has no buttons for what the credential may not do, and nothing of another organization', async () => {
    const ann = await credentialOf('Ann', ['read', 'propose', 'approve']);
    await propose('plain: DELETE', '', ann);
    await send(
      'proposeKeyChange(keyID: "trial", change: { plain: DELETE })',
      await credentialOf('Gil', ['read', 'propose'], 'globex'),
    );
    await open(ann);
    await c.page.getByText('Another person must approve what you propose.').waitFor();
    expect([await texts(), await buttons()]).toEqual([
      [expect.stringContaining('Ann proposes to delete Billing')],
      ['Withdraw …'],
    ]);
    await c.close();
    await open(await credentialOf('Eve', ['read']));
    await expect.poll(texts).toHaveLength(1);
    expect(await buttons()).toEqual([]);
    await c.close();
    await open(ann);
    await c.button(/^Withdraw/).click();
    await c.button('Withdraw the change').click();
    await c.page.getByRole('status').getByText('Withdrawn.').waitFor();
    await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
  });

  it('says which fields have changed since, and what the change would do now', async () => {
    await propose('patch: { patch: { rate: 50 } }');
    await open(await approver());
    await c.card('Proposals').waitFor();
    await server.t.update('billing', { alias: 'Billing', rate: 7, per: 60 });
    await c.page.getByText('The key has changed since: it has version 2').waitFor();
    await c.button(/^Approve/).click();
    await c.page.getByText('The change cannot be made any more.').waitFor();
    await c.button('Approve').last().click();
    const dialog = c.page.getByRole('dialog', { name: 'The change was not made' });
    await dialog.getByText('Rate has changed since version 1').waitFor();
    await dialog.getByText('What the change would do now:').waitFor();
    await expect.poll(() => dialog.locator('.diff').innerText()).toMatch(/7.*50/s);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await c.link('Ended').click();
    await c.page.getByText('Outdated').waitFor();
  });

  it('says so if somebody else was faster', async () => {
    const id = await propose('patch: { patch: { rate: 50 } }');
    await open(await approver());
    await c.button(/^Reject/).click();
    const dialog = c.page.getByRole('dialog');
    await dialog.getByText('Nothing is changed, and the proposal ends.').waitFor();
    await send(`rejectKeyProposal(id: "${id}")`, server.t.service);
    await c.page.getByRole('heading', { name: 'Nothing waits', includeHidden: true }).waitFor();
    await c.button('Reject the change').click();
    await dialog.getByText('The proposal is rejected already.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('turns the pages, and shows one organization to a credential of all', async () => {
    const ann = await credentialOf('Ann', ['read', 'propose']);
    for (let number = 1; number <= 21; number += 1) {
      // The newest is first.
      server.t.clock.now = new Date(server.t.clock.now.getTime() + 1000);
      await propose(`patch: { patch: { rate: ${100 + number} } }`, '', ann);
    }
    await open(server.t.service);
    await expect.poll(texts).toHaveLength(20);
    await c.link('Next page').click();
    await expect.poll(texts).toEqual([expect.stringContaining('Rate 5 101')]);
    await c.page.getByLabel('Organization').selectOption('globex');
    await c.page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
  });

  it('shows what waits on the page of its key', async () => {
    const at = new Date(Date.now() + 7_200_000).toISOString();
    await propose('plain: DELETE', `applyAt: "${at}", reason: "end of contract"`);
    await open(await approver(), `/console/keys/${hashOf('billing')}`);
    const panel = c.card('Proposed changes');
    await panel.getByText('proposes to delete this key').waitFor();
    expect((await panel.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /Waits for an approval is made in 2 hours .* after an approval/,
    );
    await panel.getByRole('button', { name: /^Approve/ }).click();
    await c.page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await panel.getByText('approved by Bob').waitFor();
    await panel.getByText('Scheduled').waitFor();
  });
});

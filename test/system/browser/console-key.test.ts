import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const billing = {
  key_id: 'billing',
  org_id: 'acme',
  alias: 'Billing',
  rate: 100,
  per: 60,
  quota_max: 1000,
  quota_renewal_rate: 3600,
  hmac_string: 'a secret of HMAC',
  access_rights: { invoices: { api_id: 'invoices', versions: ['Default'] } },
};

const { key_id: _keyID, org_id: _orgID, hmac_string: _secret, ...definition } = billing;

describeInBrowser('a key in the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  const path = `/console/keys/${hashOf('billing')}`;
  beforeEach(async () => {
    server = await startServer();
    // The browser counts down by its own clock.
    server.t.clock.now = new Date();
    await server.t.importKeys(billing);
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (view = path) => {
    c = await openConsole(browser(), server, { path: view });
    await c.signIn(server.t.service);
    await c.page.getByText('Loading …').waitFor({ state: 'hidden' });
  };
  const consume = (amount: number) =>
    server.t.graphql('mutation ($amount: Int64) { consumeOrgQuota(keyID: "billing", amount: $amount) { allowed } }', {
      amount,
    });
  const stored = async () => {
    const { body } = await server.t.graphql(
      '{ orgKey(by: { keyID: "billing" }) { version definition { alias rate per quotaMax hmacStringSet tags } quota { used } } }',
    );
    return (body as { data: { orgKey: Record<string, unknown> & { definition: Record<string, unknown> } } }).data
      .orgKey;
  };
  const field = (name: string) => c.page.locator(`[data-path="${name}"]`);
  const review = async () => {
    await c.button('Review the changes').click();
    await c.page.getByRole('heading', { name: 'Review the changes' }).waitFor();
  };

  it('shows its definition, its live quota with a countdown, and its identifier on request only', async () => {
    await consume(250);
    await open();
    await c.card('Live quota').getByText('250 of 1,000').waitFor();
    expect(await c.card('Live quota').getByText('750 requests remain').isVisible()).toBe(true);
    expect(await c.page.getByRole('timer').innerText()).toMatch(/^0[01]:\d\d:\d\d$/);
    expect(await c.card('Definition').innerText()).toContain('set (not shown)');
    expect(await c.card('Definition').innerText()).toMatch(/per\s+60 seconds/);
    expect(await c.page.locator('main').innerText()).not.toContain('billing');
    await c.button('Show').click();
    await c.page.getByText('billing', { exact: true }).waitFor();
    expect(c.problems).toEqual([]);
  });

  it('shows its history with differences and reasons, and reverts to an earlier version', async () => {
    await server.t.graphql(
      'mutation ($input: UpdateKeyInput!) { updateOrgKey(keyID: "billing", input: $input, reason: "More traffic") { version } }',
      { input: { alias: 'Billing', rate: 500, per: 60 } },
      { 'x-keyfront-actor': 'Ana%20P%C3%A9rez' },
    );
    await open();
    const newest = c.page.locator('[data-version="2"]');
    expect(await newest.innerText()).toContain('by Ana Pérez, asserted by test service');
    expect(await c.page.locator('[data-version="1"]').innerText()).toContain('by keyfront keys import');
    expect(await newest.innerText()).toContain('Reason: More traffic');
    expect(await newest.getByRole('row', { name: /^rate/ }).innerText()).toMatch(/changed\s+100\s+500/);
    await c.button('Revert to version 1').click();
    await c.page.getByRole('dialog').getByLabel('Reason').fill('Too much traffic');
    await c.page.getByRole('dialog').getByRole('button', { name: 'Revert' }).click();
    await c.page.locator('[data-version="3"]').getByText('Reason: Too much traffic').waitFor();
    expect(await stored()).toMatchObject({ version: 3, definition: { rate: 100, quotaMax: 1000 } });
  });

  it('loads older changes on request', async () => {
    for (let rate = 1; rate <= 22; rate += 1) await server.t.update('billing', { ...definition, rate });
    await open();
    expect(await c.page.locator('[data-version]').count()).toBe(20);
    await c.button('Show older changes').click();
    await c.page.locator('[data-version="1"]').waitFor();
    expect(await c.page.locator('[data-version]').count()).toBe(23);
  });

  it('resets the quota after a confirmation that predicts the effect', async () => {
    await consume(800);
    await open();
    await c.button('Reset quota').click();
    const dialog = c.page.getByRole('dialog');
    await dialog.getByText('Reset drops 800 used requests').waitFor();
    await dialog.getByLabel('Reason').fill('Complaint');
    await dialog.getByRole('button', { name: 'Reset the quota' }).click();
    await c.card('Live quota').getByText('0 of 1,000', { exact: true }).waitFor();
    await c.page.locator('[data-version="2"]').getByText('Reset the quota after 800 used requests.').waitFor();
    await c.card('Usage over time').getByRole('img', { name: '5 times' }).waitFor();
    expect(await stored()).toMatchObject({ definition: { rate: 100, hmacStringSet: true }, quota: { used: 0 } });
  });

  it('changes nothing when a dialog is closed with Escape', async () => {
    await open();
    await c.button('Reset quota').click();
    await c.page.getByRole('dialog').waitFor();
    await c.page.keyboard.press('Escape');
    await c.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ version: 1 });
  });

  it('shows that there is no such key', async () => {
    for (const hash of ['0'.repeat(64), '%ff']) {
      await open(`/console/keys/${hash}`);
      await c.page.getByRole('alert').getByText('Not found').waitFor();
    }
  });

  it('saves an edit after a dry run with its differences, and keeps secrets', async () => {
    await open(`${path}?edit=yes`);
    await field('rate').fill('250.5');
    await field('tags').fill('one\ntwo');
    await c.page.getByText('Checked: 0 problems').waitFor();
    await review();
    await c.page.getByRole('row', { name: /^rate/ }).waitFor();
    expect(await c.page.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Field'),
      expect.stringMatching(/rate changed\s+100\s+250.5/),
      expect.stringMatching(/tags added\s+–\s+\["one","two"\]/),
    ]);
    await c.page.getByText('Live quota: ').waitFor();
    expect(await stored()).toMatchObject({ version: 1 });
    await c.page.getByLabel('Reason').fill('Spring');
    await c.button('Save').click();
    await c.page.locator('[data-version="2"]').getByText('Reason: Spring').waitFor();
    expect(await stored()).toMatchObject({
      definition: { rate: 250.5, tags: ['one', 'two'], hmacStringSet: true, quotaMax: 1000 },
    });
    expect(c.problems).toEqual([]);
  });

  it('edits nested objects and lists, with the issues beside their fields', async () => {
    await open(`${path}?edit=yes`);
    await c.button('Add an entry to accessRights').click();
    await field('accessRights[1].apiID').fill('orders');
    await field('accessRights[1].label').locator('..').getByText('is required').waitFor();
    await field('accessRights[1].label').fill('orders');
    await field('rate').fill('-5');
    await field('rate').locator('..').getByText('must be at least -1').waitFor();
    expect(await field('rate').getAttribute('aria-invalid')).toBe('true');
    expect(await c.button('Review the changes').isDisabled()).toBe(true);
    await field('rate').fill('many');
    await field('rate').locator('..').getByText('must be a number').waitFor();
    await field('rate').fill('5');
    await c.page.getByText('Checked: 0 problems').waitFor();
    await c.button('Remove entry 1 of accessRights').click();
    await review();
    await c.button('Save').click();
    await c.page.locator('[data-version="2"]').waitFor();
    const { body } = await server.t.graphql(
      '{ orgKey(by: { keyID: "billing" }) { definition { rate accessRights { label apiID } } } }',
    );
    expect(body).toEqual({
      data: { orgKey: { definition: { rate: 5, accessRights: [{ label: 'orders', apiID: 'orders' }] } } },
    });
  });

  it('previews with a management credential as the user types, and drops the response to an earlier text', async () => {
    c = await openConsole(browser(), server, { path: '/console/preview' });
    await c.signIn(server.t.management);
    await c.page.getByLabel('Definition as JSON').waitFor();
    await c.go(`${path}?edit=yes`);
    await c.signIn(server.t.service);
    await c.page.getByText('Checked: 0 problems').waitFor();
    const held = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const texts: string[] = [];
    await c.page.route('**/graphql', async (route) => {
      const body = route.request().postData() ?? '';
      if (body.includes('"rate":-7')) {
        texts.push(body);
        sent.resolve();
        await held.promise;
      }
      await route.fallback();
    });
    const cancelled = c.page.waitForEvent(
      'requestfailed',
      (request) => request.postData()?.includes('"rate":-7') ?? false,
    );
    await field('rate').fill('-7');
    await sent.promise;
    await field('rate').fill('-8');
    await c.page.getByText('Checked: 1 problems').waitFor();
    await field('rate').fill('7');
    await c.page.getByText('Checked: 0 problems').waitFor();
    // The response to the earlier text is dropped by an abort of its request.
    await cancelled;
    held.resolve();
    const checked = c.page.waitForResponse((response) => response.request().postData()?.includes('Billing 2') ?? false);
    await field('alias').fill('Billing 2');
    await checked;
    await c.page.getByText('Checked: 0 problems').waitFor();
    expect(await field('rate').getAttribute('aria-invalid')).toBe('false');
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain('documentId');
    expect(texts[0]).not.toContain('"keyID"');
  });

  it('merges field by field with a version that a second client has saved', async () => {
    await open(`${path}?edit=yes`);
    await field('alias').fill('Mine');
    await field('rate').fill('300');
    await c.page.getByText('Checked: 0 problems').waitFor();
    await server.t.update('billing', { ...definition, rate: 400, quota_max: 5000 });
    // The review is replaced as soon as its dry run has found the conflict.
    await c.button('Review the changes').click();
    await c.page.getByText('Another client has saved version 2 meanwhile').waitFor();
    expect(await c.page.locator('main li').allInnerTexts()).toEqual([expect.stringMatching(/quotaMax.*1000.*5000/)]);
    expect(await c.button('Continue').isDisabled()).toBe(true);
    await c.page.getByRole('group', { name: 'rate' }).getByLabel('Theirs: 400').check();
    await c.button('Continue').click();
    await review();
    await c.page.getByRole('row', { name: /^alias/ }).waitFor();
    expect(await c.page.getByRole('row').count()).toBe(2);
    await c.button('Save').click();
    await c.page.locator('[data-version="3"]').waitFor();
    expect(await stored()).toMatchObject({ definition: { alias: 'Mine', rate: 400, quotaMax: 5000 } });
  });

  it('merges when the second client saves between the dry run and the save', async () => {
    await open(`${path}?edit=yes`);
    await field('alias').fill('Mine');
    await c.page.getByText('Checked: 0 problems').waitFor();
    await review();
    await c.page.getByRole('row', { name: /^alias/ }).waitFor();
    await server.t.update('billing', { ...definition, rate: 400 });
    await c.button('Save').click();
    await c.page.getByText('Another client has saved version 2 meanwhile').waitFor();
    await c.button('Continue').click();
    await review();
    await c.button('Save').click();
    await c.page.locator('[data-version="3"]').waitFor();
    expect(await stored()).toMatchObject({ definition: { alias: 'Mine', rate: 400 } });
  });

  it('requests another credential when it is revoked during an edit, and keeps the edit', async () => {
    await open(`${path}?edit=yes`);
    // The service has accepted the credential for the first check. The edit causes the next request.
    await c.page.getByText('Checked: 0 problems').waitFor();
    const { credentials } = server.t.app.services;
    const service = (await credentials.list()).find(({ kind }) => kind === 'service');
    await credentials.revoke(service?.id ?? '', server.t.clock.now);
    await field('alias').fill('Mine');
    const rejected = c.page.getByRole('dialog').getByText('does not accept the credential');
    await rejected.waitFor();
    // The second Escape closes a dialog even if its page rejects that.
    for (const key of ['Escape', 'Escape']) await c.page.keyboard.press(key);
    await rejected.waitFor();
    // secret-scan: fixture
    await c.signIn('kf_svc_0000000000000000000000000000000000000x');
    await rejected.waitFor();
    await c.signIn((await server.t.issue('service')).secret);
    await review();
    await c.button('Save').click();
    await c.page.getByRole('heading', { name: 'Mine' }).waitFor();
  });

  it('warns before unsaved changes are left by a link, by going back, or by a reload', async () => {
    await open();
    await c.page.getByRole('link', { name: 'Edit' }).click();
    await field('alias').press('End');
    await field('alias').pressSequentially(' 2');
    const edited = c.page.url();
    const messages: string[] = [];
    let reaction: 'accept' | 'dismiss' = 'dismiss';
    c.page.on('dialog', async (dialog) => {
      messages.push(`${dialog.type()} ${dialog.message()}`);
      await dialog[reaction]();
    });
    await c.page.getByRole('link', { name: 'All keys' }).click();
    await expect.poll(() => messages).toHaveLength(1);
    await c.page.evaluate('setTimeout(() => history.back())');
    await expect.poll(() => messages).toHaveLength(2);
    await c.page.evaluate('setTimeout(() => location.reload())');
    await expect.poll(() => messages).toHaveLength(3);
    expect(messages).toEqual([
      expect.stringMatching(/^confirm The changes are not saved/),
      expect.stringMatching(/^confirm The changes are not saved/),
      expect.stringMatching(/^beforeunload/),
    ]);
    expect([c.page.url(), await field('alias').inputValue()]).toEqual([edited, 'Billing 2']);
    reaction = 'accept';
    await c.page.getByRole('link', { name: 'All keys' }).click();
    await c.page.getByRole('table').waitFor();
    expect(messages).toHaveLength(4);
    expect(await stored()).toMatchObject({ version: 1 });
  });

  it('does not warn before unchanged or saved forms are left', async () => {
    await open(`${path}?edit=yes`);
    const messages: string[] = [];
    c.page.on('dialog', (dialog) => messages.push(dialog.message()));
    await c.button('Cancel').click();
    await c.page.getByRole('link', { name: 'Edit' }).click();
    await field('rate').fill('300');
    await review();
    await c.button('Save').click();
    await c.page.locator('[data-version="2"]').waitFor();
    expect(messages).toEqual([]);
  });

  it('keeps an edit that storage did not save, because its file was deleted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyfront-console-'));
    const own = await startServer({ KEYFRONT_DATA: folder });
    try {
      await own.t.importKeys(billing);
      c = await openConsole(browser(), own, { path: `${path}?edit=yes` });
      await c.signIn(own.t.service);
      await field('rate').fill('300');
      await review();
      await c.page.getByRole('row', { name: /^rate/ }).waitFor();
      await rm(join(folder, 'keyfront.db'));
      await c.button('Save').click();
      await c.page.getByRole('alert').getByText('Service unavailable').waitFor();
      await c.button('Back to the form').click();
      expect(await field('rate').inputValue()).toBe('300');
      await c.close();
    } finally {
      await own.close();
      await rm(folder, { recursive: true });
    }
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashOf } from '../../support/factories.js';
import { importPolicies } from '../../support/policies.js';
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

describeInBrowser('the form of a key in the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  const page = `/console/keys/${hashOf('billing')}`;
  const form = `${page}?edit=yes`;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
    await server.t.importKeys(billing, {
      key_id: 'other',
      org_id: 'acme',
      tags: ['production'],
      apply_policies: ['gold'],
    });
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (path = form) => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(server.t.service);
    await c.field('alias').or(c.card('Activity')).first().waitFor();
  };
  const read = async () => {
    const { body } = await server.t.graphql(
      '{ orgKey(by: { keyID: "billing" }) { version definition { alias rate per quotaMax quotaRenewalRate expires isInactive hmacStringSet tags applyPolicies throttleInterval accessRights { label apiID allowedUrls { methods url } } } } }',
    );
    return (body as { data: { orgKey: Record<string, unknown> } }).data.orgKey;
  };
  const pending = () => c.page.getByRole('form', { name: 'What will change' });
  const changes = () => pending().locator('.diff li').allInnerTexts();
  const save = async (label: string, version: number) => {
    await c.button(label).click();
    await c.page.locator(`[data-version="${version}"]`).waitFor();
  };

  it('changes what people change, in their units, and shows the difference before it saves', async () => {
    await open();
    expect(await c.page.locator('main').innerText()).not.toMatch(/quotaMax|applyPolicies|isInactive|Unix seconds/);
    await c.field('alias').fill('Billing 2');
    await c.field('isInactive').selectOption('Inactive: gateways reject the key');
    await c.button('Expires in 90 days').click();
    await c.field('rate').fill('2,500.5');
    await c.page.getByLabel('Unit of the rate period').selectOption('hour');
    await c.field('quotaMax').fill('20,000');
    await c.page.getByLabel('Unit of the quota period').selectOption('month (30 days)');
    await c.field('applyPolicies').fill('gold');
    await c.field('applyPolicies').press('Enter');
    await c.field('tags').fill('one, two');
    await c.field('tags').press('Enter');
    await c.button('Save 7 changes').waitFor();
    const shown = (await changes()).join('\n').replaceAll(/ +/g, ' ');
    expect(shown).toContain('Name Billing Billing 2');
    expect(shown).toContain('State Active Inactive');
    expect(shown).toContain('Rate 100 per minute 2,500.5 per hour');
    expect(shown).toContain('Quota 1,000 per hour 20,000 per 30 days');
    expect(shown).toContain('Policies gold');
    expect(shown).toContain('Tags one two');
    await pending().getByText('Requests left: 1,000, then 20,000.').waitFor();
    await pending().getByRole('list', { name: 'Warnings' }).waitFor();
    expect(await read()).toMatchObject({ version: 1 });
    await pending().getByLabel('Reason').fill('Spring');
    await save('Save 7 changes', 2);
    await c.page.locator('[data-version="2"]').getByText('“Spring”').waitFor();
    const stored = await read();
    expect(stored).toMatchObject({
      definition: {
        ...{ alias: 'Billing 2', rate: 2500.5, per: 3600, quotaMax: 20_000, quotaRenewalRate: 2_592_000 },
        ...{ isInactive: true, tags: ['one', 'two'], applyPolicies: ['gold'], hmacStringSet: true },
      },
    });
    const { expires } = stored['definition'] as { expires: number };
    expect(Math.abs(expires - Date.now() / 1000 - 90 * 86_400)).toBeLessThan(600);
    expect(c.problems).toEqual([]);
  });

  it('removes limits, an expiry and chips that are emptied', async () => {
    await server.t.update('billing', { ...definition, expires: 1_893_456_000, tags: ['a', 'b'] });
    await open();
    await c.field('rate').fill('');
    await c.field('quotaMax').fill('');
    await c.button('Never').click();
    await c.button('Remove a from Tags').click();
    await c.button('Save 4 changes').waitFor();
    expect((await changes()).join('\n')).toMatch(/Tags a/);
    await save('Save 4 changes', 3);
    expect(await read()).toMatchObject({
      definition: { rate: null, per: null, quotaMax: null, quotaRenewalRate: null, expires: null, tags: ['b'] },
    });
  });

  it('adds chips that are typed key by key, also after the list was shown', async () => {
    c = await openConsole(browser(), server);
    await c.signIn(server.t.service);
    await c.link('Billing').click();
    await c.link('Edit').click();
    for (const [label, typed] of [
      ['Add a tag', 'vip'],
      ['Add a policy', 'gold'],
    ] as const) {
      await c.page.getByLabel(label).click();
      await c.page.keyboard.type(typed);
      await c.page.keyboard.press('Enter');
    }
    await c.button('Remove gold from Policies').waitFor();
    await c.button('Remove vip from Tags').click();
    expect(await c.page.evaluate('document.activeElement.dataset.path')).toBe('tags');
  });

  it('edits access with paths, and shows each problem beside its field', async () => {
    await open();
    await c.button('Add an API').click();
    expect(await c.page.evaluate('document.activeElement.dataset.path')).toBe('accessRights[1].apiID');
    await pending().getByText('1 problem to fix').waitFor();
    // It says what is missing as soon as something is there.
    expect(await c.page.getByText('Label is required').count()).toBe(0);
    await c.field('accessRights[1].allowedUrls').fill('/orders');
    await c.page.getByText('Label is required').first().waitFor();
    await c.field('accessRights[1].apiID').fill('orders');
    await c.field('accessRights[1].allowedUrls').fill('GET, post /orders/.*\n/health');
    await c.field('accessRights[1].allowedUrls').blur();
    await c.field('rate').fill('-5');
    await c.page.getByText('Rate must be at least -1').waitFor();
    await pending().getByText('1 problem to fix').waitFor();
    expect(await c.button('Save').isDisabled()).toBe(true);
    await c.field('rate').fill('many');
    await c.page.getByText('Rate must be a number').waitFor();
    await c.field('rate').fill('5');
    await c.page.locator('.right summary').first().click();
    await c.button('Remove the API invoices').click();
    await c.button('Save 2 changes').waitFor();
    await save('Save 2 changes', 2);
    expect(await read()).toMatchObject({
      definition: {
        rate: 5,
        accessRights: [
          {
            label: 'orders',
            apiID: 'orders',
            allowedUrls: [
              { methods: ['GET', 'POST'], url: '/orders/.*' },
              { methods: null, url: '/health' },
            ],
          },
        ],
      },
    });
  });

  it('says which policy decides instead of a limit of the key', async () => {
    await importPolicies(server.t, { policy_id: 'gold', governs: ['quota'], quota_max: 50 });
    await open(`/console/keys/${hashOf('other')}?edit=yes`);
    await c.page.getByText('The policy gold decides. The value here has no effect').waitFor();
    expect(await c.page.getByText('Enforced by the gateway.').count()).toBe(1);
  });

  it('has every other field under its topic, with the words of the schema', async () => {
    await open();
    await c.page.getByText('Throttling and smoothing').click();
    await c.page.getByText('Time that the gateway delays a request').waitFor();
    await c.page.getByLabel('Throttle interval').fill('0.5');
    await c.page.getByText('Signatures, passwords and certificates').click();
    expect(await c.page.getByLabel('HMAC secret', { exact: true }).inputValue()).toBe('');
    await c.page.getByLabel('Remove the stored value of HMAC secret').check();
    await c.button('Save 2 changes').waitFor();
    expect((await changes()).join('\n')).toMatch(/HMAC secret secret removed/);
    await save('Save 2 changes', 2);
    expect(await read()).toMatchObject({ definition: { throttleInterval: 0.5, hmacStringSet: false } });
  });

  it('merges with a version that another client has saved, with a way back and an undo', async () => {
    await open();
    await c.field('alias').fill('Mine');
    await c.field('rate').fill('300');
    await c.button('Save 2 changes').waitFor();
    await server.t.update('billing', { ...definition, rate: 400, quota_max: 5000 });
    await c.page.getByText('test service has saved version 2 while you edited.').waitFor();
    await c.button('Merge …').click();
    expect((await c.page.locator('main .diff').innerText()).replaceAll(/ +/g, ' ')).toContain('Quota 1,000 5,000');
    expect(await c.page.getByRole('button', { name: 'Merge', exact: true }).isDisabled()).toBe(true);
    await c.button('Back to my changes').click();
    expect(await c.field('rate').inputValue()).toBe('300');
    const merge = async () => {
      await c.button('Merge …').click();
      await c.page.getByRole('group', { name: 'Rate' }).getByLabel('Theirs: 400').check();
      await c.page.getByRole('button', { name: 'Merge', exact: true }).click();
      await c.page.getByText('Merged with version 2.').waitFor();
    };
    await merge();
    expect(await c.field('rate').inputValue()).toBe('400');
    await c.button('Undo the merge').click();
    expect(await c.field('rate').inputValue()).toBe('300');
    await merge();
    await c.button('Save 1 change').waitFor();
    await save('Save 1 change', 3);
    expect(await read()).toMatchObject({ definition: { alias: 'Mine', rate: 400, quotaMax: 5000 } });
  });

  it('requests another credential when it is revoked during an edit, and keeps the edit', async () => {
    await open();
    await c.field('alias').fill('Mine');
    await c.button('Save 1 change').waitFor();
    const { credentials } = server.t.app.services;
    const service = (await credentials.list()).find(({ kind }) => kind === 'service');
    await credentials.revoke(service?.id ?? '', server.t.clock.now);
    await c.field('alias').fill('Mine 2');
    const rejected = c.page.getByRole('dialog').getByText('does not accept this credential');
    await rejected.waitFor();
    // The second Escape closes a dialog even if its page rejects that.
    for (const key of ['Escape', 'Escape']) await c.page.keyboard.press(key);
    await rejected.waitFor();
    await c.signIn((await server.t.issue('service')).secret);
    await c.page.getByRole('dialog').waitFor({ state: 'detached' });
    await c.button('Save 1 change').click();
    await c.heading('Mine 2 Active');
  });

  it('warns before unsaved changes are left, and not before unchanged or saved ones', async () => {
    await open(page);
    await c.link('Edit').click();
    await c.button('Cancel').click();
    await c.link('Edit').click();
    await c.field('alias').press('End');
    await c.field('alias').pressSequentially(' 2');
    const edited = c.page.url();
    const messages: string[] = [];
    let reaction: 'accept' | 'dismiss' = 'dismiss';
    c.page.on('dialog', async (dialog) => {
      messages.push(`${dialog.type()} ${dialog.message()}`);
      await dialog[reaction]();
    });
    await c.link('Organizations').click();
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
    expect([c.page.url(), await c.field('alias').inputValue()]).toEqual([edited, 'Billing 2']);
    await c.button('Save 1 change').click();
    await c.page.locator('[data-version="2"]').waitFor();
    reaction = 'accept';
    await c.link('Organizations').click();
    await c.heading('Organizations');
    expect(messages).toHaveLength(3);
  });

  it('keeps an edit that storage did not save, because its file was deleted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyfront-console-'));
    const own = await startServer({ KEYFRONT_DATA: folder });
    try {
      await own.t.importKeys(billing);
      c = await openConsole(browser(), own, { path: form });
      await c.signIn(own.t.service);
      await c.field('rate').fill('300');
      await c.button('Save 1 change').waitFor();
      await rm(join(folder, 'keyfront.db'));
      await c.button('Save 1 change').click();
      await c.page.getByRole('alert').getByText('Service unavailable').waitFor();
      expect(await c.field('rate').inputValue()).toBe('300');
    } finally {
      await own.close();
      await rm(folder, { recursive: true });
    }
  });

  it('is operated with the keyboard alone, from the sign-in to a saved edit', async () => {
    c = await openConsole(browser(), server);
    const press = async (...keys: string[]) => {
      for (const name of keys) await c.page.keyboard.press(name);
    };
    const focusOn = async (text: string) => {
      for (let count = 0; count < 200; count += 1) {
        const focused = await c.page.evaluate(
          `(document.activeElement.innerText || document.activeElement.dataset.path || document.activeElement.type || '')`,
        );
        if (String(focused).startsWith(text)) return;
        await press('Tab');
      }
      throw new Error(`The focus did not reach ${text}.`);
    };
    // The field for the credential has the focus.
    await expect.poll(() => c.page.evaluate('document.activeElement.id')).toBe('credential');
    await c.page.keyboard.insertText(server.t.service);
    await press('Enter');
    await c.page.getByRole('table').waitFor();
    await press('/');
    await c.page.keyboard.insertText('Bill');
    await press('Enter');
    await expect.poll(c.names).toEqual(['Billing']);
    await press('Tab');
    await c.page.evaluate('document.activeElement.blur()');
    await press('j', 'Enter');
    await c.heading('Billing Active');
    expect(await c.page.evaluate('document.activeElement.tagName')).toBe('H1');
    await focusOn('Edit');
    await press('Enter');
    await c.heading(/^Edit key/);
    await focusOn('rate');
    await press('ControlOrMeta+a');
    await c.page.keyboard.insertText('77');
    await c.button('Save 1 change').waitFor();
    await focusOn('Save 1 change');
    await press('Enter');
    await c.page.locator('[data-version="2"]').waitFor();
  });
});

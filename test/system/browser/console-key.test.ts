import { afterEach, beforeEach, expect, it } from 'vitest';
import { noticeOf } from '../../../src/keys/notices.js';
import { hashOf } from '../../support/factories.js';
import { importPolicies } from '../../support/policies.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const day = 86_400;
const billing = {
  key_id: 'billing',
  org_id: 'acme',
  alias: 'Billing',
  date_created: '2025-01-01T00:00:00Z',
  rate: 100,
  per: 60,
  quota_max: 1000,
  quota_renewal_rate: 10 * day,
  hmac_string: 'a secret of HMAC',
  access_rights: { invoices: { api_id: 'invoices', versions: ['Default'] } },
};

const { key_id: _keyID, org_id: _orgID, hmac_string: _secret, date_created: _created, ...definition } = billing;

describeInBrowser('a key in the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  const path = `/console/keys/${hashOf('billing')}`;
  beforeEach(async () => {
    server = await startServer();
    // The browser has its own clock.
    server.t.clock.now = new Date();
    const renews = Math.floor(Date.now() / 1000) + 5 * day;
    await server.t.importKeys({ ...billing, quota_renews: renews, quota_remaining: 900 });
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (view = path) => {
    c = await openConsole(browser(), server, { path: view });
    await c.signIn(server.t.service);
    await c.card('Activity').or(c.page.getByRole('alert')).first().waitFor();
  };
  const consume = (amount: number) =>
    server.t.graphql(`mutation { consumeOrgQuota(keyID: "billing", amount: ${amount}) { allowed } }`);
  const stored = async () => {
    const { body } = await server.t.graphql(
      '{ orgKey(by: { keyID: "billing" }, includeDeleted: true) { version state definition { alias rate quotaMax hmacStringSet isInactive } quota { used } } }',
    );
    return (body as { data: { orgKey: Record<string, unknown> } }).data.orgKey;
  };
  const confirm = async (name: string, reason: string) => {
    const dialog = c.page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill(reason);
    await dialog.getByRole('button', { name }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const more = async (name: string) => {
    await c.page.locator('.actions-menu summary').click();
    await c.button(name).click();
  };

  it('shows when it was last used and its requests by day', async () => {
    await consume(100);
    await consume(2000);
    await server.t.app.flushUses();
    await open();
    const use = c.card('Use by day');
    await use.getByText('100 requests allowed, 2,000 denied in 30 days').waitFor();
    await use.getByText('last used').waitFor();
    await use.getByRole('img', { name: 'Requests of the last 30 days: 100 allowed, 2,000 denied' }).waitFor();
    // The axes have numbers and days, and the bars their values.
    const chart = await use.getByRole('img').textContent();
    expect(chart).toContain('02,0004,000');
    expect(chart).toMatch(/\w{3} \d{1,2}, \d{4}.*\w{3} \d{1,2}, \d{4}.*100 allowed, 2,000 denied/);
    await use.getByText('Requests a day (UTC)').waitFor();
    expect(await c.violations()).toEqual([]);
    await use.getByText('Days as a table').click();
    await use.getByRole('row', { name: /^\d{4}-\d\d-\d\d 100 2,000$/ }).waitFor();
  });

  it('is not among the keys that were not used for 90 days', async () => {
    await server.t.importKeys({ key_id: 'idle', org_id: 'acme', alias: 'Idle' });
    await consume(1);
    await server.t.app.flushUses();
    c = await openConsole(browser(), server, { path: '/console?unused=90&sort=LAST_USED' });
    await c.signIn(server.t.service);
    await c.page.getByText('Not used for: 90 days').waitFor();
    await c.page.getByRole('link', { name: 'Idle' }).waitFor();
    expect(await c.page.getByRole('link', { name: 'Billing' }).count()).toBe(0);
  });

  it('has notices between the changes, and shows a new one at once', async () => {
    const { store } = server.t.app.services;
    const key = await store.find(hashOf('billing'));
    if (!key) throw new Error('There is no key.');
    const at = new Date(Date.now() + 1_000);
    const expires = BigInt(Math.floor(Date.now() / 1000) + 7 * day);
    await store.addNotices([noticeOf(key, 'expiring', at, [7], { expires, daysBefore: 7 })]);
    await open();
    const notices = c.page.locator('.feed [data-notice]');
    await expect.poll(() => notices.allInnerTexts()).toEqual([expect.stringContaining('expires in 7 days or less')]);
    const figures = { threshold: 80, quotaUsed: 800n, quotaMax: 1000n };
    await store.addNotices([noticeOf(key, 'quota_threshold', new Date(at.getTime() + 1), [80], figures)]);
    await expect
      .poll(async () => (await notices.allInnerTexts()).map((line) => line.split('\n')[0]))
      .toEqual([
        '80 % of the quota was used: 800 of 1,000 requests.',
        expect.stringContaining('expires in 7 days or less'),
      ]);
  });

  it('shows its name, its limits in units of people, its quota, and its identifier on demand only', async () => {
    await open();
    await c.heading('Billing Active');
    await c.card('Quota').getByText('of 1,000 requests used · 900 left').waitFor();
    const limits = await c.card('Limits and access').innerText();
    expect(limits).toMatch(/Rate\s+100 per minute\s+Quota\s+1,000 per 10 days\s+Expires\s+never/);
    expect(limits).toMatch(/APIs\s+invoices\s+all paths/);
    expect(await c.card('All other fields').innerText()).toMatch(/HMAC secret\s+set/);
    const main = c.page.locator('main');
    expect(await main.innerText()).not.toMatch(/quotaRenewalRate|quota_renewal_rate|Unix/);
    expect(await main.getByText('billing', { exact: true }).count()).toBe(0);
    await c.button('Show').click();
    await main.getByText('billing', { exact: true }).waitFor();
    await c.page.getByText('Definition as JSON').click();
    await c.page.getByText('"quotaRenewalRate": 864000').waitFor();
    expect(c.problems).toEqual([]);
  });

  it('copies its identifier', async () => {
    await open();
    await c.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await c.button('Copy: Identifier').click();
    await c.page.getByText('Copied').waitFor();
    expect(await c.page.evaluate('navigator.clipboard.readText()')).toBe('billing');
  });

  it('draws the present period only, with labels, and no line from the time of the import', async () => {
    await open();
    const chart = c.card('Quota').getByRole('img');
    expect(await chart.getAttribute('aria-label')).toMatch(/^100 requests used since/);
    const shown = await chart.textContent();
    expect(shown).toContain('05001,000');
    expect(shown).not.toContain('2025,');
    await c.page.getByText('average so far').waitFor();
  });

  it('draws nothing for a quota without a period', async () => {
    await server.t.importKeys({ key_id: 'once', org_id: 'acme', quota_max: 10, quota_remaining: 4 });
    await open(`/console/keys/${hashOf('once')}`);
    await c.card('Quota').getByText('of 10 requests used · 4 left').waitFor();
    expect(await c.card('Quota').getByRole('img').count()).toBe(0);
  });

  it('says why gateways reject it, and what to do', async () => {
    await consume(900);
    await open();
    const note = c.page.getByRole('note');
    expect(await note.innerText()).toMatch(/its quota is used up.*1,000 of 1,000 .* renews in 5 days/s);
    await note.getByRole('link', { name: 'Raise the limit' }).click();
    await expect.poll(() => c.page.evaluate('document.activeElement.dataset.path')).toBe('quotaMax');
    await c.button('Cancel').click();
    await more('Switch off');
    await confirm('Switch off', 'abuse');
    await c.heading('Billing Inactive');
    expect(await note.innerText()).toMatch(/it is switched off.*test service switched it off .*abuse/s);
    await note.getByRole('button', { name: 'Switch it on' }).click();
    await confirm('Switch on', '');
    await c.heading('Billing Quota exhausted');
    expect(await stored()).toMatchObject({ version: 3, definition: { isInactive: null } });
  });

  it('tells its changes with values, person and reason, and reverts to one after showing the difference', async () => {
    await server.t.graphql(
      'mutation ($input: UpdateKeyInput!) { updateOrgKey(keyID: "billing", input: $input, reason: "More traffic") { version } }',
      { input: { alias: 'Billing', rate: 500, per: 60, tags: ['new'], quotaMax: 1000, quotaRenewalRate: 10 * day } },
      { 'x-keyfront-actor': 'Ana%20P%C3%A9rez' },
    );
    await open();
    const newest = c.page.locator('[data-version="2"]');
    const told = await newest.innerText();
    expect(told).toContain('Ana Pérez (stated by test service) changed');
    expect(told).toMatch(/Rate 100 500/);
    expect(told).toMatch(/Access invoices/);
    expect(told).toContain('“More traffic”');
    expect(await c.page.locator('[data-version="1"]').innerText()).toMatch(/keyfront keys import\)? imported the key/);
    await c.button('Revert to version 1').click();
    await c.page.getByRole('dialog').getByText('500', { exact: true }).waitFor();
    expect(await c.page.getByRole('dialog').innerText()).toMatch(/Rate 500 100/);
    await confirm('Revert', 'Too much traffic');
    await c.page.locator('[data-version="3"]').getByText('“Too much traffic”').waitFor();
    expect(await stored()).toMatchObject({
      version: 3,
      definition: { rate: 100, quotaMax: 1000, hmacStringSet: true },
    });
  });

  const request = async (path: string, method = 'GET', api = 'invoices') => {
    const card = c.card('Can this key call …?');
    await card.getByLabel('API').fill(api);
    await card.getByLabel('Method').selectOption(method);
    await card.getByLabel('Path').fill(path);
    await card.getByRole('button', { name: 'Check' }).click();
    return card.locator('.answer');
  };
  const gold = {
    policy_id: 'gold',
    governs: ['rate_limit', 'access_rights'],
    rate: 5,
    per: 1,
    access_rights: { invoices: { allowed_urls: [{ url: '/invoices/.*', methods: ['GET'] }] } },
  };

  it('shows the effective limits, the policy of each, and what of the key itself has no effect', async () => {
    await importPolicies(server.t, gold);
    await server.t.update('billing', { ...definition, apply_policies: ['gold', 'silver'] });
    await open();
    const limits = c.card('Limits and access');
    const told = (await limits.innerText()).replaceAll(/\s+/g, ' ');
    expect(told).toContain('Rate 5 per second from policy gold 100 per minute of the key itself has no effect');
    expect(told).toContain('Quota 1,000 per 10 days of the key itself');
    expect(told).toContain('invoices GET /invoices/.* from policy gold');
    expect(told).toContain('silver not imported');
    expect(told).toContain('What silver would add is not known here.');
    await limits.getByRole('link', { name: 'gold' }).first().click();
    await c.heading('gold');
    expect(c.problems).toEqual([]);
  });

  it('shows no origin for a key without policies, and the own values if the policies cannot be read', async () => {
    await open();
    expect(await c.card('Limits and access').innerText()).not.toMatch(/of the key itself|from policy/);
    await server.t.update('billing', { ...definition, apply_policies: ['gold'] });
    await c.card('Limits and access').getByText('not imported').waitFor();
    await c.page.getByRole('note').getByText('Not imported: the policy gold.').waitFor();
    await c.page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data?: { orgKey?: object } };
      if (!body.data?.orgKey) return route.fulfill({ response });
      const json = {
        data: { orgKey: { ...body.data.orgKey, effectiveAccess: null } },
        errors: [{ message: 'Internal error.', path: ['orgKey', 'effectiveAccess'], extensions: { code: 'INTERNAL' } }],
      };
      return route.fulfill({ response, json });
    });
    await server.t.update('billing', { ...definition, rate: 7, apply_policies: ['gold'] });
    await c.card('Limits and access').getByText('The policies cannot be read at the moment.').waitFor();
    expect(await c.card('Limits and access').innerText()).toMatch(/Rate\s+7 per minute/);
  });

  it('says that a policy is switched off, and that the quota comes from one', async () => {
    await importPolicies(server.t, { policy_id: 'small', governs: ['quota'], quota_max: 100, quota_renewal_rate: day });
    await server.t.update('billing', { ...definition, apply_policies: ['small'] });
    await open();
    const note = c.page.getByRole('note');
    expect(await note.innerText()).toMatch(/its quota is used up.*100 of 100 .* The policy small states it/s);
    expect(await note.getByRole('link').allInnerTexts()).toEqual(['Change the policies']);
    await importPolicies(server.t, { policy_id: 'small', is_inactive: true });
    await server.t.update('billing', { ...definition, alias: 'Billing 2', apply_policies: ['small'] });
    await note.getByText('A policy of this key is switched off.').waitFor();
  });

  it('explains whether a request is allowed, with the rule, the limits and every reason', async () => {
    await importPolicies(server.t, gold);
    await server.t.update('billing', { ...definition, apply_policies: ['gold'] });
    await open();
    const answer = await request('/invoices/7');
    await answer.getByText('the request is allowed').waitFor();
    expect((await answer.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'Allowed the request is allowed VALID Allowed by the path GET /invoices/.* ' +
        'Rate 5 per second from policy gold Quota 1,000 per 10 days',
    );
    await consume(900);
    await request('/invoices/7', 'DELETE');
    await answer.getByText('METHOD_OR_PATH_DENIED').waitFor();
    const reasons = await answer.getByRole('listitem').allInnerTexts();
    expect(reasons).toEqual([
      'No rule permits "DELETE" for this path.',
      expect.stringContaining('1,000 of 1,000 requests of the quota are used.'),
    ]);
    await request('/', 'GET', 'payments');
    await answer.getByText('NO_ACCESS').waitFor();
    // Nothing was counted.
    expect(await stored()).toMatchObject({ quota: { used: 1000 } });
    // The answer follows the key.
    await request('/invoices/7');
    await server.t.update('billing', { ...definition, apply_policies: ['gold'], is_inactive: true });
    await answer.getByText('INACTIVE').waitFor();
    expect(c.problems).toEqual([]);
  });

  it('explains a request at a time in the past, and as if the client had proved its signature', async () => {
    const { now } = server.t.clock;
    server.t.clock.now = new Date(now.getTime() + 60_000);
    await server.t.update('billing', { ...definition, hmac_enabled: true });
    await open();
    const answer = await request('/x');
    await answer.getByText('OTHER_CREDENTIAL_REQUIRED').waitFor();
    await c.button('Check as if the client had proved it').click();
    await answer.getByText('as if the client had proved its signature').waitFor();
    await answer.getByText('VALID').waitFor();
    const local = (time: Date) =>
      c.page.evaluate<string>(
        `(() => { const at = new Date(${time.getTime()}); at.setMinutes(at.getMinutes() - at.getTimezoneOffset()); return at.toISOString().slice(0, 19); })()`,
      );
    await c.page.getByLabel('Time').fill(await local(new Date(now.getTime() + 30_000)));
    await request('/x');
    await answer.getByText('version 1 of the key').waitFor();
    await answer.getByText('VALID').waitFor();
    await c.page.getByLabel('Time').fill(await local(new Date(now.getTime() - 3_600_000)));
    await request('/x');
    await answer.getByText('the key did not exist at this time').waitFor();
  });

  it('shows an error of an explanation beside its form', async () => {
    await open();
    const answer = await request('/x', 'GET', 'x'.repeat(300_000));
    await answer.getByRole('alert').waitFor();
    await request('/x');
    await answer.getByText('VALID').waitFor();
    expect(await answer.getByRole('alert').count()).toBe(0);
  });

  it('loads older changes on request', async () => {
    for (let rate = 1; rate <= 22; rate += 1) await server.t.update('billing', { ...definition, rate });
    await open();
    expect(await c.page.locator('[data-version]').count()).toBe(20);
    await c.button('Show older changes').click();
    await c.page.locator('[data-version="1"]').waitFor();
    expect(await c.page.locator('[data-version]').count()).toBe(23);
  });

  it('resets the quota after a confirmation that states the effect', async () => {
    await consume(700);
    await open();
    await c.button('Reset quota …').click();
    await c.page.getByRole('dialog').getByText('The 800 counted requests become 0').waitFor();
    await confirm('Reset the quota', 'Complaint');
    await c.card('Quota').getByText('1,000 left').waitFor();
    await c.page.getByText('Reset the quota after 800 counted requests.').waitFor();
    expect(await stored()).toMatchObject({ definition: { rate: 100, hmacStringSet: true }, quota: { used: 0 } });
  });

  it('rotates: shows the new identifier and when the previous one retires, and cancels', async () => {
    await open();
    const identifierIn = async () => {
      const { body } = await server.t.graphql(`{ orgKey(by: { keyHash: "${hashOf('billing')}" }) { keyID version } }`);
      return (body as { data: { orgKey: { keyID: string; version: number } } }).data.orgKey;
    };
    await more('Rotate');
    const dialog = c.page.getByRole('dialog', { name: 'Rotate Billing' });
    await dialog.getByLabel('The previous identifier is accepted for').selectOption('7 days');
    await dialog.getByLabel('Reason').fill('yearly');
    await dialog.getByRole('button', { name: 'Rotate the key' }).click();
    const done = c.page.getByRole('dialog', { name: 'Billing has a new identifier' });
    const shown = await done.locator('.secret code').innerText();
    expect(await identifierIn()).toEqual({ keyID: shown, version: 2 });
    expect(shown).toMatch(/^acme_/);
    // The page follows the change beneath the dialog, which stays.
    const rotation = c.card('Rotation');
    await rotation.getByText('in 7 days').waitFor();
    await done.getByRole('button', { name: 'Close' }).click();
    await done.waitFor({ state: 'detached' });
    await c.page.locator('.actions-menu summary').click();
    expect(await c.button('Rotate').count()).toBe(0);
    await c.page.keyboard.press('Escape');
    await rotation.getByRole('button', { name: 'Cancel the rotation …' }).click();
    await c.page.getByRole('dialog').getByText('The new identifier is rejected at once').waitFor();
    await confirm('Cancel the rotation', 'too early');
    await rotation.waitFor({ state: 'detached' });
    expect(await identifierIn()).toEqual({ keyID: 'billing', version: 3 });
    expect(c.problems).toEqual([]);
  });

  it('deletes after a confirmation that names the key, and restores from its page', async () => {
    await open();
    await more('Delete');
    const dialog = c.page.getByRole('dialog', { name: 'Delete Billing' });
    await dialog.getByText('It can be restored').waitFor();
    await confirm('Delete the key', 'not used');
    await c.heading('Billing Deleted');
    expect(await c.page.getByRole('note').innerText()).toMatch(/is deleted.*by test service.*not used/s);
    expect(await c.link('Edit').count()).toBe(0);
    const purge = new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(Date.now() + 30 * day * 1000);
    expect(await c.card('Details').innerText()).toMatch(new RegExp(`Purged\\s+after ${purge}.*unless it is restored`));
    await c.link('Keys').first().click();
    await c.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Deleted' }).click();
    await c.link('Billing').click();
    await c.button('Restore …').click();
    await confirm('Restore the key', 'used after all');
    await c.heading('Billing Active');
    expect(await stored()).toMatchObject({ version: 3, state: 'ACTIVE', definition: { hmacStringSet: true } });
  });

  it('follows the changes of others, and changes nothing when a dialog is closed with Escape', async () => {
    await open();
    await c.page.getByText('Live', { exact: true }).waitFor();
    await server.t.update('billing', { ...definition, alias: 'Renamed' });
    await c.heading('Renamed Active');
    await c.button('Reset quota …').click();
    await c.page.getByRole('dialog').waitFor();
    await c.escapeDialog();
    expect(await stored()).toMatchObject({ version: 2 });
  });

  it('shows that there is no such key', async () => {
    for (const hash of ['0'.repeat(64), '%ff']) {
      await open(`/console/keys/${hash}`);
      await c.page.getByRole('alert').getByText('Not found').waitFor();
      await c.close();
    }
    await open();
  });
});

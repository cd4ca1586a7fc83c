import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Scope } from '../../../src/keys/key.js';
import type { DispatcherOptions } from '../../../src/webhooks/dispatcher.js';
import { makeOwnPlace, sqlite } from '../../support/engines.js';
import { hashOf } from '../../support/factories.js';
import { startReceiver, verificationErrorOf, type Receiver } from '../../support/receiver.js';
import { startServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { giveUp, hookTo, quick } from '../../support/webhooks.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const path = '/console/webhooks';
/** A part of the address of a receiver that must be nowhere. */
const canary = 'T0KEN-canary';
const secretPattern = /whsec_[\w+/=]+/;
/** Nothing is delivered, so that what a test has recorded stays. */
const asleep: DispatcherOptions = { ...quick, pollIntervalMs: 2 ** 31 - 1 };
/** A failed delivery is tried again after the test. */
const slow: DispatcherOptions = { ...quick, retryPolicy: { delaysMs: [600_000], maxAttempts: 9 } };

describeInBrowser('the webhooks of the console', (browser) => {
  let server: TestServer;
  let receiver: Receiver;
  let c: ConsolePage;
  const start = async (dispatcherOptions: DispatcherOptions, env: Record<string, string> = {}) => {
    server = await startServer(env, {}, { dispatcherOptions });
    server.t.clock.now = new Date();
  };
  beforeEach(async () => {
    receiver = await startReceiver();
    await start(quick);
  });
  afterEach(async () => {
    // The browser itself reports a connection that a test has cut.
    expect(c.problems.filter((one) => !one.includes('net::ERR_CONNECTION_RESET'))).toEqual([]);
    await c.close();
    await server.close();
    await receiver.close();
  });
  const restart = async (dispatcherOptions: DispatcherOptions, env?: Record<string, string>) => {
    await server.close();
    await start(dispatcherOptions, env);
  };

  const open = async (secret: string, address = path) => {
    c = await openConsole(browser(), server, { path: address });
    await c.signIn(secret);
  };
  const issue = async (scopes: Scope[], orgID?: string) =>
    (await server.t.issue('service', { scopes, ...(orgID !== undefined && { orgID }) })).secret;
  const row = (name: string) => c.page.getByRole('row', { name: new RegExp(`^${name}\\b`) });
  const textOf = async (name: string) => (await row(name).innerText()).replaceAll(/\s+/g, ' ');
  const dialog = () => c.page.getByRole('dialog');
  const stored = async () => (await server.t.app.services.webhooks.list()).intact;
  const shownSecret = async () => {
    const shown = await dialog().getByRole('group', { name: 'Signing secret' }).innerText();
    return secretPattern.exec(shown)?.[0] ?? '';
  };
  const fill = async () => {
    await c.button('Add webhook …').click();
    await dialog().getByLabel('Address').fill(`${receiver.url}?token=${canary}`);
  };
  const signatureOfTest = async (secret: string) => {
    const before = receiver.received.length;
    await c.button('Send a test message').click();
    await c.page.getByText('Delivered: the receiver answered 204.').waitFor();
    const message = receiver.received[before];
    return message && verificationErrorOf(secret, message);
  };

  it('adds a webhook with what was chosen, shows its secret once, and sends test messages', async () => {
    await open(server.t.service);
    await c.page.getByRole('heading', { name: 'No webhook' }).waitFor();
    await fill();
    await dialog().getByLabel('Label').fill('billing');
    await dialog().getByLabel('Organization').fill('acme');
    await dialog().getByRole('combobox').selectOption('Only these events');
    await c.button('Add the webhook').click();
    await dialog().getByRole('alert').getByText('Choose at least one.').waitFor();
    await dialog().getByRole('checkbox', { name: 'orgKey.created' }).check();
    await dialog().getByRole('checkbox', { name: 'orgKey.expired' }).check();
    await c.button('Add the webhook').click();
    await dialog().getByRole('heading', { name: 'billing is added' }).waitFor();
    const secret = await shownSecret();
    await expect
      .poll(() => c.page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Signing secret');
    expect(await stored()).toMatchObject([
      { label: 'billing', orgID: 'acme', eventTypes: ['orgKey.created', 'orgKey.expired'] },
    ]);
    await c.escapeDialog();
    await expect.poll(() => c.page.evaluate('document.activeElement.textContent')).toBe('Add webhook …');
    await row('billing').waitFor();
    expect(await textOf('billing')).toMatch(/hook_\w+ Active http:\/\/127\.0\.0\.1:\d+\/…\?… acme 2 types 0 0$/);
    const shown = await c.page.content();
    const history = String(await c.page.evaluate('JSON.stringify(history.state)'));
    const traces = [await c.kept(), history, shown, c.requests.join(' '), server.t.logs()].join(' ');
    for (const hidden of [secret, canary]) expect(traces).not.toContain(hidden);
    await c.link('billing').click();
    await c.heading('billing Active');
    expect(await signatureOfTest(secret)).toBeUndefined();
    receiver.behavior = () => 500;
    // It can be tested once a second.
    await expect
      .poll(async () => {
        await c.button('Send a test message').click();
        await c.page.getByText(/Not delivered|less than a second ago/).waitFor();
        return c.page.getByText('Not delivered: returned 500.').count();
      })
      .toBe(1);
    expect(receiver.received.every(({ type }) => type === 'webhook.ping')).toBe(true);
  });

  it('adds one webhook if the answer is lost, and offers a new secret', async () => {
    await open(server.t.service);
    await fill();
    let lost = '';
    await c.page.route('**/graphql', async (route) => {
      if (lost !== '' || !(route.request().postData() ?? '').includes('"idempotencyKey"')) return route.fallback();
      lost = secretPattern.exec(await (await route.fetch()).text())?.[0] ?? 'none';
      await route.abort('connectionreset');
    });
    await c.button('Add the webhook').click();
    await dialog().getByRole('alert').getByText('No connection to the service').waitFor();
    await c.button('Add the webhook').click();
    await dialog().getByText('the answer with its signing secret was lost').waitFor();
    await c.button('Get a new secret').click();
    await dialog().getByRole('group', { name: 'Signing secret' }).waitFor();
    const secret = await shownSecret();
    expect([(await stored()).length, secret === lost, lost.startsWith('whsec_')]).toEqual([1, false, true]);
    await dialog().getByRole('button', { name: 'Close' }).click();
    await c.link(/127\.0\.0\.1/).click();
    expect(await signatureOfTest(secret)).toBeUndefined();
  });

  it('says what is not valid, and adds nothing', async () => {
    await open(server.t.service);
    await c.button('Add webhook …').click();
    await c.button('Add the webhook').click();
    expect(await c.page.evaluate('document.activeElement.name')).toBe('url');
    await dialog().getByLabel('Address').fill('ftp://127.0.0.1/');
    await c.button('Add the webhook').click();
    await dialog().getByText('Not valid', { exact: true }).waitFor();
    expect(await stored()).toEqual([]);
    await dialog().getByLabel('Address').fill(receiver.url);
    await c.button('Add the webhook').dblclick();
    await dialog().getByRole('group', { name: 'Signing secret' }).waitFor();
    expect(await stored()).toHaveLength(1);
  });

  it('pauses and resumes a webhook, by the keyboard', async () => {
    const { id } = await hookTo(server.t, receiver.url, { label: 'billing' });
    await open(server.t.service, `${path}/${id}`);
    await c.heading('billing Active');
    await c.button('Pause …').focus();
    await c.page.keyboard.press('Enter');
    await dialog().getByText('Events wait until you resume it.').waitFor();
    await c.escapeDialog();
    await expect.poll(() => c.page.evaluate('document.activeElement.textContent')).toBe('Pause …');
    await c.page.keyboard.press('Enter');
    await c.button('Pause the webhook').focus();
    await c.page.keyboard.press('Enter');
    await c.heading('billing Paused');
    expect(await stored()).toMatchObject([{ paused: { why: expect.any(String) as string } }]);
    await c.button('Resume').click();
    await c.heading('billing Active');
    expect((await stored())[0]?.paused).toBeUndefined();
  });

  it('rotates the signing secret, and removes the webhook after a confirmation', async () => {
    const { id, secret: old } = await hookTo(server.t, receiver.url, { label: 'billing' });
    await open(server.t.service, `${path}/${id}`);
    await c.page.locator('.actions-menu summary').click();
    await c.button('Rotate the secret …').click();
    await dialog().getByText('messages have the signatures of both secrets').waitFor();
    await dialog().getByLabel('The old secret signs too for').selectOption('1');
    await c.button('Rotate the secret').last().click();
    await dialog().getByRole('heading', { name: 'billing has a new signing secret' }).waitFor();
    const next = await shownSecret();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await c.page.getByText('The old secret signs until').waitFor();
    await expect.poll(() => c.page.content()).not.toContain(next);
    expect(await signatureOfTest(next)).toBeUndefined();
    const last = receiver.received.at(-1);
    expect(last && verificationErrorOf(old, last)).toBeUndefined();
    await c.page.locator('.actions-menu summary').click();
    await c.button('Remove …').click();
    await dialog().getByText('This cannot be undone.').waitFor();
    expect(await stored()).toHaveLength(1);
    await c.button('Remove the webhook').click();
    await c.heading('Webhooks');
    await c.page.getByRole('heading', { name: 'No webhook' }).waitFor();
    expect(await stored()).toEqual([]);
  });

  it('shows which deliveries fail, and leads to their keys', async () => {
    await restart(slow);
    receiver.behavior = () => 500;
    const { id } = await hookTo(server.t, receiver.url, { label: 'billing' });
    await server.t.importKeys({ key_id: 'shop', org_id: 'acme', alias: 'Shop' });
    await until(() => receiver.received.length > 0);
    await open(server.t.service, `${path}/${id}`);
    await c.heading('billing Failing');
    const retry = c.page.getByRole('table', { name: 'Failing deliveries' }).getByRole('row').last();
    await expect
      .poll(async () => (await retry.innerText()).replaceAll(/\s+/g, ' '))
      .toMatch(new RegExp(`^${hashOf('shop').slice(0, 8)} 1 1 in \\d+ minutes returned 500$`));
    await c.link(hashOf('shop').slice(0, 8)).click();
    await c.heading(/^Shop/);
    await c.go(path);
    await row('billing').getByText('Failing').waitFor();
    expect(await textOf('billing')).toMatch(/ all all 1 0$/);
  });

  it('turns the pages of the dead letters, replays and discards one or all', async () => {
    await restart(asleep);
    const { id } = await hookTo(server.t, receiver.url, { label: 'billing' });
    const events = Array.from({ length: 25 }, (_, number) => `evt_${String(number + 10)}`);
    await giveUp(server.t, id, ...events);
    await open(server.t.service, `${path}/${id}`);
    const letters = () => c.page.getByRole('table', { name: 'Dead letters' }).getByRole('rowheader').allInnerTexts();
    await expect.poll(letters).toEqual(events.slice(0, 20));
    await c.button('Replay evt_11').click();
    await c.page.getByText('1 event is queued again.').waitFor();
    await row('evt_11').getByText('queued again').waitFor();
    expect(await row('evt_11').getByRole('button').allInnerTexts()).toEqual(['Discard …']);
    await c.button('Discard … evt_12').click();
    await dialog().getByText('The receiver never gets it.').waitFor();
    await c.escapeDialog();
    expect(await letters()).toContain('evt_12');
    await c.button('Discard … evt_12').click();
    await c.button('Discard it').click();
    await c.page.getByText('1 dead letter is discarded.').waitFor();
    await expect.poll(letters).toEqual(events.slice(0, 21).filter((event) => event !== 'evt_12'));
    await c.link('Next page').click();
    await expect.poll(letters).toEqual(events.slice(21));
    await c.button('Replay all').click();
    await c.page.getByText('23 events are queued again.').waitFor();
    await c.button('Discard all …').click();
    await dialog().getByRole('heading', { name: 'Discard all dead letters (24)?' }).waitFor();
    await dialog().getByText('also those on the other pages').waitFor();
    await c.button('Discard all').last().click();
    await c.page.getByText('24 dead letters are discarded.').waitFor();
    await c.page.getByText('No further dead letter.').waitFor();
    await c.link('Webhooks').first().click();
    await row('billing').getByText('Active').waitFor();
  });

  it('delivers a dead letter again once the receiver is repaired', async () => {
    receiver.behavior = () => 500;
    const { id } = await hookTo(server.t, receiver.url, { label: 'billing' });
    await server.t.importKeys({ key_id: 'shop', org_id: 'acme' });
    await open(server.t.service, `${path}/${id}`);
    await c.button('Replay all').waitFor();
    receiver.behavior = () => 204;
    await c.button('Replay all').click();
    await receiver.until((accepted) => accepted.length === 1);
    // The page is read again by itself.
    await c.page.getByText('No dead letter.').waitFor();
    await c.heading('billing Active');
  });

  it('shows what the scopes and the organization of the credential permit', async () => {
    const own = await hookTo(server.t, receiver.url, { label: 'own', orgID: 'acme' });
    const all = await hookTo(server.t, receiver.url, { label: 'of all' });
    await open(await issue(['read', 'update']));
    await c.page.getByText('it needs the scope admin').waitFor();
    expect(await c.link('Webhooks').count()).toBe(0);
    await c.close();
    await open(await issue(['read', 'update']), `${path}/${own.id}`);
    await c.page.getByText('it needs the scope admin').waitFor();
    await c.close();
    await open(await issue(['admin'], 'acme'));
    await row('own').waitFor();
    expect(await c.page.getByRole('rowheader').count()).toBe(1);
    // To add one needs the scope read too, because it sends the history of keys.
    expect(await c.button('Add webhook …').count()).toBe(0);
    await c.go(`${path}/${all.id}`);
    await c.page.getByRole('alert').getByText('There is no such webhook').waitFor();
    expect(await c.button(/Pause|Send|Replay/).count()).toBe(0);
    await c.close();
    await open(await issue(['admin', 'read'], 'acme'));
    await fill();
    expect(await dialog().getByLabel('Organization').isEditable()).toBe(false);
    await c.button('Add the webhook').click();
    await dialog().getByRole('group', { name: 'Signing secret' }).waitFor();
    expect((await stored()).filter(({ orgID }) => orgID === 'acme')).toHaveLength(2);
  });

  it('turns the pages, reloads at an address, and says when there is an error', async () => {
    for (let number = 10; number < 35; number += 1) {
      server.t.clock.now = new Date(server.t.clock.now.getTime() + 1);
      await hookTo(server.t, receiver.url, { label: `hook ${number}`, orgID: 'acme' });
    }
    await open(server.t.service);
    await row('hook 29').waitFor();
    await c.link('Next page').click();
    await row('hook 34').waitFor();
    expect([await row('hook 29').count(), await c.link('Next page').count()]).toEqual([0, 0]);
    await c.page.reload();
    await c.signIn(server.t.service);
    await c.link('hook 34').click();
    await c.heading('hook 34 Active');
    await c.page.reload();
    await c.signIn(server.t.service);
    await c.heading('hook 34 Active');
    await c.go(`${path}?after=nonsense`);
    await c.page.getByRole('alert').getByText('Not valid').waitFor();
    await c.go(`${path}/hook_none`);
    await c.page.getByRole('alert').getByText('There is no such webhook').waitFor();
  });

  it('names webhooks whose rows are damaged, and removes them', async () => {
    const place = await makeOwnPlace(sqlite);
    await restart(asleep, place.env);
    const { id } = await hookTo(server.t, receiver.url, { label: 'forged' });
    await hookTo(server.t, receiver.url, { label: 'intact' });
    await place.tamper(`UPDATE webhooks SET label = 'other' WHERE id = '${id}'`);
    await open(server.t.service);
    await row('intact').waitFor();
    await c.page.getByText('fail their integrity check').waitFor();
    await c.button(`Remove … ${id}`).click();
    await c.button('Remove the webhook').click();
    await c.page.getByText('fail their integrity check').waitFor({ state: 'detached' });
    expect(await server.t.app.services.webhooks.list()).toMatchObject({ intact: [{ label: 'intact' }], damaged: [] });
  });
});

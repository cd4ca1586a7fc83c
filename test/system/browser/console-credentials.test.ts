import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Scope } from '../../../src/keys/key.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const path = '/console/credentials';
const secretPattern = /kf_svc_[\w-]+/;

describeInBrowser('the credentials of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
  });
  afterEach(async () => {
    // The browser itself reports a connection that a test has cut.
    expect(c.problems.filter((one) => !one.includes('net::ERR_CONNECTION_RESET'))).toEqual([]);
    await c.close();
    await server.close();
  });

  const issue = (label: string, scopes?: Scope[], orgID?: string) => {
    // The list is in the order of their creation.
    server.t.clock.now = new Date(server.t.clock.now.getTime() + 1);
    return server.t.issue('service', { label, ...(scopes && { scopes }), ...(orgID !== undefined && { orgID }) });
  };
  const open = async (secret: string, address = path) => {
    c = await openConsole(browser(), server, { path: address });
    await c.signIn(secret);
  };
  const row = (label: string) => c.page.getByRole('row', { name: new RegExp(`^${label}\\b`) });
  const rowText = async (label: string) => (await row(label).first().innerText()).replaceAll(/\s+/g, ' ');
  const dialog = () => c.page.getByRole('dialog');
  const stored = async (label: string) =>
    (await server.t.app.services.credentials.list()).filter((one) => one.label === label);
  const works = async (secret: string) => {
    const { body } = await server.t.graphql('{ viewer { kind } }', {}, { 'x-svc-authorization': secret });
    return !('errors' in body);
  };
  const shownSecret = async () => {
    const shown = await dialog().getByRole('group', { name: 'Secret' }).innerText();
    return secretPattern.exec(shown)?.[0] ?? '';
  };
  const fill = async (label: string) => {
    await c.button('Issue credential …').click();
    await dialog().getByLabel('Label').fill(label);
  };
  /** Everything that the page has and keeps, and what the service has logged. */
  const traces = async () => {
    const history = await c.page.evaluate('JSON.stringify([history.state, document.title, document.cookie])');
    const shown = await c.page.content();
    return [await c.kept(), String(history), shown, c.requests.join(' '), server.t.logs()].join(' ');
  };

  it('issues a credential with what was chosen, and shows its secret once', async () => {
    await open(server.t.service);
    await fill('billing dashboard');
    await dialog().getByLabel('Organization').fill('acme');
    await dialog()
      .getByRole('checkbox', { name: /^propose/ })
      .check();
    await dialog().getByRole('button', { name: 'Expires in 90 days' }).click();
    expect(await dialog().getByRole('checkbox', { checked: true }).count()).toBe(2);
    // No credential has the rights of a router or an adapter without naming them, so this one cannot give them.
    expect(await dialog().getByRole('checkbox').count()).toBe(10);
    await dialog().getByRole('button', { name: 'Issue the credential' }).click();
    await dialog().getByRole('heading', { name: 'billing dashboard is issued' }).waitFor();
    const secret = await shownSecret();
    expect(await works(secret)).toBe(true);
    await expect.poll(() => c.page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Secret');
    const [found] = await stored('billing dashboard');
    expect(found).toMatchObject({ kind: 'service', orgID: 'acme', scopes: ['read', 'propose'] });
    const days = ((found?.expires?.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    await c.escapeDialog();
    await expect.poll(() => c.page.evaluate('document.activeElement.textContent')).toBe('Issue credential …');
    await row('billing dashboard').waitFor();
    expect(await rowText('billing dashboard')).toMatch(
      /service · cred_\w+ · ends with .{4} Active read propose acme (never|just now) in 3 months .* Rotate … Revoke …$/,
    );
    expect(await traces()).not.toContain(secret);
    await c.button('Issue credential …').click();
    expect(await c.page.content()).not.toContain(secret);
  });

  it('copies the secret', async () => {
    await open(server.t.service);
    await c.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await fill('dashboard');
    await c.page.keyboard.press('Enter');
    await dialog().getByRole('button', { name: 'Copy: Secret' }).click();
    await dialog().getByText('Copied').waitFor();
    expect(await c.page.evaluate('navigator.clipboard.readText()')).toBe(await shownSecret());
  });

  it('issues one credential if the answer is lost, and offers a new secret', async () => {
    await open(server.t.service);
    await fill('dashboard');
    let lost = '';
    await c.page.route('**/graphql', async (route) => {
      if (lost !== '' || !(route.request().postData() ?? '').includes('"idempotencyKey"')) return route.fallback();
      lost = secretPattern.exec(await (await route.fetch()).text())?.[0] ?? 'none';
      await route.abort('connectionreset');
    });
    const send = dialog().getByRole('button', { name: 'Issue the credential' });
    await send.click();
    await dialog().getByRole('alert').getByText('No connection to the service').waitFor();
    expect(await works(lost)).toBe(true);
    await send.click();
    await dialog().getByText('the answer with its secret was lost').waitFor();
    expect(await stored('dashboard')).toHaveLength(1);
    await dialog().getByRole('button', { name: 'Get a new secret' }).click();
    await dialog().getByRole('group', { name: 'Secret' }).waitFor();
    expect([await works(lost), await works(await shownSecret())]).toEqual([false, true]);
    expect((await stored('dashboard')).filter(({ revoked }) => !revoked)).toHaveLength(1);
  });

  it('issues one credential for a double click', async () => {
    await open(server.t.service);
    await fill('dashboard');
    await dialog().getByRole('button', { name: 'Issue the credential' }).dblclick();
    await dialog().getByRole('group', { name: 'Secret' }).waitFor();
    expect(await stored('dashboard')).toHaveLength(1);
    expect(await works(await shownSecret())).toBe(true);
  });

  it('says what is missing or not valid, and issues nothing', async () => {
    await open(server.t.service);
    await c.button('Issue credential …').click();
    const send = dialog().getByRole('button', { name: 'Issue the credential' });
    await send.click();
    expect(await c.page.evaluate('document.activeElement.name')).toBe('label');
    await dialog().getByLabel('Label').fill('dashboard');
    await dialog().getByRole('checkbox', { name: /^read/ }).uncheck();
    await send.click();
    await dialog().getByRole('alert').getByText('Choose at least one.').waitFor();
    await dialog().getByRole('checkbox', { name: /^read/ }).check();
    await dialog().getByLabel('Organization').fill('a'.repeat(300));
    await send.click();
    await dialog().getByText('Not valid', { exact: true }).waitFor();
    expect(await stored('dashboard')).toEqual([]);
    await dialog().getByLabel('Organization').fill('acme');
    await dialog().getByLabel('Kind').selectOption('MANAGEMENT');
    expect(await dialog().getByRole('checkbox').count()).toBe(0);
    await send.click();
    await dialog().getByText('kf_mgt_').waitFor();
    expect(await stored('dashboard')).toMatchObject([{ kind: 'management', orgID: 'acme', scopes: undefined }]);
  });

  it('rotates a credential with an overlap or none', async () => {
    const { secret } = await issue('gateway', ['verify'], 'acme');
    await open(server.t.service);
    await row('gateway').getByRole('button', { name: 'Rotate …' }).click();
    await dialog().getByText('Rotate gateway?').waitFor();
    await c.button('Rotate the credential').click();
    await dialog().getByRole('heading', { name: 'gateway has a new secret' }).waitFor();
    const next = await shownSecret();
    expect([await works(secret), await works(next)]).toEqual([true, true]);
    await dialog().getByRole('button', { name: 'Close' }).click();
    const old = row('gateway').filter({ hasText: 'Replaced' });
    await old.getByText('tomorrow').waitFor();
    expect(await old.getByRole('button').allInnerTexts()).toEqual(['Revoke …']);
    expect(await traces()).not.toContain(next);
    await row('gateway').filter({ hasText: 'Active' }).getByRole('button', { name: 'Rotate …' }).click();
    await dialog().getByLabel('The old one is accepted for').selectOption('0');
    await c.button('Rotate the credential').click();
    await dialog().getByRole('group', { name: 'Secret' }).waitFor();
    expect([await works(next), await works(await shownSecret())]).toEqual([false, true]);
  });

  it('shows the secret of the own credential before it asks to sign in with it', async () => {
    const { secret } = await issue('Ann', ['admin']);
    await open(secret);
    await row('Ann').getByText('yours').waitFor();
    await row('Ann').getByRole('button', { name: 'Rotate …' }).click();
    await dialog().getByText('You are signed in with this credential.').waitFor();
    await dialog().getByLabel('The old one is accepted for').selectOption('0');
    await c.button('Rotate the credential').click();
    await dialog().getByRole('group', { name: 'Secret' }).waitFor();
    const next = await shownSecret();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await c.signIn(next);
    await row('Ann').getByText('yours').waitFor();
  });

  it('revokes a credential after a confirmation, by the keyboard, and warns of the own', async () => {
    const { secret } = await issue('old job', ['read']);
    const ann = await issue('Ann', ['admin', 'read']);
    await open(ann.secret);
    await row('old job').getByRole('button', { name: 'Revoke …' }).focus();
    await c.page.keyboard.press('Enter');
    await dialog().getByText('This cannot be undone.').waitFor();
    expect(await dialog().getByText('You are signed in').count()).toBe(0);
    await c.escapeDialog();
    await expect.poll(() => c.page.evaluate('document.activeElement.textContent')).toBe('Revoke …');
    expect(await works(secret)).toBe(true);
    await c.page.keyboard.press('Enter');
    await c.button('Revoke the credential').focus();
    await c.page.keyboard.press('Enter');
    await c.page.getByRole('status').getByText('old job is revoked.').waitFor();
    await row('old job').getByText('Revoked').waitFor();
    expect([await works(secret), await row('old job').getByRole('button').count()]).toEqual([false, 0]);
    await row('Ann').getByRole('button', { name: 'Revoke …' }).click();
    await dialog().getByText('You are signed in with this credential.').waitFor();
    await c.button('Revoke the credential').click();
    await c.page.getByRole('dialog', { name: 'Sign in' }).waitFor();
    expect(await works(ann.secret)).toBe(false);
  });

  it('is not shown, nor in the navigation, without the scope', async () => {
    const { secret } = await issue('Eve', ['read', 'update']);
    await open(secret);
    await c.heading('Credentials');
    await c.page.getByText('it needs the scope admin').waitFor();
    expect(await c.link('Credentials').count()).toBe(0);
    expect(await c.link('Proposals').count()).toBe(1);
    await c.close();
    await open(server.t.service, '/console');
    await c.link('Credentials').click();
    await c.button('Issue credential …').waitFor();
  });

  it('shows an administrator of an organization its own credentials, and offers no right that it lacks', async () => {
    await issue('of globex', ['read'], 'globex');
    await issue('reader', ['read'], 'acme');
    await issue('stronger', ['read', 'update'], 'acme');
    await issue('unrestricted', undefined, 'acme');
    const { secret } = await issue('Ann', ['admin', 'read'], 'acme');
    await open(secret);
    await row('reader').waitFor();
    expect(await c.page.getByRole('rowheader').locator('.name').allInnerTexts()).toEqual([
      'reader',
      'stronger',
      'unrestricted',
      'Ann',
    ]);
    const buttons = async (label: string) => row(label).getByRole('button').allInnerTexts();
    expect(await buttons('reader')).toEqual(['Rotate …', 'Revoke …']);
    expect(await buttons('stronger')).toEqual(['Revoke …']);
    expect(await buttons('unrestricted')).toEqual(['Revoke …']);
    expect(await c.page.getByLabel('Organization').count()).toBe(0);
    await fill('dashboard');
    expect(await dialog().getByLabel('Organization').isEditable()).toBe(false);
    expect(await dialog().getByRole('checkbox').count()).toBe(2);
    await c.button('Issue the credential').click();
    await dialog().getByRole('group', { name: 'Secret' }).waitFor();
    expect(await stored('dashboard')).toMatchObject([{ orgID: 'acme', scopes: ['read'] }]);
  });

  it('turns the pages, shows one organization, and says when there is nothing or an error', async () => {
    for (let number = 1; number <= 25; number += 1) await issue(`job ${number}`, ['read'], 'acme');
    await open(server.t.service);
    await row('job 18').waitFor();
    // Two were issued at the start.
    expect(await c.page.getByRole('rowheader').count()).toBe(20);
    await c.link('Next page').click();
    await row('job 25').waitFor();
    expect(await row('job 18').count()).toBe(0);
    expect(await c.link('Next page').count()).toBe(0);
    await c.page.reload();
    await c.signIn(server.t.service);
    await row('job 25').waitFor();
    await c.go(`${path}?org=nobody`);
    await c.page.getByRole('heading', { name: 'No credential of this organization' }).waitFor();
    await c.go(`${path}?after=nonsense`);
    await c.page.getByRole('alert').getByText('Not valid').waitFor();
  });
});

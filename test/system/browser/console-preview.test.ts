import { afterEach, beforeEach, expect, it } from 'vitest';
import { startIssuer } from '../../service/auth/issuer.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

describeInBrowser('the preview of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    c = await openConsole(browser(), server, { path: '/console/preview' });
    await c.signIn(server.t.management);
    await c.heading('Preview');
    await c.page.getByLabel('Definition as JSON').waitFor();
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const preview = async (definition: string) => {
    await c.page.getByLabel('Definition as JSON').fill(definition);
    await c.button('Check').click();
  };
  const keyHash = '2a97516c354b68848cdbd8f54a226a0a55b21ed138e207ad6c5cbb9c00aa5aea';

  it.each([
    ['REST', '{"key_id":"demo","alias":"Demo","apply_policy_id":"gold","access_rights":{"a":{"api_id":"b"}}}'],
    ['GraphQL', '{"keyID":"demo","alias":"Demo","applyPolicyID":"gold","accessRights":[{"label":"a","apiID":"b"}]}'],
  ])('shows normal form, hash and warnings of a definition with the names of %s', async (_, definition) => {
    await preview(definition);
    await c.card('What would be stored').getByText(keyHash).waitFor();
    expect(await c.page.getByRole('list', { name: 'Warnings' }).innerText()).toMatch(/Policy identifier[^]*Access/);
    expect(await c.card('What would be stored').innerText()).toMatch(/Policies\s+gold/);
    expect(c.problems).toEqual([]);
  });

  it('keeps all digits of integers beyond 2^53, and the members of free-form JSON as they are', async () => {
    await preview('{"key_id":"demo","quota_max":9223372036854775807,"meta_data":{"my_id":1}}');
    await c.card('What would be stored').getByText('9,223,372,036,854,775,807').waitFor();
    expect(await c.card('What would be stored').innerText()).toContain('{"my_id":1}');
  });

  it('lists all problems with their paths, and rejects what is not a JSON object', async () => {
    await preview('{"rate":-5,"monitor":{"trigger_limits":[120]}}');
    const alert = c.page.getByRole('alert');
    await alert.getByText('Monitor › Trigger limits › 1').waitFor();
    expect(await alert.innerText()).toContain('Rate must be at least -1');
    await preview('[1]');
    await c.page.getByText('The text is not a JSON object.').waitFor();
  });

  it('accepts a token of the configured issuer, which the form names, and rejects others', async () => {
    const issuer = await startIssuer();
    const own = await startServer({ KEYFRONT_OIDC_ISSUER: issuer.url, KEYFRONT_OIDC_AUDIENCE: 'keyfront' });
    try {
      await c.close();
      c = await openConsole(browser(), own, { path: '/console/preview' });
      await c.page.getByText(`A token (JWT) that ${issuer.url} has issued for this service`).waitFor();
      const seconds = own.t.clock.now.getTime() / 1000;
      const claims = { iss: issuer.url, aud: 'other', sub: 'ada', iat: seconds, exp: seconds + 300 };
      await c.signIn(await issuer.sign(claims));
      await c.page.getByRole('alert').getByText('does not accept this credential').waitFor();
      await c.signIn(await issuer.sign({ ...claims, aud: 'keyfront' }));
      await preview('{"key_id":"demo"}');
      await c.card('What would be stored').getByText(keyHash).waitFor();
    } finally {
      await own.close();
      await issuer.close();
    }
  });

  it('names no issuer if none is configured', async () => {
    await c.page.locator('.account summary').click();
    await c.button('Sign out').click();
    await c.page.getByLabel('Management credential').waitFor();
    expect(await c.page.locator('main').innerText()).not.toContain('oken');
  });
});

import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgres } from '../../support/engines.js';
import { createProxy } from '../../support/proxy.js';
import { startServer, type TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';

const keys = [
  { key_id: 'billing', org_id: 'acme', alias: 'Billing', rate: 100, per: 60, tags: ['production'], quota_max: 1000 },
  { key_id: 'mobile', org_id: 'acme', alias: 'Mobile', is_inactive: true, apply_policies: ['gold'] },
  { key_id: 'trial', org_id: 'globex', alias: 'Trial', expires: 1893456000 },
];

describeInBrowser('the list of the console', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  beforeEach(async () => {
    server = await startServer();
    await server.t.importKeys(...keys);
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });
  const open = async (path = '/console') => {
    c = await openConsole(browser(), server, { path });
    await c.signIn(server.t.service);
  };
  const names = () => c.column('Alias');

  it('lists keys without an error, a violation of its policy or a request to another host', async () => {
    await open();
    await expect.poll(names).toEqual(['Billing', 'Mobile', 'Trial']);
    expect(await c.column('State')).toEqual(['Active', 'Inactive', 'Active']);
    expect(await c.column('Rate')).toEqual(['100 / 60 s', '–', '–']);
    expect((await c.column('Quota used'))[0]).toContain('0 of 1,000');
    expect(c.problems).toEqual([]);
    expect(c.requests.filter((request) => !/^(GET \/console|POST \/graphql$)/.test(request))).toEqual([]);
  });

  it('keeps the credential in memory only, and not in the address', async () => {
    await open();
    await expect.poll(names).toHaveLength(3);
    expect(await c.kept()).not.toContain(server.t.service.slice(7));
    await c.page.reload();
    expect(await c.page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(true);
  });

  it('explains a credential of the wrong kind without sending it', async () => {
    c = await openConsole(browser(), server);
    await c.signIn(server.t.management);
    expect(await c.page.getByRole('alert').innerText()).toContain('needs a service credential');
    expect(c.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  });

  it('requests another credential after a revocation, and continues in the same view', async () => {
    await open('/console?org=acme');
    await expect.poll(names).toEqual(['Billing', 'Mobile']);
    const { credentials } = server.t.app.services;
    const service = (await credentials.list()).find(({ kind }) => kind === 'service');
    await credentials.revoke(service?.id ?? '', server.t.clock.now);
    // Without a check of what covers the button: the dialog may be open already, if the service has ended the subscription.
    await c.button('Refresh').dispatchEvent('click');
    await c.page.getByRole('alert').filter({ hasText: 'does not accept the credential' }).waitFor();
    await c.signIn((await server.t.issue('service')).secret);
    await expect.poll(names).toEqual(['Billing', 'Mobile']);
  });

  it('filters by every condition of the address, which is shareable', async () => {
    // No result equals the one before, which is shown until the next one arrives.
    const cases = {
      'org=globex': ['Trial'],
      'alias=Mob': ['Mobile'],
      'tag=production': ['Billing'],
      'policy=gold': ['Mobile'],
      'expires=2031-01-01': ['Trial'],
      'state=INACTIVE': ['Mobile'],
      'org=acme&state=ACTIVE': ['Billing'],
    };
    await open();
    for (const [query, found] of Object.entries(cases)) {
      await c.go(`/console?${query}`);
      await expect.poll(names).toEqual(found);
    }
    await c.go('/console?api=nothing');
    await c.page.getByText('No key matches these filters.').waitFor();
  });

  it('writes filters and the order into the address, and goes back with the browser', async () => {
    await open();
    await c.page.getByLabel('Organization', { exact: true }).fill('acme');
    await c.button('Apply').click();
    await expect.poll(names).toEqual(['Billing', 'Mobile']);
    await c.button('Alias').click();
    await expect.poll(names).toEqual(['Mobile', 'Billing']);
    expect(await c.page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    expect(c.page.url()).toBe(`${server.url}/console?org=acme&sort=ALIAS&descending=yes`);
    await c.page.goBack();
    await c.page.goBack();
    await expect.poll(names).toEqual(['Billing', 'Mobile', 'Trial']);
    await c.button('Count all').click();
    await c.page.getByText('3 keys match.').waitFor();
  });

  it('turns pages of many keys in both directions, and counts them on request only', async () => {
    const many = Array.from({ length: 1200 }, (_, number) => {
      const name = `many-${String(number).padStart(5, '0')}`;
      return { key_id: name, org_id: 'many', alias: name };
    });
    await server.t.importKeys(...many);
    await open('/console?org=many');
    await expect.poll(names).toHaveLength(50);
    await c.page.getByLabel('Live', { exact: true }).waitFor();
    // The page and the subscription.
    expect(c.requests.filter((request) => request.startsWith('POST'))).toHaveLength(2);
    await c.page.getByRole('link', { name: 'Next page' }).click();
    await expect.poll(names).toEqual(many.slice(50, 100).map(({ alias }) => alias));
    await c.page.getByRole('link', { name: 'Previous page' }).click();
    await expect.poll(names).toEqual(many.slice(0, 50).map(({ alias }) => alias));
    await c.button('Count all').click();
    await c.page.getByText('1,200 keys match.').waitFor();
  });

  it('changes rows as their keys change, and counts the changes of keys on other pages', async () => {
    await open('/console?alias=B');
    await expect.poll(names).toEqual(['Billing']);
    // The stream is open.
    await c.page.getByLabel('Live', { exact: true }).waitFor();
    await server.t.update('billing', { alias: 'Renamed', rate: 7, is_inactive: true });
    await c.page.locator('tr.changed').waitFor();
    await expect.poll(names).toEqual(['Renamed']);
    expect(await c.column('State')).toEqual(['Inactive']);
    await server.t.update('trial', { alias: 'Trial 2' });
    await c.page.getByText('1 changed keys are not on this page.').waitFor();
    await server.t.send('/svc/org/keys/billing', {
      method: 'DELETE',
      headers: { 'x-svc-authorization': server.t.service },
    });
    await expect.poll(() => c.column('State')).toEqual(['Deleted']);
    await c.button('Refresh').click();
    await c.page.getByText('No key matches these filters.').waitFor();
  });

  describe('in bulk', () => {
    const bulk = () => c.page.getByRole('region', { name: 'Change in bulk' });
    const rates = () => c.column('Rate');
    const run = async (name: 'Dry run' | 'Apply', done: string) => {
      await bulk().getByRole('button', { name }).click();
      await bulk().getByText(done).waitFor();
    };
    const downloaded = async () => {
      const [file] = await Promise.all([
        c.page.waitForEvent('download'),
        bulk().getByRole('button', { name: 'Download as JSON' }).click(),
      ]);
      return JSON.parse(await readFile(await file.path(), 'utf8')) as object[];
    };

    it('changes all keys that match the filter after a dry run, and offers the results as JSON', async () => {
      await open('/console?org=acme');
      await expect.poll(names).toEqual(['Billing', 'Mobile']);
      await c.button('Change in bulk').click();
      await bulk().getByLabel('Field to change').selectOption('rate');
      await bulk().locator('[data-path="rate"]').fill('9');
      expect(await bulk().getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
      await run('Dry run', '2 keys done, 0 failed.');
      expect(await rates()).toEqual(['100 / 60 s', '–']);
      await bulk().getByLabel('Reason').fill('One rate');
      await run('Apply', '2 keys done, 0 failed.');
      await c.button('Refresh').click();
      await expect.poll(rates).toEqual(['9 / 60 s', '9']);
      expect(await downloaded()).toEqual([
        expect.objectContaining({ version: 2, changes: [expect.objectContaining({ path: 'rate', after: 9 })] }),
        expect.objectContaining({ version: 2 }),
      ]);
      expect(c.problems).toEqual([]);
    });

    it('changes only selected keys, and reports the result of each', async () => {
      await open();
      await c.page.getByLabel('Select Mobile').check();
      await c.page.getByLabel('Select Trial').check();
      await c.button('Change in bulk').click();
      await bulk().getByText('the 2 selected keys').waitFor();
      await bulk().getByLabel('Field to change').selectOption('applyPolicies');
      await bulk().locator('[data-path="applyPolicies"]').fill('silver');
      await run('Dry run', '2 keys done, 0 failed.');
      await server.t.send('/svc/org/keys/trial', {
        method: 'DELETE',
        headers: { 'x-svc-authorization': server.t.service },
      });
      await run('Apply', '2 keys done, 1 failed.');
      await bulk().getByText('NOT_FOUND').waitFor();
      const { body } = await server.t.graphql('{ orgKeys(filter: { policy: "silver" }) { edges { node { keyID } } } }');
      expect(body).toEqual({ data: { orgKeys: { edges: [{ node: { keyID: 'mobile' } }] } } });
    });

    it('stops on request without an error, and changes the remaining keys when it is applied again', async () => {
      const many = Array.from({ length: 120 }, (_, number) => ({ key_id: `many-${number}`, org_id: 'many' }));
      await server.t.importKeys(...many);
      const changed = async () => {
        const query = '{ orgKeys(filter: { orgID: "many", tagsAll: ["new"] }) { totalCount } }';
        return (await server.t.graphql(query)).body;
      };
      await open('/console?org=many');
      await c.button('Change in bulk').click();
      await bulk().getByLabel('Field to change').selectOption('tags');
      await bulk().locator('[data-path="tags"]').fill('new');
      await run('Dry run', '120 keys done, 0 failed.');
      const second = Promise.withResolvers<void>();
      await c.page.route('**/graphql', async (route) => {
        // The second page of the change does not reach the service.
        if (/"dryRun":false.*"after":"/.test(route.request().postData() ?? '')) second.resolve();
        else await route.fallback();
      });
      await bulk().getByRole('button', { name: 'Apply' }).click();
      await second.promise;
      await bulk().getByRole('button', { name: 'Stop' }).click();
      await bulk().getByRole('button', { name: 'Download as JSON' }).waitFor();
      expect(await bulk().getByRole('status').innerText()).toBe('50 keys done, 0 failed.');
      expect(await c.page.getByRole('alert').count()).toBe(0);
      expect(await changed()).toEqual({ data: { orgKeys: { totalCount: 50 } } });
      await c.page.unroute('**/graphql');
      await run('Dry run', '120 keys done, 0 failed.');
      await run('Apply', '120 keys done, 0 failed.');
      expect(await changed()).toEqual({ data: { orgKeys: { totalCount: 120 } } });
      expect((await downloaded()).filter((outcome) => 'version' in outcome && outcome.version === 2)).toHaveLength(120);
    });
  });
});

describeInBrowser(`the list of the console, on ${postgres.name}`, (browser) => {
  it.skipIf(postgres.isMissing)('shows that storage cannot be reached, and tries again on request', async () => {
    const place = await postgres.make();
    const proxy = await createProxy(place.env['KEYFRONT_DATABASE_URL'] ?? '');
    const server = await startServer({ ...place.env, KEYFRONT_DATABASE_URL: proxy.url });
    const c = await openConsole(browser(), server);
    try {
      await server.t.importKeys(...keys);
      await c.signIn(server.t.service);
      await expect.poll(() => c.column('Alias')).toHaveLength(3);
      proxy.cut();
      await c.button('Refresh').click();
      const alert = c.page.getByRole('alert');
      await alert.getByText('Service unavailable').waitFor();
      await alert.getByText('Storage cannot be reached').waitFor();
      proxy.restore();
      await until(async () => (await server.t.send('/ready')).status === 200, '200 of /ready');
      await alert.getByRole('button', { name: 'Try again' }).click();
      await expect.poll(() => c.column('Alias')).toHaveLength(3);
      expect(await alert.count()).toBe(0);
    } finally {
      await c.close();
      await server.close();
      await proxy.close();
      await place.remove();
    }
  });
});

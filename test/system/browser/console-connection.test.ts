import { expect, it, onTestFinished } from 'vitest';
import { postgres } from '../../support/engines.js';
import { createProxy } from '../../support/proxy.js';
import { startServer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { describeInBrowser } from './browser.js';
import { openConsole } from './console-page.js';

const keys = [{ key_id: 'billing', org_id: 'acme', alias: 'Billing' }];

describeInBrowser('the connection of the console', (browser) => {
  it('states at once that the service does not respond, and continues without a click when it is back', async () => {
    const first = await startServer();
    await first.t.importKeys(...keys);
    const c = await openConsole(browser(), first);
    onTestFinished(() => c.close());
    await c.signIn(first.t.service);
    await c.page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(c.names).toEqual(['Billing']);
    // No request arrives from now on. The page of the other address also opens a stream of its own.
    const paths = ['**/graphql', '**/icon.svg'];
    for (const path of paths) await c.page.route(path, (route) => route.abort('connectionrefused'));
    await c.go('/console?org=acme');
    const banner = c.page.getByText('Keyfront does not respond.');
    await banner.waitFor();
    expect(await c.page.getByText('Live', { exact: true }).count()).toBe(0);
    await first.t.update('billing', { alias: 'Renamed' });
    // What was shown stays.
    expect(await c.names()).toEqual(['Billing']);
    for (const path of paths) await c.page.unroute(path);
    await expect.poll(c.names).toEqual(['Renamed']);
    await banner.waitFor({ state: 'detached' });
    await c.page.getByText('Live', { exact: true }).waitFor();
    await first.close();
  });

  it('is not live any more when the service stops', async () => {
    const server = await startServer();
    await server.t.importKeys(...keys);
    const c = await openConsole(browser(), server);
    onTestFinished(() => c.close());
    await c.signIn(server.t.service);
    await c.page.getByText('Live', { exact: true }).waitFor();
    await server.close();
    await c.page.getByText('Keyfront does not respond.').waitFor();
    expect(await c.page.getByText('Live', { exact: true }).count()).toBe(0);
  });
});

describeInBrowser(`the connection of the console, on ${postgres.name}`, (browser) => {
  it.skipIf(postgres.isMissing)('shows that storage cannot be reached, and recovers by itself', async () => {
    const place = await postgres.make();
    const proxy = await createProxy(place.env['KEYFRONT_DATABASE_URL'] ?? '');
    const server = await startServer({ ...place.env, KEYFRONT_DATABASE_URL: proxy.url });
    const c = await openConsole(browser(), server);
    try {
      await server.t.importKeys(...keys);
      await c.signIn(server.t.service);
      await expect.poll(c.names).toHaveLength(1);
      proxy.cut();
      await c.go('/console?org=acme');
      const alert = c.page.getByRole('alert');
      await alert.getByText('Service unavailable').waitFor();
      await alert.getByText('Storage cannot be reached').waitFor();
      proxy.restore();
      await until(async () => (await server.t.send('/ready')).status === 200, '200 of /ready');
      await alert.waitFor({ state: 'detached' });
      expect(await c.names()).toHaveLength(1);
    } finally {
      await c.close();
      await server.close();
      await proxy.close();
      await place.remove();
    }
  });
});

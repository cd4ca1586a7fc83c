import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sampleKeyLines } from '../../../src/cli/serve/first-start.js';
import { hashOf } from '../../support/factories.js';
import { startServer, type TestServer } from '../../support/server.js';
import { describeInBrowser } from './browser.js';
import { openConsole, type ConsolePage } from './console-page.js';
import { photographConsole } from './photograph.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

describeInBrowser('the console for everyone', (browser) => {
  let server: TestServer;
  let c: ConsolePage;
  const key = `/console/keys/${hashOf('acme-billing')}`;
  beforeEach(async () => {
    server = await startServer();
    server.t.clock.now = new Date();
    await server.t.importKeys(...sampleKeyLines.map((line) => JSON.parse(line) as object));
    const changes = [{ rate: 200 }, { rate: 50, quota_max: 20_000 }];
    for (const change of changes) {
      server.t.clock.now = new Date(server.t.clock.now.getTime() + 60_000);
      await server.t.update('acme-billing', { alias: 'Billing, production', per: 60, quota_max: 10_000, ...change });
    }
    server.t.clock.now = new Date();
    await server.t.graphql('mutation { consumeOrgQuota(keyID: "acme-billing", amount: 4200) { allowed } }');
  });
  afterEach(async () => {
    await c.close();
    await server.close();
  });

  /** The rules of WCAG 2.2 AA that the page violates, with the elements. */
  const violations = async () => {
    await c.page.evaluate(axe);
    const result = await c.page.evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 120))))`,
    );
    return result as string[];
  };
  const views: Record<string, () => Promise<void>> = {
    'the sign-in form': () => Promise.resolve(),
    'the list of keys': async () => {
      await c.signIn(server.t.service);
      await c.page.getByRole('table').waitFor();
    },
    'a bulk change with its results': async () => {
      await c.signIn(server.t.service);
      await c.button('Change in bulk').click();
      await c.page.getByLabel('Field to change').selectOption('rate');
      await c.button('Dry run').click();
      await c.page.getByText('3 keys done').waitFor();
    },
    'a key': async () => {
      await c.go(key);
      await c.signIn(server.t.service);
      await c.page.getByRole('timer').or(c.page.getByText('Does not renew')).waitFor();
    },
    'the form of a key with problems': async () => {
      await c.go(`${key}?edit=yes`);
      await c.signIn(server.t.service);
      await c.page.locator('[data-path="rate"]').fill('-5');
      await c.page.getByText('must be at least -1').waitFor();
    },
    'the confirmation of a reset': async () => {
      await c.go(key);
      await c.signIn(server.t.service);
      await c.button('Reset quota').click();
      await c.page
        .getByRole('dialog')
        .getByText(/requests/)
        .waitFor();
    },
    'the preview': async () => {
      await c.go('/console/preview');
      await c.signIn(server.t.management);
      await c.page.getByLabel('Definition as JSON').fill('{"alias":"Demo","apply_policy_id":"gold"}');
      await c.button('Preview').click();
      await c.page.getByRole('list', { name: 'Warnings' }).waitFor();
    },
  };

  it.each(Object.keys(views))('violates no rule of WCAG 2.2 AA in %s, in light and dark', async (view) => {
    c = await openConsole(browser(), server);
    await views[view]?.();
    for (const colorScheme of ['light', 'dark'] as const) {
      await c.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect({ colorScheme, violations: await violations() }).toEqual({ colorScheme, violations: [] });
    }
  });

  it.each([390, 1280, 2560])('fits %i pixels without scrolling sideways', async (width) => {
    const viewport = { width, height: 900 };
    for (const view of Object.values(views)) {
      c = await openConsole(browser(), server, { viewport, reducedMotion: 'reduce' });
      await view();
      expect(await c.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await c.close();
    }
    c = await openConsole(browser(), server, { viewport, reducedMotion: 'reduce' });
    await views['a key']?.();
    if (width === 390) await photographConsole(c.page, 'console-phone', 760);
    await c.go('/console');
    await c.page.getByRole('table').waitFor();
    if (width === 1280) await photographConsole(c.page, 'console', 480);
  });

  it('is operated with the keyboard alone, from sign-in to a saved edit', async () => {
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
    await focusOn('password');
    await c.page.keyboard.insertText(server.t.service);
    await press('Enter');
    await c.page.getByRole('table').waitFor();
    await focusOn('Billing');
    await press('Enter');
    await c.page.getByRole('heading', { level: 1, name: 'Key', exact: true }).waitFor();
    await c.card('Live quota').waitFor();
    await focusOn('Edit');
    await press('Enter');
    await c.page.getByText('Checked: 0 problems').waitFor();
    await focusOn('rate');
    await press('ControlOrMeta+a');
    await c.page.keyboard.insertText('77');
    await press('Enter');
    await c.page.getByRole('row', { name: /^rate/ }).waitFor();
    await focusOn('Save');
    await press('Enter');
    await c.page.locator('[data-version="4"]').waitFor();
  });

  it('paints its first content, measured by the browser', async () => {
    c = await openConsole(browser(), server);
    await expect.poll(() => c.page.evaluate(`performance.getEntriesByName('first-contentful-paint').length`)).toBe(1);
    const time = await c.page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
    expect(Number(time)).toBeGreaterThan(0);
  });
});

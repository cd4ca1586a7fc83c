import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { startBrowser, whyNoBrowser } from './chromium.js';

/** Describes a suite that has a browser, or the reason why it is left out. */
export function describeInBrowser(name: string, suite: (browser: () => Browser) => void): void {
  const title = whyNoBrowser === undefined ? name : `${name} (skipped: ${whyNoBrowser})`;
  describe.skipIf(whyNoBrowser !== undefined)(title, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser?.close());
    suite(() => {
      if (!browser) throw new Error('The browser did not start.');
      return browser;
    });
  });
}

/** A page with no memory of earlier visits, and what its browser does. */
export interface WatchedPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Everything that the browser has requested, as method and path, or address at another host. */
  readonly requests: readonly string[];
  /** Messages of the browser's console, violations of the policy of the page, and errors of its scripts. */
  readonly problems: readonly string[];
  /** Everything that the browser stores for the page, and its address. */
  readonly kept: () => Promise<string>;
}

/** Opens a page that reaches one service only. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const requests: string[] = [];
  const problems: string[] = [];
  // Routed, so that what would leave this machine is seen even where it could not get anywhere.
  await context.route(
    () => true,
    async (route) => {
      const request = route.request();
      requests.push(`${request.method()} ${request.url().replace(`${url}/`, '/')}`);
      if (request.url().startsWith(`${url}/`)) await route.continue();
      else await route.abort();
    },
  );
  context.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  context.on('weberror', (error) => problems.push(error.error().message));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('violation', event.violatedDirective, event.blockedURI))`,
  );
  return {
    context,
    page,
    requests,
    problems,
    kept: async () => {
      const databases = `indexedDB.databases().then((all) => all.map(({ name }) => name))`;
      const stored = await page.evaluate(
        `${databases}.then((databases) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases, location.href]))`,
      );
      return `${JSON.stringify(await context.cookies())} ${String(stored)}`;
    },
  };
}

import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { TestServer } from '../../support/server.js';

/** The console in a browser. */
export interface ConsolePage {
  readonly page: Page;
  /** Everything that the browser has requested, as method and address. */
  readonly requests: readonly string[];
  /** Messages of the browser's console, violations of the policy of the page, and errors of its scripts. */
  readonly problems: readonly string[];
  /** Pastes a credential into the form of the view. */
  readonly signIn: (secret: string) => Promise<void>;
  /** Opens an address of the console without a reload, so that the credentials stay. */
  readonly go: (path: string) => Promise<void>;
  /** The texts of a column of the table of keys. */
  readonly column: (name: string) => Promise<string[]>;
  readonly card: (name: string) => Locator;
  readonly button: (name: string | RegExp) => Locator;
  /** Everything that the browser stores for the page, and its address. */
  readonly kept: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Opens a view of the console with no memory of earlier visits. */
export async function openConsole(
  browser: Browser,
  { url }: Pick<TestServer, 'url'>,
  { path = '/console', ...options }: BrowserContextOptions & { readonly path?: string } = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const requests: string[] = [];
  const problems: string[] = [];
  await context.route(
    () => true,
    async (route) => {
      const request = route.request();
      requests.push(`${request.method()} ${request.url().replace(url, '')}`);
      if (request.url().startsWith(`${url}/`)) await route.continue();
      else await route.abort();
    },
  );
  context.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  context.on('weberror', (error) => problems.push(error.error().message));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('violation', event.violatedDirective, event.blockedURI))`,
  );
  await page.goto(url + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const signIn = async (secret: string) => {
    await page.getByLabel(/credential \(/).fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  return {
    page,
    requests,
    problems,
    signIn,
    go: async (target) => {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(target)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
    },
    column: async (name) => {
      const headers = await page.locator('table.keys thead').locator('td, th').allInnerTexts();
      const index = headers.findIndex((header) => header === name);
      return page.locator(`table.keys tbody tr > :nth-child(${index + 1})`).allInnerTexts();
    },
    card: (name) => page.getByRole('region', { name }),
    button: (name) => page.getByRole('button', { name }),
    kept: async () => {
      const databases = `indexedDB.databases().then((all) => all.map(({ name }) => name))`;
      const stored = await page.evaluate(
        `${databases}.then((databases) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases, location.href]))`,
      );
      return `${JSON.stringify(await context.cookies())} ${String(stored)}`;
    },
    close: () => context.close(),
  };
}

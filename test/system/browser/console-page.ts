import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import type { TestServer } from '../../support/server.js';
import { openPage, type WatchedPage } from './browser.js';

/** The console in a browser. */
export interface ConsolePage extends Omit<WatchedPage, 'context'> {
  /** Pastes a credential into the form of the view. */
  readonly signIn: (secret: string) => Promise<void>;
  /** Opens an address of the console without a reload, so that the credentials stay. */
  readonly go: (path: string) => Promise<void>;
  /** The texts of a column of the table of keys. */
  readonly column: (name: string) => Promise<string[]>;
  readonly card: (name: string) => Locator;
  readonly button: (name: string | RegExp) => Locator;
  readonly close: () => Promise<void>;
}

/** Opens a view of the console with no memory of earlier visits. */
export async function openConsole(
  browser: Browser,
  { url }: Pick<TestServer, 'url'>,
  { path = '/console', ...options }: BrowserContextOptions & { readonly path?: string } = {},
): Promise<ConsolePage> {
  const size = { viewport: { width: 1280, height: 900 }, ...options };
  const { context, page, requests, problems, kept } = await openPage(browser, url, size);
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
    kept,
    close: () => context.close(),
  };
}

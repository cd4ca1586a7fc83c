import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import type { TestServer } from '../../support/server.js';
import { openPage, type WatchedPage } from './browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The console in a browser. */
export interface ConsolePage extends WatchedPage {
  /** Pastes a credential into the form of the page. */
  readonly signIn: (secret: string) => Promise<void>;
  /** Opens an address of the console without a reload, so that the credentials stay. */
  readonly go: (path: string) => Promise<void>;
  /** Waits for the heading of a page. */
  readonly heading: (name: string | RegExp) => Promise<void>;
  /** The names of the keys in the list, in their order. */
  readonly names: () => Promise<string[]>;
  /** The texts of a column of the list of keys. */
  readonly column: (name: string) => Promise<string[]>;
  /** A section of the page. */
  readonly card: (name: string) => Locator;
  readonly button: (name: string | RegExp) => Locator;
  readonly link: (name: string | RegExp) => Locator;
  /** Closes a dialog with Escape. */
  readonly escapeDialog: () => Promise<void>;
  /** The control of a field of the definition. */
  readonly field: (path: string) => Locator;
  /** The rules of WCAG 2.2 AA that the page violates, with the elements. */
  readonly violations: () => Promise<string[]>;
  /** What a screen reader would miss: controls and landmarks without a name, and headings out of order. */
  readonly unnamed: () => Promise<string[]>;
  /** What a screen reader announces by itself: the texts of live regions. */
  readonly announced: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Opens a page of the console with no memory of earlier visits. */
export async function openConsole(
  browser: Browser,
  { url }: Pick<TestServer, 'url'>,
  { path = '/console', ...options }: BrowserContextOptions & { readonly path?: string } = {},
): Promise<ConsolePage> {
  const size = { viewport: { width: 1280, height: 900 }, ...options };
  const watched = await openPage(browser, url, size);
  const { context, page } = watched;
  await page.goto(url + path);
  await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
  return {
    ...watched,
    signIn: async (secret) => {
      await page.getByLabel(/^(Service|Management) credential/).fill(secret);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    go: async (target) => {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(target)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
    },
    heading: (name) => page.getByRole('heading', { level: 1, name }).waitFor(),
    names: () => page.locator('table.keys tbody a.name').allInnerTexts(),
    column: async (name) => {
      const headers = await page.locator('table.keys thead').locator('td, th').allInnerTexts();
      const index = headers.findIndex((header) => header.trim() === name);
      return page.locator(`table.keys tbody tr > :nth-child(${index + 1})`).allInnerTexts();
    },
    card: (name) => page.getByRole('region', { name }),
    button: (name) => page.getByRole('button', { name }),
    link: (name) => page.getByRole('link', { name }),
    escapeDialog: async () => {
      await page.keyboard.press('Escape');
      // The focus returns to the page before the page learns that the dialog is closed. A dialog that a test opens in
      // between would be closed at once. By its role, a closed dialog is not found even while it is still there.
      await page.locator('dialog').waitFor({ state: 'detached' });
    },
    field: (path) => page.locator(`[data-path="${path}"]`),
    violations: async () => {
      await page.evaluate(axe);
      const result = await page.evaluate(
        `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
          violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 160))))`,
      );
      return result as string[];
    },
    unnamed: async () => problemsOf(await page.locator('body').ariaSnapshot()),
    announced: async () => {
      const regions = page.locator('[role=status], [role=alert], [aria-live]');
      return (await regions.allTextContents()).join(' ').replaceAll(/\s+/g, ' ').trim();
    },
    async close() {
      // A response that a test replaces may be on its way.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}

/** Roles whose elements mean nothing without a name. */
const namedRoles =
  /^(button|link|textbox|searchbox|combobox|checkbox|radio|spinbutton|option|meter|progressbar|img|dialog|region|navigation|table|listbox|heading|term)$/;

/** Finds problems in the accessibility tree of a page, as Playwright writes it: a node on each line. */
export function problemsOf(tree: string): string[] {
  const nodes = tree.split('\n').flatMap((line) => {
    const [, role = '', name] = /^\s*- '?(?:\/)?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?/.exec(line) ?? [];
    return role === '' ? [] : [{ line: line.trim(), role, name, level: Number(/\[level=(\d)\]/.exec(line)?.[1] ?? 0) }];
  });
  const count = (wanted: string) => nodes.filter(({ role }) => role === wanted).length;
  const headings = nodes.filter(({ role }) => role === 'heading');
  return [
    ...nodes
      .filter(({ line, role, name }) => namedRoles.test(role) && (name ?? '') === '' && !/^- '?term: ./.test(line))
      .map(({ line }) => `without a name: ${line}`),
    ...headings
      .filter(({ level }, index) => level > (headings[index - 1]?.level ?? 0) + 1)
      .map(({ line }) => `skips a level: ${line}`),
    ...(headings.filter(({ level }) => level === 1).length === 1 ? [] : ['not one heading of level 1']),
    ...['main', 'banner'].filter((role) => count(role) !== 1).map((role) => `not one ${role}`),
  ];
}

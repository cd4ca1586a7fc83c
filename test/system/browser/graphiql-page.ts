import type { Browser, BrowserContextOptions } from 'playwright-core';
import { examples } from '../../../src/graphql/graphiql/browser/examples.js';
import { until } from '../../support/until.js';
import { openPage, type WatchedPage } from './browser.js';

/** What stands in the editors of GraphiQL. */
export interface Editors {
  readonly operation: string;
  readonly variables: string;
  readonly headers: string;
  readonly response: string;
}

/** GraphiQL in a browser, as its user has it before him. */
export interface GraphiQLPage extends Omit<WatchedPage, 'context'> {
  readonly tabs: () => Promise<string[]>;
  readonly editors: () => Promise<Editors>;
  /** Opens the tab of this name, or the example of this name from the list in the sidebar. */
  readonly openTab: (name: string) => Promise<void>;
  /** Pastes a credential into the field of its kind. */
  readonly paste: (secret: string) => Promise<void>;
  /** Puts a text in the place of all that stands in an editor. */
  readonly write: (editor: 'operation' | 'variables' | 'headers', text: string) => Promise<void>;
  /** Presses the play button and returns the response. */
  readonly run: () => Promise<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}

const files = {
  operation: 'operation.graphql',
  variables: 'variables.json',
  headers: 'request-headers.json',
  response: 'response.json',
};

const modelOf = (file: string) =>
  `monaco.editor.getModels().find((model) => model.uri.path.endsWith(${JSON.stringify(file)}))`;

/** Opens GraphiQL at the address of a service, with no memory of earlier visits, and waits until it can be used. */
export async function openGraphiQL(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<GraphiQLPage> {
  const size = { viewport: { width: 1280, height: 800 }, ...options };
  const { context, page, requests, problems, kept } = await openPage(browser, url, size);

  const editor = async (name: keyof typeof files): Promise<string> =>
    page.evaluate(`${modelOf(files[name])}.getValue()`);
  // GraphiQL handles a change of an editor 100 milliseconds later. Timers of the page run in the order of their due times,
  // also on a busy machine.
  let idle: Promise<unknown> = Promise.resolve();
  const changed = () => {
    // Rejects if the page is closed meanwhile; the next action of a test rejects too.
    idle = page.evaluate('new Promise((resolve) => setTimeout(resolve, 250))').catch(() => undefined);
  };
  await page.goto(`${url}/`);
  await page.waitForSelector('.graphiql-execute-button');
  // Playwright's own waiting would have the page evaluate a text, which its policy forbids.
  await until(
    () => page.evaluate(`!!globalThis.monaco && !!${modelOf(files.response)} && !!${modelOf(files.headers)}`),
    'Loading of the editors',
  );

  return {
    page,
    requests,
    problems,
    tabs: () => page.locator('.graphiql-tab-button').allInnerTexts(),
    editors: async () => ({
      operation: await editor('operation'),
      variables: await editor('variables'),
      headers: await editor('headers'),
      response: await editor('response'),
    }),
    openTab: async (name) => {
      await idle;
      const tab = page.locator('.graphiql-tab-button', { hasText: new RegExp(`^${name}$`) });
      if (await tab.isVisible()) {
        await tab.click();
      } else {
        const list = page.getByRole('region', { name: 'Examples' });
        if (!(await list.isVisible())) await page.getByLabel('Show Examples').click();
        const title = examples.find(({ query }) => new RegExp(`^\\w+ ${name}\\b`, 'm').test(query))?.title ?? name;
        await list.getByRole('button', { name: title, exact: true }).click();
      }
      await until(async () => new RegExp(`\\b${name}\\b`).test(await editor('operation')), `The operation ${name}`);
      changed();
      await page.locator('.graphiql-tab-active').filter({ has: tab }).waitFor();
    },
    paste: async (secret) => {
      const kind = secret.startsWith('kf_mgt_') ? 'Management' : 'Service';
      const field = page.getByLabel(`${kind} credential`);
      await field.fill(secret);
      // As a click outside of the field.
      await field.blur();
    },
    write: async (name, text) => {
      await page.evaluate(`${modelOf(files[name])}.setValue(${JSON.stringify(text)})`);
      changed();
    },
    run: async () => {
      await idle;
      await page.evaluate(`${modelOf(files.response)}.setValue('')`);
      await page.locator('.graphiql-execute-button').click();
      await until(async () => (await editor('response')).endsWith('}'), 'The response');
      return JSON.parse(await editor('response')) as Record<string, unknown>;
    },
    kept,
    close: () => context.close(),
  };
}

import type { Browser, PageOptions } from './browser.js';
import type { explain } from './explain.js';
import type { keepTabs } from './keep-tabs.js';
import type { watchCredentials } from './watch-credentials.js';

interface Parts {
  readonly explain: typeof explain;
  readonly keepTabs: typeof keepTabs;
  readonly watchCredentials: typeof watchCredentials;
}

/** Starts GraphiQL in the page that `page.ts` writes, when it has been loaded: its editors look at some of this before. */
export function startPage(browser: Browser, { explain, keepTabs, watchCredentials }: Parts): void {
  const at = (selector: string) => browser.document.querySelector(selector);
  const {
    endpoint,
    credentials,
    tabs: examples,
    defaultHeaders,
    logo,
  } = JSON.parse(at('#options').textContent) as PageOptions;

  const say = (words: string) => {
    at('#hint-words').textContent = words;
    at('#hint').hidden = words === '';
  };
  at('#hint-close').addEventListener('click', () => say(''));
  const reloadSchema = () => at('button[aria-label^="Re-fetch GraphQL schema"]').click();
  watchCredentials(browser, { credentials, explain, say, reloadSchema });

  browser.MonacoEnvironment = {
    globalAPI: true,
    getWorkerUrl: (_module: string, label: string) => `/graphiql/${label}.worker.js`,
  };
  // GraphiQL looks at this once; its colours follow by themselves, those of its editors do not.
  const darkness = browser.matchMedia('(prefers-color-scheme: dark)');
  darkness.addEventListener('change', () => {
    const isChosen = ['light', 'dark'].includes(browser.localStorage.getItem('graphiql:theme') ?? '');
    if (!isChosen) browser.monaco?.editor.setTheme(darkness.matches ? 'graphiql-DARK' : 'graphiql-LIGHT');
  });

  const { tabs, storage } = keepTabs(browser, examples, defaultHeaders);
  const start = () =>
    browser.YogaGraphiQL.renderYogaGraphiQL(at('#root'), {
      title: 'Keyfront',
      logo,
      endpoint,
      storage,
      shouldPersistHeaders: false,
      defaultEditorToolsVisibility: 'headers',
      defaultHeaders,
      defaultTabs: tabs,
      // GraphiQL takes these of the first tab from elsewhere.
      initialVariables: tabs[0]?.variables,
      initialHeaders: tabs[0]?.headers,
      // Without this, the operation would be put into the address, and so into the history of the browser.
      onEditQuery: () => undefined,
    });
  browser.addEventListener('load', start);
}

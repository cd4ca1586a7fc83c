// Runs before GraphiQL's script, whose editors read `MonacoEnvironment` when they load, and renders it after.

import { credentialHeaders, headersTemplate } from './credential-headers.js';
import { examples } from './examples.js';
import { keepTabs } from './keep-tabs.js';
import { watchCredentials } from './watch-credentials.js';

function element(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`The page has no element ${selector}.`);
  return found;
}

function showHint(text: string): void {
  element('#hint-text').textContent = text;
  element('#hint').hidden = text === '';
}
element('#hint-close').addEventListener('click', () => showHint(''));

watchCredentials({
  credentialHeaders,
  showHint,
  reloadSchema: () => element('button[aria-label^="Re-fetch GraphQL schema"]').click(),
});

window.MonacoEnvironment = {
  globalAPI: true,
  getWorkerUrl: (_module, label) => `/graphiql/${label}.worker.js`,
};

// GraphiQL's own colours follow the system; the theme of its editors is set only once.
const darkMode = window.matchMedia('(prefers-color-scheme: dark)');
darkMode.addEventListener('change', () => {
  const isChosen = ['light', 'dark'].includes(localStorage.getItem('graphiql:theme') ?? '');
  if (!isChosen) window.monaco?.editor.setTheme(darkMode.matches ? 'graphiql-DARK' : 'graphiql-LIGHT');
});

const defaultHeaders = headersTemplate(credentialHeaders);
const exampleTabs = examples.map(({ credential, query, variables }) => ({
  query: `${query}\n`,
  variables,
  headers: headersTemplate(credentialHeaders.filter(({ kind }) => kind === credential)),
}));
const { tabs, storage } = keepTabs(exampleTabs, defaultHeaders);

window.addEventListener('load', () =>
  YogaGraphiQL.renderYogaGraphiQL(element('#root'), {
    title: 'Keyfront',
    logo: element('#logo').innerHTML,
    endpoint: '/graphql',
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
  }),
);

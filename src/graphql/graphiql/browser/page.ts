// Runs before GraphiQL's script, whose editors read `MonacoEnvironment` when they load, and renders it after.

import { credentialHeaders, headersTemplate } from './credential-headers.js';
import { createCredentials } from './credentials.js';
import { examples, welcome, type ExampleOperation } from './examples.js';
import { examplesPlugin, nameOf } from './examples-panel.js';
import { createFetcher } from './fetcher.js';
import { keepTabs } from './keep-tabs.js';
import { createSubscriptions } from './subscriptions.js';

function element(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`The page has no element ${selector}.`);
  return found;
}

const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
const pressPlay = () => press('.graphiql-execute-button');

function showHint(text: string): void {
  element('#hint-text').textContent = text;
  element('#hint').hidden = text === '';
}
element('#hint-close').addEventListener('click', () => showHint(''));

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

// GraphiQL executes on this key only while one of its editors has the focus.
document.addEventListener('keydown', (event) => {
  const isInEditor = event.target instanceof Element && event.target.closest('.monaco-editor') !== null;
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isInEditor) pressPlay();
});

const credentials = createCredentials();
const subscriptions = createSubscriptions(pressPlay);
const fetcher = createFetcher({
  credentials,
  subscriptions,
  showHint,
  reloadSchema: () => press('button[aria-label^="Re-fetch GraphQL schema"]'),
});

const isNarrow = window.matchMedia('(max-width: 700px)');
const defaultHeaders = headersTemplate(credentialHeaders);
const toTab = ({ credential, query, variables }: ExampleOperation) => ({
  query: `${query}\n`,
  variables,
  headers: headersTemplate(credentialHeaders.filter(({ kind }) => kind === credential)),
});

const editorFiles = ['operation.graphql', 'variables.json', 'request-headers.json', 'response.json'];

const modelOf = (file: string) => window.monaco?.editor.getModels().find(({ uri }) => uri.path.endsWith(file));

/** Opens an example in its tab, or in a new one. */
function openExample(example: ExampleOperation): void {
  if (isNarrow.matches) press('button[aria-label="Hide Examples"]');
  const tabs = [...document.querySelectorAll<HTMLElement>('.graphiql-tab-button')];
  const open = tabs.find(({ textContent }) => textContent === nameOf(example));
  if (open) {
    open.scrollIntoView({ inline: 'nearest' });
    return open.click();
  }
  press('.graphiql-tab-add');
  const { query, variables, headers } = toTab(example);
  const texts = { 'operation.graphql': query, 'variables.json': variables, 'request-headers.json': headers };
  for (const [file, text] of Object.entries(texts)) modelOf(file)?.setValue(text);
  setTimeout(() => document.querySelector('.graphiql-tab-active')?.scrollIntoView({ inline: 'nearest' }));
  const pane = credentials.has(example.credential) ? 'variables' : 'headers';
  press(`.graphiql-editor-tools button[data-name="${pane}"]`);
}

const { tabs, activeIndex, storage } = keepTabs(
  { ...welcome, query: `${welcome.query}\n`, headers: defaultHeaders },
  examples.map(toTab),
  defaultHeaders,
);

/** Activates a tab once all editors exist: GraphiQL loads with its first tab, and writes the texts of another into them. */
function activateTab(index: number): void {
  const observer = new MutationObserver(() => {
    const tab = document.querySelectorAll<HTMLElement>('.graphiql-tab-button')[index];
    if (tab === undefined || !editorFiles.every(modelOf)) return;
    observer.disconnect();
    tab.click();
  });
  observer.observe(element('#root'), { childList: true, subtree: true });
}

window.addEventListener('load', () => {
  if (activeIndex > 0) activateTab(activeIndex);
  window.monaco?.editor.onDidCreateEditor((editor) => editor.updateOptions({ wordWrap: 'on' }));
  YogaGraphiQL.renderYogaGraphiQL(element('#root'), {
    title: 'Keyfront',
    logo: element('#logo').innerHTML,
    fetcher,
    storage,
    plugins: [examplesPlugin(examples, openExample)],
    visiblePlugin: isNarrow.matches ? undefined : 'Examples',
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: 'headers',
    defaultHeaders,
    defaultTabs: tabs,
    // For the first tab, GraphiQL ignores these members of `defaultTabs`.
    initialVariables: tabs[0]?.variables,
    initialHeaders: tabs[0]?.headers,
    onTabChange: subscriptions.onTabChange,
    onEditHeaders: (text: string) => {
      credentials.remember(text);
      showHint('');
    },
    // By default, GraphiQL writes the operation into the URL, and so into the history of the browser.
    onEditQuery: () => undefined,
  });
});

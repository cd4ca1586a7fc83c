// Runs before GraphiQL's script, whose editors read `MonacoEnvironment` when they load, and renders it after.

import { examples, welcome, type ExampleOperation } from './examples.js';
import { examplesPlugin } from './examples-panel.js';
import { showSignOn } from './sign-on-button.js';
import type { SignedOn } from '../../../http/sign-on/browser/sign-on.js';

const press = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();

window.MonacoEnvironment = {
  globalAPI: true,
  getWorkerUrl: (_module, label) => `/graphiql/${label}.worker.js`,
};

// GraphiQL's own colors follow the system; the theme of its editors is set only once.
const darkMode = window.matchMedia('(prefers-color-scheme: dark)');
darkMode.addEventListener('change', () => {
  const isChosen = ['light', 'dark'].includes(sessionStorage.getItem('graphiql:theme') ?? '');
  if (!isChosen) window.monaco?.editor.setTheme(darkMode.matches ? 'graphiql-DARK' : 'graphiql-LIGHT');
});

// GraphiQL executes on this key only while one of its editors has the focus.
document.addEventListener('keydown', (event) => {
  const isInEditor = event.target instanceof Element && event.target.closest('.monaco-editor') !== null;
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isInEditor) press('.graphiql-execute-button');
});

// GraphiQL ends a subscription when another tab is opened, but not when a tab is added: its events would appear there.
document.addEventListener(
  'click',
  ({ target }) => {
    const isAdding = target instanceof Element && target.closest('.graphiql-tab-add') !== null;
    if (isAdding) press('.graphiql-execute-button[aria-label^="Stop"]');
  },
  { capture: true },
);

/** The person who has signed on. A pasted credential is used before the token. */
let signedOn: SignedOn | undefined;

/** The headers with the credentials of the page, which are for all tabs and only in memory. */
function credentialHeaders(): Record<string, string> {
  const credential = (kind: string) => document.querySelector<HTMLInputElement>(`#${kind}`)?.value.trim() ?? '';
  const [management, service] = [credential('management'), credential('service')];
  const token = signedOn?.token();
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(management !== '' && { authorization: `Bearer ${management}` }),
    ...(service !== '' && { 'x-svc-authorization': service }),
  };
}

// The service may show its schema only with a credential.
const fetchSchema = () => press('button[aria-label^="Re-fetch GraphQL schema"]');
document.querySelector('#credentials')?.addEventListener('change', fetchSchema);
showSignOn((person) => {
  signedOn = person;
  fetchSchema();
});

// Puts each credential of a pasted text into its field: both lines of the first start can be pasted at once.
document.querySelector<HTMLElement>('#credentials')?.addEventListener('paste', (event) => {
  const text = event.clipboardData?.getData('text') ?? '';
  const secrets = { management: /\bkf_mgt_\w+/.exec(text)?.[0], service: /\bkf_svc_\w+/.exec(text)?.[0] };
  for (const [kind, secret] of Object.entries(secrets)) {
    const field = document.querySelector<HTMLInputElement>(`#${kind}`);
    if (field === null || secret === undefined) continue;
    field.value = secret;
    event.preventDefault();
  }
  if (event.defaultPrevented) fetchSchema();
});

// The console has a setting of its own.
fetch('/console', { method: 'HEAD' }).then(
  ({ ok }) => document.querySelector('#console-link')?.toggleAttribute('hidden', !ok),
  () => undefined,
);

const isNarrow = window.matchMedia('(max-width: 700px)');

/** Opens an example in a new tab. */
function openExample({ query, variables }: ExampleOperation): void {
  if (isNarrow.matches) press('button[aria-label="Hide Examples"]');
  press('.graphiql-tab-add');
  const texts = { 'operation.graphql': query, 'variables.json': variables };
  for (const model of window.monaco?.editor.getModels() ?? []) {
    for (const [file, text] of Object.entries(texts)) if (model.uri.path.endsWith(file)) model.setValue(text);
  }
}

window.addEventListener('load', () => {
  const root = document.querySelector('#root');
  if (root === null) throw new Error('The page has no element #root.');
  window.monaco?.editor.onDidCreateEditor((editor) => editor.updateOptions({ wordWrap: 'on' }));
  YogaGraphiQL.renderYogaGraphiQL(root, {
    title: 'Keyfront',
    logo: document.querySelector('#logo')?.innerHTML,
    endpoint: '/graphql',
    method: 'POST',
    credentials: 'omit',
    additionalHeaders: credentialHeaders,
    plugins: [examplesPlugin(examples, openExample)],
    visiblePlugin: isNarrow.matches ? undefined : 'Examples',
    defaultQuery: welcome,
    defaultEditorToolsVisibility: 'variables',
    // Typed text may contain secrets, and key identifiers may be tokens: it ends with the tab of the browser.
    storage: sessionStorage,
    shouldPersistHeaders: false,
    // By default, Yoga's page writes the operation into the URL, and so into the history of the browser.
    onEditQuery: () => undefined,
  });
});

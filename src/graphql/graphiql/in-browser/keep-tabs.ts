import type { Browser, BrowserStorage, Tab } from './browser.js';

/** Where GraphiQL keeps things, and the tabs it begins with. */
export interface KeptTabs {
  readonly storage: BrowserStorage;
  readonly tabs: readonly Tab[];
}

/**
 * What is typed may hold secrets, and key identifiers may be tokens: it survives a reload, and ends with the tab of the
 * browser. Headers do not survive even that, so that their templates take their place.
 */
export function keepTabs(browser: Browser, examples: readonly Tab[], defaultHeaders: string): KeptTabs {
  const { localStorage, sessionStorage } = browser;
  const typed = ['tabState', 'query', 'variables', 'headers'].map((name) => `graphiql:${name}`);
  const [stateKey = ''] = typed;
  const nameOf = ({ query }: Tab) => /^(?!#).*(?:query|mutation)\s+(\w+)/m.exec(query ?? '')?.[1];
  const templateFor = (tab: Tab) => examples.find((one) => nameOf(one) === nameOf(tab))?.headers ?? defaultHeaders;
  const kept = JSON.parse(sessionStorage.getItem(stateKey) ?? '{}') as { readonly tabs?: readonly Tab[] };
  return {
    tabs: kept.tabs?.map((tab) => ({ ...tab, headers: templateFor(tab) })) ?? examples,
    storage: {
      get length() {
        return localStorage.length;
      },
      // GraphiQL would add an empty tab to those it finds, at every reload: it is given them as those to begin with.
      getItem: (key) => (typed.includes(key) ? null : localStorage.getItem(key)),
      setItem: (key, value) => {
        if (key === stateKey) sessionStorage.setItem(key, value);
        else if (!typed.includes(key)) localStorage.setItem(key, value);
      },
      removeItem: (key) => localStorage.removeItem(key),
      clear: () => {
        localStorage.clear();
        sessionStorage.clear();
      },
    },
  };
}

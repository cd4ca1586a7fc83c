/** A tab in the form that GraphiQL takes and stores. */
export interface Tab {
  readonly query: string | null;
  readonly variables?: string | null;
  readonly headers: string | null;
}

/** The storage for GraphiQL, and its initial tabs. */
export interface KeptTabs {
  readonly storage: Storage;
  readonly tabs: readonly Tab[];
  /** The index of the tab that was active before a reload. */
  readonly activeIndex: number;
}

const typedTexts = ['tabState', 'query', 'variables', 'headers'].map((name) => `graphiql:${name}`);
const [stateKey = ''] = typedTexts;

/**
 * Keeps typed text for the session only: it may contain secrets, and key identifiers may be tokens. It survives a reload
 * and ends with the browser tab. Headers do not survive a reload; `headers` templates replace them.
 */
export function keepTabs(welcome: Tab, examples: readonly Tab[], defaultHeaders: string): KeptTabs {
  const nameOf = ({ query }: Tab) => /^(?!#).*(?:query|mutation|subscription)\s+(\w+)/m.exec(query ?? '')?.[1];
  const templateFor = (tab: Tab) =>
    [welcome, ...examples].find((candidate) => nameOf(candidate) === nameOf(tab))?.headers ?? defaultHeaders;
  const kept = JSON.parse(sessionStorage.getItem(stateKey) ?? '{}') as {
    readonly tabs?: readonly Tab[];
    readonly activeTabIndex?: number;
  };
  return {
    tabs: kept.tabs?.map((tab) => ({ ...tab, headers: templateFor(tab) })) ?? [welcome],
    activeIndex: kept.activeTabIndex ?? 0,
    storage: {
      get length() {
        return localStorage.length;
      },
      key: (index) => localStorage.key(index),
      // GraphiQL adds an empty tab to stored tabs at every reload, so the tabs are passed as its defaults instead.
      getItem: (key) => (typedTexts.includes(key) ? null : localStorage.getItem(key)),
      setItem: (key, value) => {
        if (key === stateKey) sessionStorage.setItem(key, value);
        else if (!typedTexts.includes(key)) localStorage.setItem(key, value);
      },
      removeItem: (key) => localStorage.removeItem(key),
      clear: () => {
        localStorage.clear();
        sessionStorage.clear();
      },
    },
  };
}

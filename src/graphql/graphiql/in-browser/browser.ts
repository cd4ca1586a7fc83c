/** As much of a browser as our scripts touch: the types of a whole one would let the service believe that it is in one. */
export interface Browser {
  fetch: typeof fetch;
  MonacoEnvironment?: object;
  readonly addEventListener: (event: 'load', listener: () => void) => void;
  readonly localStorage: BrowserStorage;
  readonly sessionStorage: BrowserStorage;
  readonly document: { readonly querySelector: (selector: string) => BrowserElement };
  readonly matchMedia: (query: string) => {
    readonly matches: boolean;
    readonly addEventListener: (event: 'change', listener: () => void) => void;
  };
  /** The editors of GraphiQL, once they are there. */
  readonly monaco?: { readonly editor: { readonly setTheme: (name: string) => void } };
  readonly YogaGraphiQL: { readonly renderYogaGraphiQL: (root: BrowserElement, options: object) => void };
}

export interface BrowserStorage {
  readonly length: number;
  readonly getItem: (key: string) => string | null;
  readonly setItem: (key: string, value: string) => void;
  readonly removeItem: (key: string) => void;
  readonly clear: () => void;
}

export interface BrowserElement {
  textContent: string;
  hidden: boolean;
  readonly addEventListener: (event: 'click', listener: () => void) => void;
  readonly click: () => void;
}

/** A header for credentials of one kind, and what stands in it before somebody pastes one. */
export interface CredentialHeader {
  readonly kind: string;
  readonly name: string;
  readonly beginning: string;
}

/** What the page tells its scripts. */
export interface PageOptions {
  readonly endpoint: string;
  readonly credentials: readonly CredentialHeader[];
  readonly tabs: readonly Tab[];
  /** For tabs that are none of ours. */
  readonly defaultHeaders: string;
  /** SVG. */
  readonly logo: string;
}

/** A tab as GraphiQL takes it and keeps it. */
export interface Tab {
  readonly query: string | null;
  readonly variables?: string | null;
  readonly headers: string | null;
}

interface Window {
  /** Read by GraphiQL's editors when their script loads. */
  MonacoEnvironment?: {
    readonly globalAPI: boolean;
    readonly getWorkerUrl: (module: string, label: string) => string;
  };
  /** The editors; undefined until they have loaded. */
  readonly monaco?: { readonly editor: { readonly setTheme: (name: string) => void } };
}

/** Defined by `graphiql.js`, which loads after our script. */
declare const YogaGraphiQL: {
  readonly renderYogaGraphiQL: (root: Element, options: object) => void;
};

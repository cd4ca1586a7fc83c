interface Window {
  /** Read by GraphiQL's editors when their script loads. */
  MonacoEnvironment?: {
    readonly globalAPI: boolean;
    readonly getWorkerUrl: (module: string, label: string) => string;
  };
  /** The editors; undefined until they have loaded. */
  readonly monaco?: {
    readonly editor: {
      readonly setTheme: (name: string) => void;
      readonly onDidCreateEditor: (
        listener: (editor: { readonly updateOptions: (options: { readonly wordWrap: 'on' }) => void }) => void,
      ) => void;
      readonly getModels: () => readonly {
        readonly uri: { readonly path: string };
        readonly setValue: (text: string) => void;
      }[];
    };
  };
}

/** Defined by `graphiql.js`, which loads after our script. */
declare const YogaGraphiQL: {
  readonly renderYogaGraphiQL: (root: Element, options: object) => void;
};

/** The React of GraphiQL, defined by `graphiql.js`. */
declare const React: {
  readonly createElement: (type: string, props: object | null, ...children: unknown[]) => object;
};

/** The types of a document, as codegen, gql.tada and `@graphql-typed-document-node/core` declare them. */
export interface DocumentTypes<Data, Variables> {
  readonly __apiType?: ((variables: Variables) => Data) | undefined;
}

/** A document as text, with `documentMode: 'string'` of codegen. A string without types has data of the type `unknown`. */
export interface DocumentText {
  readonly length: number;
  toString(): string;
}

/**
 * A document that a client sends: a text, or a syntax tree (`TypedDocumentNode`) of the type that its `print` takes.
 */
export type TypedDocument<Data, Variables, Tree = never> = (DocumentText | Tree) & DocumentTypes<Data, Variables>;

/** The body of a request for a document, without its variables. */
export type DocumentParameters = { readonly query: string } | { readonly documentId: string };

/**
 * Returns the text of a document, or the id that codegen has given to it (`persistedDocuments`).
 *
 * @throws {TypeError} if the document has no id, or is a syntax tree and there is no `print`
 */
export function parametersOf<Tree>(
  document: DocumentText | Tree,
  print: ((tree: Tree) => string) | undefined,
  isTrusted: boolean,
): DocumentParameters {
  if (!isTrusted) return { query: textOf(document, print) };
  const { __meta__: meta } = document as { readonly __meta__?: Readonly<Record<string, unknown>> | undefined };
  const id = meta?.['hash'];
  if (typeof id === 'string') return { documentId: id };
  throw new TypeError('The document has no id. Generate it with `persistedDocuments` of codegen.');
}

function textOf<Tree>(document: DocumentText | Tree, print: ((tree: Tree) => string) | undefined): string {
  if (isText(document)) return document.toString();
  if (print) return print(document);
  throw new TypeError('The document is a syntax tree. Pass `print` of the package graphql to createClient.');
}

function isText<Tree>(document: DocumentText | Tree): document is DocumentText {
  return typeof document === 'string' || document instanceof String;
}

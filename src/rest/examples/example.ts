/** A request as somebody might send it, and the answer to it. A test sends every one of them, to the sample keys. */
export interface Example {
  readonly summary: string;
  /** By the names that the operation's documentation gives them. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** JSON, as text: names of fields belong into the table of fields. */
  readonly body?: string;
  readonly status: number;
  /** JSON as well. */
  readonly answer: string;
  readonly etag?: string;
}

/** Examples of an operation. In the document a request and its answer go by the same name. */
export type Examples = Readonly<Record<string, Example>>;

import type { GraphQLError, ResponsePath } from 'graphql';

/** The errors of one execution, in the order in which they came. */
export interface FieldErrors {
  readonly all: readonly GraphQLError[];
  /** Adds an error that made the value at a path null; no path is the answer as a whole. */
  readonly add: (error: GraphQLError, path: ResponsePath | undefined) => void;
}

/** Collects errors, and leaves out those below what has become null already: nothing in the answer would show them. */
export function createFieldErrors(): FieldErrors {
  const all: GraphQLError[] = [];
  const nulled = new Set<ResponsePath | undefined>();
  const isNulled = (path: ResponsePath | undefined): boolean =>
    nulled.has(path) || (path !== undefined && isNulled(path.prev));
  return {
    all,
    add: (error, path) => {
      if (isNulled(path)) return;
      nulled.add(path);
      all.push(error);
    },
  };
}

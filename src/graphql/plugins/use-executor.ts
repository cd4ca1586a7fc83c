import type { Plugin } from 'graphql-yoga';
import { markNotExecuted } from '../errors.js';
import type { Execute } from '../execution/executor/execute.js';

/** Executes queries and mutations by our executor. */
export function useExecutor(execute: Execute): Plugin {
  const executeOrReject: Execute = (args) => {
    const result = execute(args);
    // As with graphql-js, a result without `data` reports an operation that was not executed.
    return result instanceof Promise || 'data' in result ? result : markNotExecuted(result);
  };
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(executeOrReject) };
}

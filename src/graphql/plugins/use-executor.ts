import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.js';
import { notExecuted } from '../errors.js';
import type { Execute } from '../executor/executor.js';

/** Executes queries and mutations by our executor. */
export function useExecutor(execute: Execute): Plugin {
  const executeOrReject: Execute = (args) => {
    const result = execute(args);
    // As with graphql-js, a result without `data` reports an operation that was not executed.
    return result instanceof Promise || 'data' in result ? result : notExecuted(result);
  };
  return {
    onExecute({ context, setExecuteFn }) {
      const { executed } = (context as Partial<ServerContext>).begun ?? {};
      setExecuteFn((given) => {
        const own = () => executeOrReject(given);
        return executed ? executed.then((result) => result ?? own()) : own();
      });
    },
  };
}

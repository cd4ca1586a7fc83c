import { getOperationAST, OperationTypeNode, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../context.js';
import { startDeadline } from '../execution/deadline.js';

/** Ends an operation that takes too long. */
export function useDeadline(timeoutMs: number): Plugin<Context> {
  return {
    onExecute({ args, extendContext }) {
      const operation = getOperationAST(args.document as DocumentNode, args.operationName as string | undefined);
      const isMutation = operation?.operation === OperationTypeNode.MUTATION;
      const deadline = startDeadline(timeoutMs, isMutation);
      if (isMutation) extendContext({ deadline });
      else Object.assign(args, { deadline });
      return { onExecuteDone: () => deadline.clear() };
    },
  };
}

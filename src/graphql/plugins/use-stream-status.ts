import { getOperationAST, OperationTypeNode, type DocumentNode, type ExecutionResult } from 'graphql';
import { processRegularResult, type Plugin } from 'graphql-yoga';
import { preferredType } from '../../http/content-negotiation.js';
import { negotiateJSON } from '../response-type.js';

/**
 * Responds to a failed request for a stream with JSON and the status of its error (400, 401, 429, …), because clients of
 * event streams discard events of a response with such a status. By the GraphQL over HTTP draft, errors of an operation
 * have the status 200 for application/json only; Yoga also gives it to event streams.
 */
export function useStreamStatus(): Plugin {
  const subscriptions = new WeakSet<Request>();
  return {
    onParse:
      ({ context }) =>
      ({ result }) => {
        const { request, params } = context as { request: Request; params: { operationName?: string } };
        if (isDocument(result) && isSubscription(result, params.operationName)) subscriptions.add(request);
      },
    onResultProcess(event) {
      const { request, result } = event;
      if (!isFailed(result)) return;
      if (!subscriptions.has(request) && acceptsJSON(request)) return;
      for (const { extensions } of result.errors ?? []) {
        // Copied: validation errors are cached with their document.
        extensions['http'] = { ...(extensions['http'] as object | undefined), spec: false };
      }
      const mediaType = negotiateJSON(request.headers.get('accept')) ?? 'application/graphql-response+json';
      event.setResultProcessor(processRegularResult as Parameters<typeof event.setResultProcessor>[0], mediaType);
    },
  };
}

function isDocument(result: unknown): result is DocumentNode {
  return typeof result === 'object' && result !== null && 'definitions' in result;
}

function isSubscription(document: DocumentNode, operationName: string | undefined): boolean {
  return getOperationAST(document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION;
}

function isFailed(result: unknown): result is ExecutionResult {
  return typeof result === 'object' && result !== null && 'errors' in result && !('data' in result);
}

const jsonTypes = ['application/graphql-response+json', 'application/json'];

function acceptsJSON({ headers }: Request): boolean {
  return preferredType(headers.get('accept'), jsonTypes) !== undefined;
}

import type { Plugin } from 'graphql-yoga';
import { preferredType } from '../../http/content-negotiation.js';
import { AppError } from '../../lib/errors.js';
import type { Context, ServerContext } from '../context.js';
import { requestError } from '../errors.js';
import { paramsOf } from '../execution/params.js';

/** The types of Yoga's responses. */
const responseTypes = ['application/graphql-response+json', 'application/json', 'text/event-stream', 'multipart/mixed'];

/** Reads requests with a size limit and exact numbers. */
export function useExactRequests(nextSlice: Context['nextSlice']): Plugin<object, ServerContext> {
  return {
    onRequestParse({ setRequestParser, serverContext: { requestContext } }) {
      setRequestParser(async () => {
        // Yoga negotiates only after it has executed a mutation.
        if (preferredType(requestContext.headers.get('accept'), responseTypes) === undefined) {
          throw requestError(
            new AppError(
              'INVALID',
              'The Accept header must allow application/json or application/graphql-response+json.',
            ),
            406,
          );
        }
        const params = await paramsOf(requestContext, nextSlice);
        // Yoga parses and validates the document in a tick that has time left.
        await nextSlice();
        return params;
      });
    },
  };
}

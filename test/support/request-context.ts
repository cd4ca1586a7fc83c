import type { Authenticate, AuthContext } from '../../src/credentials/credential.js';
import { createRequestContext, incomingFromFetch, type RequestContext } from '../../src/http/request-context.js';

interface Options {
  readonly id?: string;
  readonly authenticate?: Authenticate;
}

/** Creates the context of a request without a connection, and without a principal unless `authenticate` returns one. */
export function requestContextOf(
  request: Request,
  { id = 'request-1', authenticate = () => Promise.resolve<AuthContext>({}) }: Options = {},
): RequestContext {
  const record = {
    requestID: id,
    method: request.method,
    operation: 'other',
    verdict: 'ok' as const,
    route: undefined,
    complete: () => 0,
  };
  return createRequestContext(incomingFromFetch(request), { record, clientAddress: undefined, authenticate });
}

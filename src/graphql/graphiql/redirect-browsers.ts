import { preferredType } from '../../http/content-negotiation.js';
import type { Handler } from '../../http/router.js';

/** Redirects a browser that opens the GraphQL endpoint to GraphiQL. */
export function redirectBrowsers(handle: Handler): Handler {
  return (request, wildcard) => {
    const { method, headers } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const isBrowser = isRead && preferredType(headers.get('accept'), ['application/json', 'text/html']) === 'text/html';
    return isBrowser ? { status: 302, headers: { location: '/' }, body: null } : handle(request, wildcard);
  };
}

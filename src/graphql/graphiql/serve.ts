import { preferredType } from '../../http/content-negotiation.js';
import type { Handler } from '../../http/router.js';
import { browserFile, pageHeaders, type StaticAsset } from '../../http/static-asset.js';

// Sent with every file: a worker has only the policy of its own response.
const headers = pageHeaders({
  'worker-src': "'self'",
  'connect-src': "'self'",
  // The editor adds style elements at run time.
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': 'data:',
});

const fileNames = [
  'page.css',
  'page.js',
  'icon.svg',
  'graphiql.css',
  'graphiql.js',
  'graphql.worker.js',
  'json.worker.js',
  'editorWorkerService.worker.js',
];

/** The files of GraphiQL by path. Its scripts are separate files, so that the policy can forbid inline scripts. */
export const graphiqlAssets: ReadonlyMap<string, StaticAsset> = new Map([
  ['/', browserFile('graphiql/page.html', headers)],
  ...fileNames.map((name) => [`/graphiql/${name}`, browserFile(`graphiql/${name}`, headers)] as const),
]);

/** Redirects a browser that opens the GraphQL endpoint to GraphiQL. */
export function redirectBrowsers(handle: Handler): Handler {
  return (request, wildcard) => {
    const { method, headers } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const isBrowser = isRead && preferredType(headers.get('accept'), ['application/json', 'text/html']) === 'text/html';
    return isBrowser ? { status: 302, headers: { location: '/' }, body: null } : handle(request, wildcard);
  };
}

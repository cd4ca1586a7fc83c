import { preferredType } from '../../http/content-negotiation.js';
import type { Handler } from '../../http/router.js';
import type { SignOn } from '../../credentials/sign-on.js';
import { signOnPage } from '../../http/sign-on/assets.js';
import { browserFile, pageHeaders, type PageAsset } from '../../http/static-asset.js';

// Sent with every file: a worker has only the policy of its own response.
const sources = {
  'worker-src': "'self'",
  // The editor adds style elements at run time.
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': 'data:',
};
const headers = pageHeaders({ ...sources, 'connect-src': "'self'" });

const fileNames = [
  'page.css',
  'page.js',
  'sign-on.js',
  'icon.svg',
  'graphiql.css',
  'graphiql.js',
  'graphql.worker.js',
  'json.worker.js',
  'editorWorkerService.worker.js',
];

/**
 * Returns the files of GraphiQL by path. Its scripts are separate files, so that the policy can forbid inline scripts.
 *
 * @param signOn - undefined if people cannot sign on in GraphiQL
 */
export function graphiqlAssets(signOn?: SignOn): ReadonlyMap<string, PageAsset> {
  return new Map<string, PageAsset>([
    ['/', signOnPage('graphiql/page.html', sources, signOn)],
    ...fileNames.map((name) => [`/graphiql/${name}`, browserFile(`graphiql/${name}`, headers)] as const),
  ]);
}

/** Redirects a browser that opens the GraphQL endpoint to GraphiQL. */
export function redirectBrowsers(handle: Handler): Handler {
  return (request, wildcard) => {
    const { method, headers } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const isBrowser = isRead && preferredType(headers.get('accept'), ['application/json', 'text/html']) === 'text/html';
    return isBrowser ? { status: 302, headers: { location: '/' }, body: null } : handle(request, wildcard);
  };
}

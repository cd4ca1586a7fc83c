import { requireAnyPrincipal } from '../../credentials/credential.js';
import type { Handler, Route } from '../../http/router.js';
import {
  assetRoutes,
  browserFile,
  createStaticAsset,
  pageHeaders,
  serveAsset,
  type StaticAsset,
} from '../../http/static-asset.js';
import { openAPIText } from '../openapi/document.js';

const headers = pageHeaders({ 'style-src': "'self'", 'img-src': "'self' data:", 'connect-src': "'self'" });
const names = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** The page of the REST documents by path. */
export const docsAssets: ReadonlyMap<string, StaticAsset> = new Map([
  ['/docs', browserFile('docs/page.html', headers)],
  ...names.map((name) => [`/docs/${name}`, browserFile(`docs/${name}`)] as const),
]);

/** The path of the OpenAPI document. */
export const documentPath = '/openapi.json';

/** The OpenAPI document. */
const openAPIAsset = createStaticAsset({
  contentType: 'application/json; charset=utf-8',
  load: () => Promise.resolve(new TextEncoder().encode(openAPIText())),
});

interface Options {
  /** Whether the document needs no credential. */
  readonly isOpen: boolean;
  readonly hasPage: boolean;
}

/** The routes of the OpenAPI document and of the page that shows it. */
export function documentRoutes({ isOpen, hasPage }: Options): Route[] {
  const handle: Handler = async (request) => {
    if (!isOpen) requireAnyPrincipal(await request.principal());
    return serveAsset(request.headers, openAPIAsset);
  };
  return [{ path: documentPath, method: 'GET', handle }, ...(hasPage ? assetRoutes(docsAssets) : [])];
}

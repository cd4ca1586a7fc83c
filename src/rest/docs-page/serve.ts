import { requireAnyPrincipal } from '../../credentials/credential.js';
import type { Handler, Route } from '../../http/router.js';
import { assetRoutes, createStaticAsset, serveAsset } from '../../http/static-asset.js';
import { docsAssets } from './assets.js';
import { openAPIText } from '../openapi/document.js';

/** The path of the OpenAPI document. */
export const documentPath = '/openapi.json';

/** The OpenAPI document. */
export const openAPIAsset = createStaticAsset({
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

import { demandAny } from '../credential.js';
import { AppError } from '../lib/errors.js';
import type { RequestContext } from '../http/request-context.js';
import { createStaticAsset, serveAsset } from '../http/static-asset.js';
import { docsAssets } from './docs-page/assets.js';
import { errorResponse, methodRefused } from './errors.js';
import { openAPIText } from './openapi/document.js';

/** The path of the OpenAPI document. */
export const documentPath = '/openapi.json';

/** The OpenAPI document. */
export const openAPIAsset = createStaticAsset({
  contentType: 'application/json; charset=utf-8',
  load: () => Promise.resolve(new TextEncoder().encode(openAPIText())),
});

interface Parts {
  /** Whether the document needs no credential. */
  readonly isOpen: boolean;
  readonly hasPage: boolean;
}

/** Serves the OpenAPI document and its page. The handler returns undefined for all other paths. */
export function createDocuments({ isOpen, hasPage }: Parts) {
  const assets = new Map([[documentPath, openAPIAsset], ...(hasPage ? docsAssets : [])]);

  return async (request: Request, path: string, context: RequestContext): Promise<Response | undefined> => {
    const asset = assets.get(path);
    if (!asset) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodRefused('GET, HEAD', context.id);
    try {
      if (path === documentPath && !isOpen) {
        demandAny(await context.principal());
      }
      return await serveAsset(request.headers, asset);
    } catch (error) {
      if (error instanceof AppError) return errorResponse(error, context.id);
      throw error;
    }
  };
}

import { answerAsset, type Asset } from '../../asset.js';
import { createPage } from './page.js';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  // The editor writes styles into the page as it runs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the part of GraphiQL at this path, or undefined if there is none. */
export const serveGraphiQL = createServeGraphiQL(createPage);

/** `make` is called at the first request, and again after it has failed. */
export function createServeGraphiQL(make: () => Promise<ReadonlyMap<string, Asset>>) {
  let page: Promise<ReadonlyMap<string, Asset>> | undefined;
  return async (path: string, request: Request): Promise<Response | undefined> => {
    if (path !== '/' && !path.startsWith('/graphiql/')) return undefined;
    page ??= make();
    const assets = await page.catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    const asset = assets.get(path);
    // Workers have no policy but the one that they come with.
    return (
      asset && answerAsset(asset, request, { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
    );
  };
}

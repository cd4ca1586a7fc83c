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

let page: Promise<ReadonlyMap<string, Asset>> | undefined;

/** Answers with the part of GraphiQL at this path, or with nothing where there is none. Made on first use, and kept. */
export async function serveGraphiQL(path: string, request: Request): Promise<Response | undefined> {
  if (path !== '/' && !path.startsWith('/graphiql/')) return undefined;
  page ??= createPage();
  const asset = (await page).get(path);
  // Workers have no policy but the one that they come with.
  return asset && answerAsset(asset, request, { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' });
}

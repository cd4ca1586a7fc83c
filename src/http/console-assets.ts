import { fileURLToPath } from 'node:url';
import { browserFile, browserFolder, type StaticAsset } from './static-asset.js';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer' };
const page = browserFile('console/page.html', headers);
const fileNames = ['page.css', 'page.js', 'icon.svg'];

/** The console by path. Each of its views has a path, at which the same page is served. */
export const consoleAssets: ReadonlyMap<string, StaticAsset> = new Map([
  ...['/console', '/console/preview', '/console/keys/*'].map((path) => [path, page] as const),
  ...fileNames.map((name) => [`/console/${name}`, browserFile(`console/${name}`, headers)] as const),
]);

/** The file of the GraphQL documents of the console, by their ids. */
export const consoleDocuments = fileURLToPath(new URL('console/documents.json', browserFolder));

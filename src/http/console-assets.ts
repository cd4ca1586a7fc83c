import { fileURLToPath } from 'node:url';
import { browserFile, browserFolder, pageHeaders, type StaticAsset } from './static-asset.js';

const headers = pageHeaders({ 'style-src': "'self'", 'img-src': "'self'", 'connect-src': "'self'" });
const fileNames = ['page.css', 'page.js', 'icon.svg'];

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;' };

/**
 * Returns the files of the console by path. Each view has its own path, all with the same page.
 *
 * @param issuer - the issuer of single sign-on; the page contains it
 */
export function consoleAssets(issuer = ''): ReadonlyMap<string, StaticAsset> {
  const escaped = issuer.replace(/[&"<]/g, (character) => escapes[character] ?? '');
  const edit = (html: string) => html.replace('name="issuer" content=""', () => `name="issuer" content="${escaped}"`);
  const page = browserFile('console/page.html', headers, edit);
  return new Map([
    ...['/console', '/console/preview', '/console/keys/*'].map((path) => [path, page] as const),
    ...fileNames.map((name) => [`/console/${name}`, browserFile(`console/${name}`, headers)] as const),
  ]);
}

/** The path of the file with the GraphQL documents of the console, by id. */
export const consoleDocuments = fileURLToPath(new URL('console/documents.json', browserFolder));

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { browserFile, browserFolder, pageHeaders, type StaticAsset } from './static-asset.js';

const headers = pageHeaders({ 'style-src': "'self'", 'img-src': "'self'", 'connect-src': "'self'" });

/** The paths of the pages, which all have the same document. */
const pages = [
  '',
  '/new',
  '/bulk',
  '/organizations',
  '/policies',
  '/policies/*',
  '/changes',
  '/preview',
  '/keys/*',
].map((path) => `/console${path}`);

/** The scripts of the pages, whose names contain a hash of their content. */
const scriptNames = (): readonly string[] =>
  JSON.parse(readFileSync(new URL('console/scripts.json', browserFolder), 'utf8')) as string[];

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
    ...pages.map((path) => [path, page] as const),
    ...['page.css', 'icon.svg', ...scriptNames()].map(
      (name) => [`/console/${name}`, browserFile(`console/${name}`, headers)] as const,
    ),
  ]);
}

/** The path of the file with the GraphQL documents of the console, by id. */
export const consoleDocuments = fileURLToPath(new URL('console/documents.json', browserFolder));

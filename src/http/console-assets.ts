import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SignOn } from '../credentials/sign-on.js';
import { setMeta, signOnPage } from './sign-on/assets.js';
import { browserFile, browserFolder, pageHeaders, type PageAsset } from './static-asset.js';

const sources = { 'style-src': "'self'", 'img-src': "'self'" };
const headers = pageHeaders({ ...sources, 'connect-src': "'self'" });

/** The paths of the pages, which all have the same document. */
const pages = [
  '',
  '/new',
  '/bulk',
  '/organizations',
  '/gateways',
  '/proposals',
  '/credentials',
  '/webhooks',
  '/webhooks/*',
  '/policies',
  '/policies/*',
  '/changes',
  '/preview',
  '/keys/*',
].map((path) => `/console${path}`);

/** The scripts of the pages, whose names contain a hash of their content. */
const scriptNames = (): readonly string[] =>
  JSON.parse(readFileSync(new URL('console/scripts.json', browserFolder), 'utf8')) as string[];

/**
 * Returns the files of the console by path. Each view has its own path, all with the same page.
 *
 * @param issuer - the issuer of single sign-on; the page contains it
 * @param signOn - undefined if people cannot sign on in the console
 */
export function consoleAssets(issuer = '', signOn?: SignOn): ReadonlyMap<string, PageAsset> {
  const page = signOnPage('console/page.html', sources, signOn, (html) => setMeta(html, 'issuer', issuer));
  return new Map<string, PageAsset>([
    ...pages.map((path) => [path, page] as const),
    ...['page.css', 'icon.svg', ...scriptNames()].map(
      (name) => [`/console/${name}`, browserFile(`console/${name}`, headers)] as const,
    ),
  ]);
}

/** The path of the file with the GraphQL documents of the console, by id. */
export const consoleDocuments = fileURLToPath(new URL('console/documents.json', browserFolder));

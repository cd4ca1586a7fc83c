import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { demandAny, type Asking, type Authenticate } from '../credential.js';
import { AppError } from '../errors.js';
import { docsHTML, docsPolicy, docsScript, docsStyle } from './docs-page.js';
import { errorResponse, methodRefused } from './errors.js';
import { createKeptFile, type KeptFile } from './kept-file.js';
import { openAPIText } from './openapi/document.js';

/** Where the OpenAPI document is. */
export const documentPath = '/openapi.json';
/** Where the page that shows it is, and what the page is made of. */
export const pagePaths = [
  '/docs',
  '/docs/page.css',
  '/docs/page.js',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/favicon-32x32.png',
] as const;

interface Parts {
  /** Whether everybody may read the document, or holders of a valid credential only. */
  readonly isOpen: boolean;
  readonly hasPage: boolean;
  readonly authenticate: Authenticate;
}

/** Answers what documents the key API; undefined for paths at which there is nothing of it. */
export function createDocuments({ isOpen, hasPage, authenticate }: Parts) {
  const files = new Map<string, KeptFile>([[documentPath, createKeptFile(openAPIText, types.json)]]);
  if (hasPage) for (const path of pagePaths) files.set(path, pageFiles[path]);

  return async (request: Request, path: string, from: Omit<Asking, 'headers'>): Promise<Response | undefined> => {
    const file = files.get(path);
    if (!file) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodRefused('GET, HEAD', from.requestID);
    try {
      if (path === documentPath && !isOpen) {
        demandAny(await authenticate({ headers: request.headers, ...from }));
      }
      return await file.answer(request);
    } catch (error) {
      if (error instanceof AppError) return errorResponse(error, from.requestID);
      throw error;
    }
  };
}

const types = {
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  script: 'text/javascript; charset=utf-8',
  png: 'image/png',
};

/** A file of Swagger UI: the copy that `src/bundle.mjs` puts beside the bundle, or the package's when run from source. */
const ofSwagger = (name: string, contentType: string) =>
  createKeptFile(async () => {
    const copy = new URL(`./swagger-ui/${name}`, import.meta.url);
    return readFile(existsSync(copy) ? copy : createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  }, contentType);

const pageFiles: Readonly<Record<(typeof pagePaths)[number], KeptFile>> = {
  '/docs': createKeptFile(() => docsHTML, types.html, {
    'content-security-policy': docsPolicy,
    'referrer-policy': 'no-referrer',
  }),
  '/docs/page.css': createKeptFile(() => docsStyle, types.css),
  '/docs/page.js': createKeptFile(() => docsScript, types.script),
  '/docs/swagger-ui.css': ofSwagger('swagger-ui.css', types.css),
  '/docs/swagger-ui-bundle.js': ofSwagger('swagger-ui-bundle.js', types.script),
  '/docs/favicon-32x32.png': ofSwagger('favicon-32x32.png', types.png),
};

import { browserFile, type StaticAsset } from '../../http/static-asset.js';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const names = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** The page of the REST documents by path. */
export const docsAssets: ReadonlyMap<string, StaticAsset> = new Map([
  [
    '/docs',
    browserFile('docs/page.html', {
      'content-security-policy': contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
    }),
  ],
  ...names.map((name) => [`/docs/${name}`, browserFile(`docs/${name}`)] as const),
]);

import { createAsset, type Asset } from '../../asset.js';
import { credentialKinds } from '../../credential.js';
import { credentialHeaders, examples } from './examples.js';
import type { PageOptions } from './in-browser/browser.js';
import { explain } from './in-browser/explain.js';
import { keepTabs } from './in-browser/keep-tabs.js';
import { startPage } from './in-browser/start-page.js';
import { watchCredentials } from './in-browser/watch-credentials.js';

const credentials = credentialKinds.map((kind) => ({ kind, ...credentialHeaders[kind] }));

const template = (headers: readonly { name: string; beginning: string }[]) =>
  JSON.stringify(Object.fromEntries(headers.map(({ name, beginning }) => [name, beginning])), null, 2);

const drawing = '<circle cx="8" cy="15" r="5"/><path d="m12 11 8-8m-4 4 4 4"/>';

const options: PageOptions = {
  endpoint: '/graphql',
  credentials,
  tabs: examples.map(({ credential, query, variables }) => ({
    query: `${query}\n`,
    variables,
    headers: template([credentialHeaders[credential]]),
  })),
  defaultHeaders: template(credentials),
  logo: `<svg width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">${drawing}</svg>`,
};

// Browsers run the texts of these functions, which therefore reach for nothing outside themselves.
const script = `(${startPage.toString()})(window, {
  explain: ${explain.toString()},
  keepTabs: ${keepTabs.toString()},
  watchCredentials: ${watchCredentials.toString()},
});
`;

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Keyfront</title>
    <link rel="icon" href="/graphiql/icon.svg" />
    <link rel="stylesheet" href="/graphiql/graphiql.css" />
    <link rel="stylesheet" href="/graphiql/page.css" />
  </head>
  <body>
    <noscript>GraphiQL needs JavaScript.</noscript>
    <div id="hint" role="status" hidden>
      <span id="hint-words"></span>
      <button id="hint-close" type="button" aria-label="Close">×</button>
    </div>
    <div id="root"><p id="loading">GraphiQL is loading …</p></div>
    <script id="options" type="application/json">${JSON.stringify(options).replaceAll('<', '\\u003c')}</script>
    <script src="/graphiql/page.js"></script>
    <script src="/graphiql/graphiql.js"></script>
  </body>
</html>
`;

// GraphiQL moves a tab that has the focus to where it stood while the page was loading, away from under the mouse that
// pressed it, so that the press was lost.
const css = `
html, body, #root { height: 100%; margin: 0; }
.graphiql-container .graphiql-session-header { height: auto; min-height: var(--session-header-height); }
.graphiql-container .graphiql-tabs { flex-wrap: wrap; row-gap: 2px; }
.graphiql-container .graphiql-tab { transform: none !important; }
#loading { font: 16px system-ui, sans-serif; margin: 0; padding: 2rem; }
#hint { position: fixed; right: 1.5rem; bottom: 1.5rem; z-index: 20; width: min(34rem, 80vw); box-sizing: border-box;
  display: flex; gap: 1rem; align-items: start; padding: 1rem 1.25rem; font: 15px/1.5 Roboto, system-ui, sans-serif;
  background: #fff4d6; color: #40310a; border: 1px solid #e3c877; border-radius: 12px; box-shadow: 0 4px 16px #0003; }
#hint[hidden] { display: none; }
#hint-words { flex: 1; }
#hint-close { border: 0; background: none; color: inherit; font-size: 1.25rem; line-height: 1; cursor: pointer; }
@media (prefers-color-scheme: dark) {
  body:not(.graphiql-light) #hint { background: #3a2f12; color: #f6e3ab; border-color: #6b571f; }
}
body.graphiql-dark #hint { background: #3a2f12; color: #f6e3ab; border-color: #6b571f; }
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#d60590" stroke-width="2.5">${drawing}</svg>`;

const scriptType = 'text/javascript; charset=utf-8';
const cssType = 'text/css; charset=utf-8';

/**
 * The page and all that it loads, by path. GraphiQL itself comes from its package, as files of their own rather than in the
 * page: its policy can then forbid every script that stands in a page, which is what an attacker could put there.
 */
export async function createPage(): Promise<ReadonlyMap<string, Asset>> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  return new Map([
    ['/', createAsset('text/html; charset=utf-8', html)],
    ['/graphiql/page.css', createAsset(cssType, css)],
    ['/graphiql/page.js', createAsset(scriptType, script)],
    ['/graphiql/icon.svg', createAsset('image/svg+xml', icon)],
    ['/graphiql/graphiql.css', createAsset(cssType, graphiql.css)],
    ['/graphiql/graphiql.js', createAsset(scriptType, graphiql.js)],
    ['/graphiql/graphql.worker.js', createAsset(scriptType, graphiql.graphqlWorker)],
    ['/graphiql/json.worker.js', createAsset(scriptType, graphiql.jsonWorker)],
    ['/graphiql/editorWorkerService.worker.js', createAsset(scriptType, graphiql.editorWorkerService)],
  ]);
}

// Writes the files of the pages that browsers load, GraphiQL, /docs and /console: `node src/build/pages.mjs build/http/browser`.
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as library from '@graphql-yoga/render-graphiql/graphiql';
import { build } from 'esbuild';

const source = join(import.meta.dirname, '..');
const graphiql = join(source, 'graphql/graphiql/browser');
const docs = join(source, 'rest/docs-page/browser');
const signOn = join(source, 'http/sign-on/browser');
const consolePage = join(source, 'console');
const clientDocuments = join(source, 'client/generated/persisted-documents.json');
const packages = join(source, '../node_modules');
const swaggerUI = join(packages, 'swagger-ui-dist');

/** Bundles the pages and copies the libraries that they load. Returns the files of packages that it has used. */
export async function bundlePages(/** @type {string} */ into) {
  await rm(into, { recursive: true, force: true });
  const options = /** @type {const} */ ({
    outdir: into,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    metafile: true,
    logLevel: 'warning',
  });
  const pages = await build({
    entryPoints: [
      { in: join(graphiql, 'page.ts'), out: 'graphiql/page' },
      { in: join(graphiql, 'page.css'), out: 'graphiql/page' },
      { in: join(docs, 'page.ts'), out: 'docs/page' },
      { in: join(docs, 'page.css'), out: 'docs/page' },
    ],
    ...options,
  });
  const signOnBuild = await build({
    entryPoints: [
      { in: join(signOn, 'sign-on.ts'), out: 'graphiql/sign-on' },
      { in: join(signOn, 'page.ts'), out: 'sign-on/page' },
    ],
    ...options,
    // GraphiQL loads it only if sign-on is configured.
    format: 'esm',
  });
  const consoleBuild = await build({
    entryPoints: [
      { in: join(consolePage, 'main.tsx'), out: 'console/page' },
      { in: join(consolePage, 'page.css'), out: 'console/page' },
    ],
    ...options,
    // Each page of the console loads its own script when it is opened.
    format: 'esm',
    splitting: true,
    chunkNames: 'console/[name]-[hash]',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const consoleScripts = Object.keys(consoleBuild.metafile.outputs).filter((path) => path.endsWith('.js'));
  await writeFile(
    join(into, 'console/scripts.json'),
    JSON.stringify(consoleScripts.map((path) => basename(path)).sort()),
  );
  const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];
  const copies = [
    ...['page.html', 'icon.svg'].map((name) => [join(graphiql, name), join(into, 'graphiql', name)]),
    [join(docs, 'page.html'), join(into, 'docs/page.html')],
    [join(consolePage, 'page.html'), join(into, 'console/page.html')],
    [join(graphiql, 'icon.svg'), join(into, 'console/icon.svg')],
    [join(signOn, 'page.html'), join(into, 'sign-on/page.html')],
    [clientDocuments, join(into, 'console/documents.json')],
    ...swaggerFiles.map((name) => [join(swaggerUI, name), join(into, 'docs', name)]),
  ];
  for (const [from = '', to = ''] of copies) await copyFile(from, to);
  const graphiqlFiles = {
    'graphiql.css': library.css,
    'graphiql.js': library.js,
    'graphql.worker.js': library.graphqlWorker,
    'json.worker.js': library.jsonWorker,
    'editorWorkerService.worker.js': library.editorWorkerService,
  };
  for (const [name, text] of Object.entries(graphiqlFiles)) await writeFile(join(into, 'graphiql', name), text);
  const copied = [join(packages, '@graphql-yoga/render-graphiql/package.json'), join(swaggerUI, 'package.json')];
  return [
    ...[pages, signOnBuild].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
    ...Object.keys(consoleBuild.metafile.inputs),
    ...copied,
  ];
}

const [, script, into] = process.argv;
if (into !== undefined && script !== undefined && resolve(script) === import.meta.filename) await bundlePages(into);

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { importCycles } from '../support/import-cycles.js';
import { nodesOf, sourceFiles, type SourceFile } from '../support/source.js';

/** The parts of `src/`, folders or files, from the top. A part imports from itself and from lower levels only. */
const levels = [
  ['main', 'bin'],
  ['cli'],
  ['app'],
  // Implements the ports of keys, credentials and webhooks; only `app` and `cli` import it.
  ['storage'],
  ['graphql', 'rest', 'config'],
  ['http'],
  ['webhooks', 'credentials'],
  ['telemetry', 'wire'],
  ['keys', 'crypto'],
  ['lib'],
];
/** Published on its own: imports nothing of the service. */
const client = 'client';
/** Runs in browsers, on the client alone. */
const browserConsole = 'console';

/**
 * The files that may call JSON.parse, which misreads escaped member names on Node 24 and 26
 * (https://github.com/nodejs/node/issues/63785), and why it is safe there. All others call parseJSON.
 */
const mayParse: Readonly<Record<string, string>> = {
  'lib/json.ts': 'reads only texts without escaped names',
  'client/json.ts': 'reads only texts without escaped names',
  'crypto/key-hash.ts': 'reads only texts without escaped names',
  'keys/definition/object-shapes.ts': 'reads our own field names',
  'rest/openapi/examples.ts': 'reads our own examples',
  'rest/docs-page/browser/exact-json.ts': 'runs in a browser',
  'console/preferences.ts': 'runs in a browser',
  'console/sign-on.tsx': 'runs in a browser',
  'graphql/graphiql/browser/sign-on-button.ts': 'runs in a browser',
  'http/console-assets.ts': 'reads a list that our build writes',
};

const files = sourceFiles();
const paths = new Set(files.map(({ path }) => path));

function placeOf(path: string): string {
  return path.split('/', 1)[0]?.replace(/\.tsx?$/, '') ?? '';
}

/** The files of a part of `src/`. */
const filesOf = (part: string) => files.filter(({ path }) => placeOf(path) === part);

/** The paths from `src/` on of what a file imports of ours. */
function ourImports({ path, imports }: SourceFile): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name)));
}

/** The file of an imported module, whose name ends in `.js` as the compiler requires. */
function sourceName(target: string): string {
  const path = target.replace(/\.js$/, '.ts');
  return target.startsWith('console/') && !paths.has(path) ? `${path}x` : path;
}

function packagesOf({ imports }: SourceFile): string[] {
  return imports.filter((name) => !name.startsWith('.'));
}

describe('the imports of src', () => {
  it('are found by this test', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(files.find(({ path }) => path === 'app.ts')?.imports).toContain('./rest/router.js');
  });

  it.each(levels.flat())('of %s are of lower levels only', (place) => {
    const level = levels.findIndex((parts) => parts.includes(place));
    // The command line follows a service with the published client.
    const published = place === 'cli' ? [client] : [];
    const allowed = [
      place,
      ...published,
      ...levels.slice(level + 1).flat(),
      ...(level === 0 ? levels.slice(0, 1).flat() : []),
    ];
    const upward = filesOf(place)
      .flatMap((file) => ourImports(file).map((target) => ({ from: file.path, target })))
      .filter(({ target }) => !allowed.includes(placeOf(sourceName(target))));
    expect(upward).toEqual([]);
  });

  it('of every part have a level', () => {
    const parts = new Set(files.map(({ path }) => placeOf(path)));
    expect([...parts].toSorted()).toEqual([...levels.flat(), client, browserConsole].toSorted());
  });

  it('of the client are of no part of the service', () => {
    const targets = filesOf(client).flatMap(ourImports);
    expect(targets.filter((target) => placeOf(target) !== client)).toEqual([]);
  });

  it('of the console are of the client and of preact only', () => {
    const ofConsole = filesOf(browserConsole);
    // Loaded when it is needed, and shared with GraphiQL.
    const signOn = 'http/sign-on/browser/sign-on.js';
    const parts = ofConsole
      .flatMap(ourImports)
      .filter((target) => target !== signOn)
      .map(placeOf);
    expect(new Set(parts)).toEqual(new Set([client, browserConsole]));
    expect(new Set(ofConsole.flatMap(packagesOf))).toEqual(new Set(['preact', 'preact/hooks']));
  });

  it('contain no cycle, including imports of types', () => {
    const cycles = importCycles(new Map(files.map((file) => [file.path, ourImports(file).map(sourceName)])));
    expect(cycles).toEqual([]);
  });

  const importedLib = filesOf('keys')
    .flatMap(ourImports)
    .filter((target) => !target.startsWith('keys/'));

  it('of keys are of zod and of no other package, nor of Node', () => {
    const packages = filesOf('keys').flatMap(packagesOf);
    expect(new Set(packages)).toEqual(new Set(['lru-cache', 're2js', 'zod', 'zod/v4/core']));
  });

  it('of the lib files of keys, and of the files that these import, are of leven and of no other package, nor of Node', () => {
    const needed = new Set(importedLib.map(sourceName));
    for (const path of needed) {
      const file = files.find((one) => one.path === path);
      for (const target of file ? ourImports(file) : []) needed.add(sourceName(target));
    }
    const packages = files.filter(({ path }) => needed.has(path)).flatMap(packagesOf);
    expect(new Set(packages)).toEqual(new Set(['leven']));
  });
});

describe('tests of unit/', () => {
  it('start no service, whose pages only the other projects build', () => {
    const starters = /support\/(?:app|cli|engines|process|server)\.js'/;
    const unit = globSync('test/unit/**/*.ts', { cwd: join(import.meta.dirname, '../..') });
    expect(unit.length).toBeGreaterThan(20);
    const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
    expect(unit.filter((path) => starters.test(read(path)))).toStrictEqual([]);
  });
});

/** Whether an identifier is the name of a member, such as in `ipaddr.process`. */
const isMember = (node: ts.Identifier) => ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;

describe('the process', () => {
  it('is accessed by main.ts and the launcher only', () => {
    const touching = files.filter(
      (file) =>
        packagesOf(file).some((name) => /^(node:)?process$/.test(name)) ||
        nodesOf(file.tree).some((node) => ts.isIdentifier(node) && node.text === 'process' && !isMember(node)),
    );
    expect(touching.map(({ path }) => path).toSorted()).toEqual(['bin/keyfront.ts', 'bin/launch.ts', 'main.ts']);
  });
});

describe('pages for browsers', () => {
  const isBrowserFile = (path: string) => path.includes('/browser/');

  it('share no module with the service', () => {
    const runsInBrowsers = (path: string) => isBrowserFile(path) || path.startsWith('console/');
    const crossing = files.flatMap((file) =>
      ourImports(file)
        .filter(
          (target) =>
            (isBrowserFile(target) && !runsInBrowsers(file.path)) ||
            (isBrowserFile(file.path) && !isBrowserFile(target)),
        )
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(crossing).toEqual([]);
  });
});

describe('JSON.parse', () => {
  it('is called only in files that no escaped member name can reach', () => {
    const calls = files.filter(({ tree }) => tree.text.includes('JSON.parse(')).map(({ path }) => path);
    expect(calls.sort()).toEqual(Object.keys(mayParse).sort());
  });
});

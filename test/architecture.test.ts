import { dirname, join, normalize } from 'node:path/posix';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { KeyDefinition } from '../src/keys/definition/schema.js';
import { wireName } from '../src/wire/field-names.js';
import { importCycles } from './support/import-cycles.js';
import { nodesOf, sourceFiles, type SourceFile } from './support/source.js';

const groundFloor = ['lib', 'accept', 'entity-tag', 'query-parameters', 'credential', 'watch'];
const rooms = ['graphql', 'rest', 'http', 'auth', 'storage', 'secrets', 'telemetry', 'webhooks'];

/** What each place under `src/`, a folder or a file at the top, may import beside itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(groundFloor.map((place) => [place, groundFloor])),
  lib: [],
  keys: ['lib'],
  ...Object.fromEntries(rooms.map((room) => [room, [...groundFloor, 'keys']])),
  // Storage implements the port of webhooks.
  storage: [...groundFloor, 'keys', 'webhooks'],
  // Both APIs stand on HTTP.
  graphql: [...groundFloor, 'keys', 'http'],
  rest: [...groundFloor, 'keys', 'http'],
  'change-log': [...groundFloor, 'keys'],
  config: [...groundFloor, 'secrets', 'auth', 'webhooks'],
  installation: [...groundFloor, 'keys', 'config', 'secrets', 'storage', 'webhooks'],
  'integrity-check': [...groundFloor, 'config', 'installation'],
  chores: [...groundFloor, 'installation'],
  app: [...groundFloor, 'keys', 'change-log', 'chores', 'config', 'installation', 'integrity-check', ...rooms],
  cli: [...groundFloor, 'keys', 'change-log', 'config', 'installation', 'integrity-check', 'app', ...rooms],
  main: ['cli', 'bin'],
  bin: ['main', 'config'],
};

/**
 * The files that may call JSON.parse, which misreads escaped member names on Node 24 and 26
 * (https://github.com/nodejs/node/issues/63785), and why it is safe there. All others call parseJSON.
 */
const mayParse: Readonly<Record<string, string>> = {
  'lib/json.ts': 'reads only texts without escaped names',
  'client/json.ts': 'reads only texts without escaped names',
  'secrets/key-hash.ts': 'reads only texts without escaped names',
  'keys/records.ts': 'reads our own field names',
  'rest/openapi/examples.ts': 'reads our own examples',
  'rest/docs-page/browser/exact-json.ts': 'runs in a browser',
  'graphql/graphiql/browser/keep-tabs.ts': 'runs in a browser',
};

const files = sourceFiles();

function placeOf(path: string): string {
  return path.split('/', 1)[0]?.replace(/\.ts$/, '') ?? '';
}

/** The paths from `src/` on of what a file imports of ours. */
function ourImports({ path, imports }: SourceFile): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name)));
}

const sourceName = (target: string) => target.replace(/\.js$/, '.ts');

function packagesOf({ imports }: SourceFile): string[] {
  return imports.filter((name) => !name.startsWith('.'));
}

describe('imports', () => {
  it('are found at all', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(files.find(({ path }) => path === 'app.ts')?.imports).toContain('./rest/router.js');
  });

  it.each([...new Set(files.map(({ path }) => placeOf(path)))])('of %s lead only to what stands below it', (place) => {
    const allowed = [place, ...(mayImport[place] ?? [])];
    const strays = files
      .filter(({ path }) => placeOf(path) === place)
      .flatMap((file) => ourImports(file).map((target) => ({ from: file.path, target })))
      .filter(({ target }) => !allowed.includes(placeOf(sourceName(target))));
    expect(strays).toEqual([]);
  });

  it('form no cycle, those of types included', () => {
    const cycles = importCycles(new Map(files.map((file) => [file.path, ourImports(file).map(sourceName)])));
    expect(cycles).toEqual([]);
  });

  it('that form cycles are found, direct or through other files', () => {
    const imports = {
      'a.ts': ['b.ts'],
      'b.ts': ['c.ts', 'd.ts'],
      'c.ts': ['a.ts', 'node.ts'],
      'd.ts': [],
      'e.ts': ['e.ts'],
    };
    expect(importCycles(new Map(Object.entries(imports)))).toEqual([['a.ts', 'b.ts', 'c.ts'], ['e.ts']]);
  });

  it('of keys lead to zod and to no other package, nor to Node', () => {
    const packages = files.filter(({ path }) => placeOf(path) === 'keys').flatMap(packagesOf);
    expect(new Set(packages)).toEqual(new Set(['zod']));
  });

  it('of keys lead to three files of lib, which need neither Node nor a library of the service', () => {
    const targets = files.filter(({ path }) => placeOf(path) === 'keys').flatMap(ourImports);
    expect([...new Set(targets.filter((target) => !target.startsWith('keys/')))].toSorted()).toEqual([
      'lib/errors.js',
      'lib/nearest.js',
      'lib/value-count.js',
    ]);
  });
});

/** Whether an identifier is the name of a member, such as in `ipaddr.process`. */
const isMember = (node: ts.Identifier) => ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;

describe('the process', () => {
  it('is touched by main.ts and the launcher only', () => {
    const touching = files.filter(
      (file) =>
        packagesOf(file).some((name) => /^(node:)?process$/.test(name)) ||
        nodesOf(file.tree).some((node) => ts.isIdentifier(node) && node.text === 'process' && !isMember(node)),
    );
    expect(touching.map(({ path }) => path).toSorted()).toEqual(['bin/keyfront.ts', 'bin/launch.ts', 'main.ts']);
  });
});

describe('the file system', () => {
  it('is not reached upwards from src by any literal path', () => {
    const upwards = files.flatMap(({ path, imports, tree }) =>
      nodesOf(tree)
        .filter((node) => ts.isStringLiteralLike(node) && node.text.includes('../') && !imports.includes(node.text))
        .map((node) => `${path}: ${node.getText()}`),
    );
    expect(upwards).toEqual([]);
  });
});

describe('pages for browsers', () => {
  const isBrowserFile = (path: string) => path.includes('/browser/');

  it('are files of their own and not texts in a module, nor made from functions', () => {
    const page = /<!doctype html|<script\b|\bdocument\.querySelector|\{\s*(?:margin|padding|display):/i;
    const found = files.flatMap(({ path, tree }) =>
      nodesOf(tree)
        .filter((node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
        .filter((node) => page.test(node.getText()))
        .map((node) => `${path}: ${node.getText().slice(0, 60)}`),
    );
    expect(found).toEqual([]);
  });

  it('share no module with the service', () => {
    const crossing = files.flatMap((file) =>
      ourImports(file)
        .filter((target) => isBrowserFile(target) !== isBrowserFile(file.path))
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(crossing).toEqual([]);
  });
});

describe('JSON.parse', () => {
  it('is called only where no escaped member name can reach it', () => {
    const calls = files.filter(({ tree }) => tree.text.includes('JSON.parse(')).map(({ path }) => path);
    expect(calls.sort()).toEqual(Object.keys(mayParse).sort());
  });
});

describe('a field of the key definition', () => {
  const fields = Object.keys(KeyDefinition.shape);

  it.each(fields)('%s is declared once', (field) => {
    const table = files.filter(({ path }) => path === 'keys/definition.ts');
    const declarations = table
      .flatMap(({ tree }) => nodesOf(tree))
      .filter((node) => ts.isPropertyAssignment(node) && node.name.getText() === field)
      // What is no call mentions a declaration that stands elsewhere: `rate: limits.rate`.
      .filter((node) => ts.isPropertyAssignment(node) && ts.isCallExpression(node.initializer));
    expect(declarations).toHaveLength(1);
  });

  it('is named by a face only where it differs in kind', () => {
    const named = files
      .filter(({ path }) => ['graphql', 'rest'].includes(placeOf(path)))
      .flatMap(({ tree }) => nodesOf(tree).map(nameIn));
    const found = fields.filter((field) => named.includes(field) || named.includes(wireName(field)));
    expect(found).toEqual([
      // The list of the domain is an object of labels in REST.
      'accessRights',
      // A stored key shows its dates beside its version.
      'dateCreated',
      // Both operations take or answer the identifier of the key itself.
      'keyID',
      'lastUpdated',
      // A caller may be bound to an organisation, and keys are listed by it.
      'orgID',
      // The live quota is answered with the maximum that it is held against.
      'quotaMax',
      // OpenAPI groups operations by `tags`.
      'tags',
    ]);
  });
});

/** The text of a literal, or the name that a property is given. */
function nameIn(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  const isProperty =
    ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isPropertySignature(node);
  return isProperty ? node.name.getText() : undefined;
}

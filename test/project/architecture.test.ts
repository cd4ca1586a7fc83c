import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { freeFormFields, KeyDefinition } from '../../src/keys/definition/schema.js';
import { wireName } from '../../src/wire/field-names.js';
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
    const parts = ofConsole.flatMap(ourImports).map(placeOf);
    expect(new Set(parts)).toEqual(new Set([client, browserConsole]));
    expect(new Set(ofConsole.flatMap(packagesOf))).toEqual(new Set(['preact', 'preact/hooks']));
  });

  it('contain no cycle, including imports of types', () => {
    const cycles = importCycles(new Map(files.map((file) => [file.path, ourImports(file).map(sourceName)])));
    expect(cycles).toEqual([]);
  });

  it('report direct and indirect cycles', () => {
    const imports = {
      'a.ts': ['b.ts'],
      'b.ts': ['c.ts', 'd.ts'],
      'c.ts': ['a.ts', 'node.ts'],
      'd.ts': [],
      'e.ts': ['e.ts'],
    };
    expect(importCycles(new Map(Object.entries(imports)))).toEqual([['a.ts', 'b.ts', 'c.ts'], ['e.ts']]);
  });

  const importedLib = filesOf('keys')
    .flatMap(ourImports)
    .filter((target) => !target.startsWith('keys/'));

  it('of keys are of zod and of no other package, nor of Node', () => {
    const packages = filesOf('keys').flatMap(packagesOf);
    expect(new Set(packages)).toEqual(new Set(['zod', 'zod/v4/core']));
  });

  it('of keys are of eight files of lib', () => {
    expect([...new Set(importedLib)].toSorted()).toEqual([
      'lib/attempt-windows.js',
      'lib/errors.js',
      'lib/int64.js',
      'lib/json.js',
      'lib/nearest.js',
      'lib/text.js',
      'lib/timeout.js',
      'lib/value-count.js',
    ]);
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

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

describe('the layout of src', () => {
  const folders = groupBy(files, ({ path }) => dirname(path));

  it('has main.ts, app.ts and folders at the root of src', () => {
    expect(
      folders
        .get('.')
        ?.map(({ path }) => path)
        .toSorted(),
    ).toEqual(['app.ts', 'main.ts']);
  });

  it('has one declaration of each type name', () => {
    const declared = files
      .filter(({ path }) => !path.includes('generated'))
      .flatMap(({ path, tree }) =>
        tree.statements
          .filter(
            (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node),
          )
          .map((node) => ({ path, name: node.name?.text ?? '' })),
      );
    const repeated = [...groupBy(declared, ({ name }) => name)].filter(([, { length }]) => length > 1);
    expect(Object.fromEntries(repeated.map(([name, found]) => [name, found.map(({ path }) => path)]))).toEqual({});
  });
});

describe('the console', () => {
  it('has at most 2,500 lines, besides its texts and what is generated', () => {
    const own = filesOf(browserConsole).filter(({ path }) => !/generated|strings/.test(path));
    const lines = own.reduce((sum, { tree }) => sum + tree.text.trimEnd().split('\n').length, 0);
    expect(lines).toBeGreaterThan(500);
    expect(lines).toBeLessThanOrEqual(2500);
  });
});

describe('the exports of src', () => {
  /** Storage follows with its next rewrite. */
  const isChecked = (path: string) => !/^storage\/|generated/.test(path);
  const isExport = (node: ts.Statement) =>
    ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  /** A command, a route or a GraphQL type, which describe themselves. */
  const hasDescription = (node: ts.Statement) =>
    ts.isVariableStatement(node) && /\b(description|summary)\b/.test(node.getText());

  it('have TSDoc or a description', () => {
    const found = files
      .filter(({ path }) => isChecked(path))
      .flatMap(({ path, tree }) =>
        tree.statements
          .filter((node) => isExport(node) && !hasDescription(node) && ts.getJSDocCommentsAndTags(node).length === 0)
          .map((node) => `${path}: ${node.getText().split('\n', 1)[0]}`),
      );
    expect(found).toEqual([]);
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

describe('the file system', () => {
  it('is not addressed from src by a literal path upwards', () => {
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

  it('are separate files and not texts in a module', () => {
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
  it('is called only in files that no escaped member name can reach', () => {
    const calls = files.filter(({ tree }) => tree.text.includes('JSON.parse(')).map(({ path }) => path);
    expect(calls.sort()).toEqual(Object.keys(mayParse).sort());
  });
});

describe('a field of the key definition', () => {
  const fields = Object.keys(KeyDefinition.shape);

  it.each(fields)('%s is declared once', (field) => {
    const table = files.filter(({ path }) => path === 'keys/definition/schema.ts');
    const declarations = table
      .flatMap(({ tree }) => nodesOf(tree))
      .filter((node) => ts.isPropertyAssignment(node) && node.name.getText() === field)
      // Other initializers refer to a declaration elsewhere: `rate: limits.rate`.
      .filter((node) => ts.isPropertyAssignment(node) && ts.isCallExpression(node.initializer));
    expect(declarations).toHaveLength(1);
  });

  const isByHand = (path: string) => !path.includes('/generated/');

  it('is named outside of the definition by no list of free-form fields', () => {
    const named = files
      .filter(({ path }) => isByHand(path) && !path.startsWith('keys/definition/'))
      .flatMap(({ path, tree }) => nodesOf(tree).map((node) => ({ path, name: nameIn(node)?.replace(/^.*\./, '') })));
    expect(freeFormFields.length).toBeGreaterThan(0);
    expect(named.filter(({ name }) => freeFormFields.some((field) => field === name))).toEqual([]);
  });

  it('is named by an API only if it differs there', () => {
    const named = files
      .filter(({ path }) => ['graphql', 'rest', 'wire', 'client'].includes(placeOf(path)) && isByHand(path))
      .flatMap(({ tree }) => nodesOf(tree).map(nameIn));
    const found = fields.filter((field) => named.includes(field) || named.includes(wireName(field)));
    expect(found).toEqual([
      // The list of the domain is an object of labels in REST.
      'accessRights',
      // A stored key shows its dates beside its version.
      'dateCreated',
      // Both operations take or return the identifier of the key itself.
      'keyID',
      // A caller may be bound to an organization, and keys are listed by it.
      'orgID',
      // The live quota is returned with its maximum.
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

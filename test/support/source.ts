import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** A file below `src/`, for the tests of the architecture. */
export interface SourceFile {
  /** Path relative to `src/`, such as `keys/ports.ts`. */
  readonly path: string;
  /** The module specifiers of its imports and re-exports. */
  readonly imports: readonly string[];
  readonly tree: ts.SourceFile;
}

/** The folder of the sources. */
export const sourceFolder = join(import.meta.dirname, '../../src');

let files: SourceFile[] | undefined;

/** Returns every file below `src/`, in unspecified order. */
export function sourceFiles(): SourceFile[] {
  return (files ??= readSourceFiles());
}

function readSourceFiles(): SourceFile[] {
  const names = readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  return names.map((name) => {
    const text = readFileSync(join(sourceFolder, name), 'utf8');
    let tree: ts.SourceFile | undefined;
    return {
      path: relative(sourceFolder, join(sourceFolder, name)),
      imports: ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
      // Parsed on first use: most tests are about a few files.
      get tree() {
        return (tree ??= ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
      },
    };
  });
}

/** Returns every node of a syntax tree, in preorder. */
export function nodesOf(root: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

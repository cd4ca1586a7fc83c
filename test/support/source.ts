import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** A file under `src/`, as the rules of architecture look at it. */
export interface SourceFile {
  /** From `src/` on, such as `keys/table.ts`. */
  readonly path: string;
  /** What it imports or passes on, as it is written there. */
  readonly imports: readonly string[];
  readonly tree: ts.SourceFile;
}

/** The folder that the service is built from. */
export const sourceFolder = join(import.meta.dirname, '../../src');

/** Every file under `src/`, in no promised order. */
export function sourceFiles(): SourceFile[] {
  const names = readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  return names.map((name) => {
    const text = readFileSync(join(sourceFolder, name), 'utf8');
    return {
      path: relative(sourceFolder, join(sourceFolder, name)),
      imports: ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
      tree: ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true),
    };
  });
}

/** Every node of a syntax tree, outermost first. */
export function nodesOf(node: ts.Node): ts.Node[] {
  return [node, ...node.getChildren().flatMap(nodesOf)];
}

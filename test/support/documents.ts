import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The documents for users and contributors, wherever they are: at the root, in `docs` and in `schema`. */
export const documents: readonly string[] = globSync(['*.md', 'docs/**/*.md', 'schema/*.md'], { cwd: root })
  .filter((name) => name !== 'CHANGELOG.md')
  .toSorted();

/** Returns the text of a document. */
export function textOf(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/**
 * Returns what stands between `<!-- name -->` and `<!-- /name -->` in the one document that has them.
 * @throws {Error} if no document has them, or more than one.
 */
export function sectionOf(name: string): string {
  const section = new RegExp(`<!-- ${name} -->\\n(.*?)<!-- /${name} -->`, 's');
  const [found, ...more] = documents.flatMap((document) => section.exec(textOf(document))?.[1] ?? []);
  if (found === undefined || more.length > 0) throw new Error(`Not one document contains <!-- ${name} -->.`);
  return found;
}

/** Returns the blocks of all documents in a language that contain a text. */
export function blocksWith(language: string, part: string): string[] {
  return documents
    .flatMap((document) => blocksOf(textOf(document)))
    .filter((block) => block.language === language && block.text.includes(part))
    .map(({ text }) => text);
}

/** A block of code in a document. */
export interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The first line of its text, for names of tests. */
  readonly title: string;
  /** The output or response that the document states; undefined if it states none. */
  readonly response: string | undefined;
  readonly exitCode: number;
  /** The reason in the document for not running the block. */
  readonly reason: string | undefined;
  readonly isRun: boolean;
  /** Whether the block is a response without a request, or in a language that no test verifies. */
  readonly isStray: boolean;
}

const runnable = ['sh', 'graphql'];
const responding = ['json', 'text'];
/** Configuration files of other programs. */
const shown = ['yaml', 'ini', 'dockerfile'];

/**
 * Returns the blocks of a Markdown document. A comment above a block marks an exception: `<!-- not run: reason -->` or
 * `<!-- exits with 1 -->`. A block of JSON or plain text directly below another block is its response.
 */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const found: { line: number; end: number; language: string; text: string; comment: string }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', language] = /^( *)```(\w+)$/.exec(lines[index] ?? '') ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end < 0) throw new Error(`The block at line ${index + 1} does not end.`);
    const text = lines
      .slice(index + 1, end)
      .map((line) => line.slice(indent.length))
      .join('\n');
    found.push({ line: index + 1, end: end + 1, language, text, comment: lines[index - 1]?.trim() ?? '' });
    index = end;
  }
  return found.flatMap((block, index) => {
    const { line, language, text, comment } = block;
    const before = found[index - 1];
    const next = found[index + 1];
    const isBelow = before?.end === line - 1 && runnable.includes(before.language);
    if (responding.includes(language) && isBelow) return [];
    const reason = /^<!-- not run: (.+) -->$/.exec(comment)?.[1];
    const hasResponse = next !== undefined && next.line === block.end + 1 && responding.includes(next.language);
    const isRun = runnable.includes(language) && reason === undefined;
    return [
      {
        line,
        language,
        text,
        title: text.split('\n', 1)[0] ?? '',
        response: hasResponse ? next.text : undefined,
        exitCode: Number(/^<!-- exits with (\d+) -->$/.exec(comment)?.[1] ?? 0),
        reason,
        isRun,
        isStray: !isRun && reason === undefined && !shown.includes(language),
      },
    ];
  });
}

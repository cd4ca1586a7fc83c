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

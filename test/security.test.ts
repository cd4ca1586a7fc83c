import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** How many lines the checklist has under each letter. */
const lengths = { T: 10, A: 12, G: 23, R: 14, D: 16, S: 12, C: 7, P: 5, O: 8 };
const ids = Object.entries(lengths).flatMap(([letter, length]) =>
  Array.from({ length }, (_, index) => `${letter}-${String(index + 1).padStart(2, '0')}`),
);

const [, table = ''] = /<!-- checklist -->\n(.*?)<!-- \/checklist -->/s.exec(read('SECURITY.md')) ?? [];
const rows = table
  .trim()
  .split('\n')
  .slice(2)
  .map((row) => {
    const [, id = '', cell = ''] = /^\| (\S+) \| (.+) \|$/.exec(row) ?? [];
    const tests = [...cell.matchAll(/`([^`]+)` \((test\/[\w./-]+)\)/g)].map(([, name = '', file = '']) => ({
      name,
      file,
    }));
    return { id, cell, tests };
  });

describe('SECURITY.md', () => {
  it('has each of the 107 lines of the checklist once, in order', () => {
    expect(ids).toHaveLength(107);
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  it.each(rows)('names for $id tests that exist, or a reason in a sentence', ({ cell, tests }) => {
    for (const { name, file } of tests) expect([file, read(file).includes(name)]).toEqual([file, true]);
    if (tests.length === 0) expect(cell).toMatch(/^[A-Z].{20,}\.$/);
    // A name that is quoted without its file would be held to nothing.
    expect(cell.replace(/`[^`]+` \(test\/[\w./-]+\)/g, '').match(/`[^`]* [^`]*`(?! (and|belongs|is|are))/)).toBeNull();
  });
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sectionOf } from '../support/documents.js';

const root = join(import.meta.dirname, '../..');

/** Each line of the hardening checklist, and the reason if no test holds it. */
const lines = new Map(
  [...sectionOf('checklist').matchAll(/^\| ([A-Z]-\d\d) \|.*\|(.*)\|$/gm)].map(([, id = '', reason = '']) => [
    id,
    reason.trim(),
  ]),
);

/** The identifiers that titles of tests begin with. */
const titled = new Set(
  globSync('test/**/*.{test,contract}.ts', { cwd: root, exclude: (name) => name === 'node_modules' })
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(/['"`]((?:[A-Z]-\d\d )+)\S/g)])
    .flatMap(([, ids = '']) => ids.trim().split(' ')),
);

describe('the hardening checklist', () => {
  it('has for each line a test with its identifier in the title, or the reason why there is none', () => {
    expect(lines.size).toBeGreaterThan(100);
    expect([...lines].filter(([id, reason]) => !titled.has(id) && reason === '').map(([id]) => id)).toEqual([]);
  });

  it('has a line for each identifier in a title', () => {
    expect([...titled].filter((id) => !lines.has(id))).toEqual([]);
  });
});

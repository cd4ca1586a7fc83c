import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyMutant, isOfQuickTests, mutantNames, readMutant } from '../mutants/mutant.mjs';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

describe('mutants', () => {
  it.each(mutantNames())('%s changes its source files, in exactly one place per edit', (name) => {
    const mutant = readMutant(name);
    expect(mutant.description).not.toBe('');
    expect(mutant.edits).not.toEqual([]);
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      const source = read(file);
      expect(applyMutant(mutant, file, source)).not.toBe(source);
    }
  });

  it.each(mutantNames())('%s is run by the tests that it names', (name) => {
    const { detectedBy } = readMutant(name);
    expect(detectedBy.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    // `npm run test:mutants` runs the others.
    const suites = detectedBy.filter((file) => !isOfQuickTests(file));
    expect(suites.filter((file) => !read(file).includes(name))).toEqual([]);
  });

  it.each([
    ['nothing', 'const b = 2;\n', 'never'],
    ['two places', 'const a = 1;\nconst a = 1;\n', 'several times'],
    ['a part of a line', 'const a = 1; // one\n', 'never'],
  ])('rejects a mutant that matches %s', (_, source, count) => {
    const edits = [{ file: 'a.ts', lines: 'const a = 1;\n', replacement: 'const a = 2;\n' }];
    expect(() => applyMutant({ name: 'example', edits }, 'a.ts', source)).toThrow(`matches ${count}`);
    expect(applyMutant({ name: 'example', edits }, 'b.ts', source)).toBe(source);
  });
});

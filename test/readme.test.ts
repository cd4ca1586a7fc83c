import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settings } from '../src/config.js';
import { issueCodes, warningCodes } from '../src/keys/issue-codes.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function rowsOf(table: string): string[] {
  const [, inside = ''] = new RegExp(`<!-- ${table} -->\n(.*?)<!-- /${table} -->`, 's').exec(readme) ?? [];
  return inside.trim().split('\n').slice(2);
}

describe('the README', () => {
  it.each([
    ['issue-codes', issueCodes],
    ['warning-codes', warningCodes],
    ['settings', settings],
  ])('lists %s as the code has them', (table, entries) => {
    expect(rowsOf(table)).toEqual(Object.entries(entries).map(([name, meaning]) => `| ${name} | ${meaning} |`));
  });

  it('names every runtime dependency with its reason', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { dependencies: object };
    const [, section = ''] = readme.split('## Runtime dependencies');
    for (const name of Object.keys(manifest.dependencies)) expect(section).toContain(name);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/cli/commands.js';
import { usageBlock } from '../src/cli/help.js';
import { settings } from '../src/config.js';
import { schema } from '../src/graphql/schema.js';
import { issueCodes, warningCodes } from '../src/keys/issue-codes.js';
import { routes } from '../src/rest/routes.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function rowsOf(table: string): string[] {
  const [, inside = ''] = new RegExp(`<!-- ${table} -->\n(.*?)<!-- /${table} -->`, 's').exec(readme) ?? [];
  return inside.trim().split('\n').slice(2);
}

describe('the README', () => {
  it('shows every command as the command line takes it', () => {
    const [, block = ''] = /<!-- commands -->\n```\n(.*?)```\n/s.exec(readme) ?? [];
    expect(block).toBe(`${usageBlock(commands)}\n`);
  });

  it.each([
    ['issue-codes', issueCodes],
    ['warning-codes', warningCodes],
    ['settings', settings],
  ])('lists %s as the code has them', (table, entries) => {
    expect(rowsOf(table)).toEqual(Object.entries(entries).map(([name, meaning]) => `| ${name} | ${meaning} |`));
  });

  it('lists every operation of either face, with its arguments', () => {
    const cells = rowsOf('operations').flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, cell = '']) => cell));
    const called = [schema.getQueryType(), schema.getMutationType()]
      .flatMap((type) => Object.values(type?.getFields() ?? {}))
      .map(({ name, args }) => [name, ...args.map((argument) => argument.name).toSorted()].join(' '));
    const requested = routes.map(({ method, path }) => `${method} ${path.replace('*', '{keyID}')}`);
    const listed = cells.map((cell) => cell.replace('?reset_quota=1', ''));
    const calls = listed.filter((cell) => cell.includes('(')).map((cell) => cell.split(/[(), ]+/).filter(Boolean));
    expect(calls.map(([name, ...args]) => [name, ...args.toSorted()].join(' ')).toSorted()).toEqual(called.toSorted());
    expect(listed.filter((cell) => cell.includes(' /')).toSorted()).toEqual(requested.toSorted());
  });

  it('names every runtime dependency with its reason', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      dependencies: object;
    };
    const [, section = ''] = readme.split('## Runtime dependencies');
    for (const name of Object.keys(manifest.dependencies)) expect(section).toContain(name);
  });
});

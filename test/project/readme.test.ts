import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { formatUsageBlock } from '../../src/cli/program.js';
import { describeSettings } from '../../src/config/settings.js';
import { schema } from '../../src/graphql/schema/api-schema.js';
import { issueCodes, warningCodes } from '../../src/keys/definition/issue-codes.js';
import { routes } from '../../src/rest/routes.js';
import { documents, sectionOf, textOf } from '../support/documents.js';

/** The rows of one or more tables, without their headings. */
function rowsOf(table: string): string[] {
  return sectionOf(table)
    .trim()
    .split('\n\n')
    .flatMap((rows) => rows.split('\n').slice(2));
}

describe('the documents', () => {
  it('show every command with its options', () => {
    expect(sectionOf('commands')).toBe(`\`\`\`\n${formatUsageBlock(commands)}\n\`\`\`\n`);
  });

  it.each([
    ['issue-codes', issueCodes],
    ['warning-codes', warningCodes],
    ['settings', describeSettings()],
  ])('list %s as the code defines them', (table, entries) => {
    expect(rowsOf(table)).toEqual(Object.entries(entries).map(([name, meaning]) => `| ${name} | ${meaning} |`));
  });

  it('list every operation of both APIs, with its arguments', () => {
    const cells = rowsOf('operations').flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, cell = '']) => cell));
    const called = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
      .flatMap((type) => Object.values(type?.getFields() ?? {}))
      .map(({ name, args }) => [name, ...args.map((argument) => argument.name).toSorted()].join(' '));
    const requested = routes.map(({ method, path }) => `${method} ${path.replace('*', '{keyID}')}`);
    const listed = cells.map((cell) => cell.replace('?reset_quota=1', ''));
    const calls = listed.filter((cell) => cell.includes('(')).map((cell) => cell.split(/[(), ]+/).filter(Boolean));
    expect(calls.map(([name, ...args]) => [name, ...args.toSorted()].join(' ')).toSorted()).toEqual(called.toSorted());
    expect(listed.filter((cell) => cell.includes(' /')).toSorted()).toEqual(requested.toSorted());
  });

  it('name every runtime dependency with its reason', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      dependencies: object;
    };
    const [, section = ''] =
      /^#+ Runtime dependencies\n(.*?)(?=^#|(?![^]))/ms.exec(documents.map(textOf).join('\n')) ?? [];
    const reasons = new Set(
      [...section.matchAll(/^\| ([^|]+) \| \S/gm)].flatMap(([, names = '']) => names.split(', ')),
    );
    expect(
      Object.keys(manifest.dependencies).filter((name) => !reasons.has(name.trim()) && !reasons.has(`${name} `)),
    ).toEqual([]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { environmentOf } from '../../../src/cli/command.js';
import { formatUsage } from '../../../src/cli/program.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

describe('the command line', () => {
  it.each([[], ['--help'], ['help'], ['-h'], ['--help', '--sample']])(
    'prints every command with its summary for %j',
    async (...args) => {
      const { code, out } = await c.keyfront(args.filter((arg) => typeof arg === 'string'));
      expect(code).toBe(0);
      for (const { name, summary } of commands) {
        expect(out).toMatch(new RegExp(`^  ${name} +${summary.split(' ', 3).join(' ')}`, 'm'));
      }
      for (const text of [
        'Exit codes:',
        'KEYFRONT_DATA',
        'FORCE_COLOR',
        '`keyfront keys put --help`',
        '`keyfront serve --help`',
      ]) {
        expect(out).toContain(text);
      }
      // Settings that few installations need are in the help of `serve` only.
      expect(out).not.toContain('KEYFRONT_GRAPHQL_MAX_DEPTH');
      expect(existsSync(c.folder)).toBe(false);
    },
  );

  it.each(commands.map((command) => [command.name, command] as const))(
    'prints usage, options, examples and exit codes of %s',
    async (name, command) => {
      const words = name.split(' ');
      const printed = await Promise.all([
        c.keyfront([...words, '--help']),
        c.keyfront(['help', ...words]),
        c.keyfront([...words, '-h', 'word', '--nonsense']),
      ]);
      for (const { code, out, stderr } of printed) expect([code, out, stderr]).toStrictEqual([0, printed[0].out, '']);
      const { out } = printed[0];
      const joined = out.replaceAll(/\s+/g, ' ');
      expect(out).toContain(`Usage: keyfront ${formatUsage(command)}\n`);
      expect(out).toMatch(/^ {2}-h, --help +Print help$/m);
      expect(joined).toContain(`${command.summary}.`);
      expect(out).toContain(`Examples:\n  ${command.examples.join('\n  ')}\n`);
      for (const option of Object.keys(command.options ?? {})) {
        expect(out).toMatch(new RegExp(`^  --${option}\\b`, 'm'));
      }
      for (const meaning of Object.values(command.exitCodes ?? {})) expect(joined).toContain(meaning);
      for (const variable of environmentOf(command)) expect(out).toMatch(new RegExp(`^  ${variable} +\\S`, 'm'));
      for (const line of out
        .split('\n')
        .filter((text) => !command.examples.some((example) => text.includes(example)) && !text.startsWith('Usage:'))) {
        expect(line.length).toBeLessThanOrEqual(100);
      }
      expect(existsSync(c.folder)).toBe(false);
    },
  );

  it('has commands with summaries of one line in the imperative, without a period', () => {
    for (const { summary } of commands) {
      expect(summary).toMatch(/^[A-Z][a-z]+ [^\n]*[^.\n]$/);
      expect(summary.split(' ')[0]).not.toMatch(/s$/);
    }
  });

  it('names each command by a noun and a verb, and accepts the short names that the help does not show', async () => {
    const overview = (await c.keyfront([])).out;
    for (const { name, alias } of commands.filter((command) => command.alias !== undefined)) {
      const [short, full] = [
        await c.keyfront([alias ?? '', '--help']),
        await c.keyfront([...name.split(' '), '--help']),
      ];
      expect([short.code, short.out]).toStrictEqual([0, full.out]);
      expect(overview).not.toMatch(new RegExp(`^  ${alias} `, 'm'));
      expect(full.out).not.toMatch(new RegExp(`keyfront ${alias}\\b`));
    }
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await c.keyfront(['--version'])).toStrictEqual({ code: 0, out: `${version}\n`, stderr: '' });
  });

  it('prints no control characters of the arguments', async () => {
    const { stderr } = await c.keyfront(['\u001b[31mred\u009b2J']);
    expect(stderr).toBe("error: unknown command '\uFFFD[31mred\uFFFD2J'\nSee keyfront --help.\n");
    const { stderr: option } = await c.keyfront(['serve', '--\u001b[31mred']);
    expect(option).not.toContain('\u001b');
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { usageOf } from '../../src/cli/help.js';
import { makeCommandLine, type CommandLine } from '../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeCommandLine();
});
afterEach(async () => c.remove());

describe('the command line', () => {
  it.each([['--help'], ['help'], ['-h'], ['--help', '--sample']])(
    'prints every command with a sentence for %s',
    async (...args) => {
      const { code, out } = await c.keyfront(args.filter((arg) => typeof arg === 'string'));
      expect(code).toBe(0);
      for (const [name, { does }] of Object.entries(commands)) {
        expect(out).toMatch(new RegExp(`^  ${name} +${does.split(' ', 3).join(' ')}`, 'm'));
      }
      for (const text of ['Exit codes:', 'KEYFRONT_DATA', 'FORCE_COLOR', 'COMMAND --help']) {
        expect(out.replace('such as `keyfront put --help`', 'COMMAND --help')).toContain(text);
      }
      expect(existsSync(c.folder)).toBe(false);
    },
  );

  it.each(Object.entries(commands))(
    'tells of %s what it does and takes, with an example and its exit codes',
    async (name, command) => {
      const words = name.split(' ');
      const asked = await Promise.all([
        c.keyfront([...words, '--help']),
        c.keyfront(['help', ...words]),
        c.keyfront([...words, '-h', 'whatever', '--nonsense']),
      ]);
      for (const { code, out, said } of asked) expect([code, out, said]).toStrictEqual([0, asked[0].out, '']);
      const { out } = asked[0];
      expect(out).toContain(`Usage: keyfront ${usageOf(name, command)}\n`);
      expect(out.replaceAll(/\s+/g, ' ')).toContain(command.does);
      expect(out).toContain(`Example:\n  ${command.example}\n`);
      for (const option of Object.keys(command.options ?? {}))
        expect(out).toMatch(new RegExp(`^  --${option}\\b`, 'm'));
      for (const means of Object.values(command.exits ?? {})) expect(out.replaceAll(/\s+/g, ' ')).toContain(means);
      for (const variable of command.settings ?? []) expect(out).toMatch(new RegExp(`^  ${variable} +\\S`, 'm'));
      for (const line of out
        .split('\n')
        .filter((text) => !text.includes(command.example) && !text.startsWith('Usage:'))) {
        expect(line.length).toBeLessThanOrEqual(100);
      }
      expect(existsSync(c.folder)).toBe(false);
    },
  );

  it.each(Object.entries(commands))(
    'gives an example for %s that it would take',
    async (name, { example, options = {}, words = [] }) => {
      const [, call = ''] = /(?<!\S)keyfront (.*?)( >.*)?$/.exec(example) ?? [];
      expect(call.startsWith(name)).toBe(true);
      const args = (call.match(/"[^"]*"|\S+/g) ?? []).slice(name.split(' ').length);
      const named = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
      for (const option of named) expect(Object.keys(options)).toContain(option);
      const positional = args.filter(
        (arg, index) => !arg.startsWith('--') && options[args[index - 1]?.slice(2) ?? '']?.value === undefined,
      );
      const least = words.filter((word) => !word.startsWith('[')).length;
      expect(positional.length).toBeGreaterThanOrEqual(least);
    },
  );

  it('tells of all commands of a group', async () => {
    const { code, out } = await c.keyfront(['help', 'credentials']);
    expect(code).toBe(0);
    expect(out.match(/^Usage: keyfront credentials /gm)).toHaveLength(4);
    expect(out).not.toContain('keyfront keys');
  });

  it('names the nearest command where help is asked for one that is not', async () => {
    const { code, out, said } = await c.keyfront(['help', 'bakup']);
    expect([code, out, said]).toStrictEqual([
      2,
      '',
      'There is no command bakup; did you mean backup? See keyfront --help.\n',
    ]);
  });

  it('tells the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await c.keyfront(['--version'])).toStrictEqual({ code: 0, out: `${version}\n`, said: '' });
  });

  it.each([
    [['keys', 'export', '--with-secret'], '--with-secrets'],
    [['serve', '--sampel'], '--sample'],
    [['credentials', 'issue', '--labels', 'x'], '--label'],
    [['keys', 'import', 'x', '--password-are-hashed'], '--passwords-are-hashed'],
  ])('names the nearest option for %j', async (args, meant) => {
    const { code, said } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(said).toMatch(new RegExp(`^Unknown option '--[a-z-]+'; did you mean ${meant}\\?\nUsage: keyfront `));
  });

  it('repeats nothing that steers a terminal from what was typed', async () => {
    const { said } = await c.keyfront(['\u001b[31mred\u009b2J']);
    expect(said).toBe('There is no command \uFFFD[31mred\uFFFD2J. See keyfront --help.\n');
    const { said: option } = await c.keyfront(['serve', '--\u001b[31mred']);
    expect(option).not.toContain('\u001b');
  });

  it.each([
    [['key', 'import', 'x'], 'keys import'],
    [['keys', 'imprt', 'x'], 'keys import'],
    [['credential', 'list'], 'credentials list'],
    [['credentials', 'isue', '--kind', 'service'], 'credentials issue'],
    [['srve'], 'serve'],
    [['secrets', 'rotat'], 'secrets rotate'],
  ])('names the nearest command for %j', async (args, meant) => {
    const { code, out, said } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(said).toBe(
      `There is no command ${args
        .slice(0, 2)
        .filter((word) => !word.startsWith('-'))
        .join(' ')}; did you mean ${meant}? See keyfront --help.\n`,
    );
  });

  it('suggests nothing for what resembles no command', async () => {
    const { code, said } = await c.keyfront(['frobnicate']);
    expect([code, said]).toStrictEqual([2, 'There is no command frobnicate. See keyfront --help.\n']);
  });

  it.each([
    [['keys', 'export', '--secrets']],
    [['keys', 'export', '--with-secrets=yes']],
    [['keys', 'export', 'extra']],
    [['keys', 'import']],
    [['keys', 'import', 'a', 'b']],
    [['keys', 'import', 'a', '--org']],
    [['credentials', 'list', '--all']],
    [['credentials', 'revoke']],
    [['credentials', 'rotate']],
    [['credentials', 'rotate', 'a', 'b']],
    [['secrets', 'prune', 'now']],
    [['serve', '--port', '1']],
    [['serve', 'now']],
    [['--sampel']],
  ])('refuses the wrong arguments %j with the usage and exit code 2, before it touches anything', async (args) => {
    const { code, out, said } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(said).toMatch(/^Usage: keyfront /m);
    expect(existsSync(c.folder)).toBe(false);
  });

  it.each([
    [['credentials', 'issue'], '--kind'],
    [['credentials', 'issue', '--kind', 'admin', '--label', 'x'], '--kind must be management or service.'],
    [['credentials', 'issue', '--kind', 'service'], '--label must say who uses the credential.'],
    [['credentials', 'issue', '--kind', 'service', '--label', ' '], '--label must say who uses the credential.'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '0d'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '-1d'], '--expires'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '90'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '3m'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', 'tomorrow'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--org', ''], '--org must name an organisation'],
    [['keys', 'import', 'x', '--org', ' '], '--org must name an organisation'],
  ])('refuses the wrong values of %j with exit code 2', async (args, reason) => {
    const { code, out, said } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(said).toContain(reason);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
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
      for (const variable of command.environment ?? []) expect(out).toMatch(new RegExp(`^  ${variable} +\\S`, 'm'));
      for (const line of out
        .split('\n')
        .filter((text) => !command.examples.some((example) => text.includes(example)) && !text.startsWith('Usage:'))) {
        expect(line.length).toBeLessThanOrEqual(100);
      }
      expect(existsSync(c.folder)).toBe(false);
    },
  );

  it.each(commands.flatMap((command) => command.examples.map((example) => [example, command] as const)))(
    'documents only options and arguments that exist in the example `%s`',
    (example, { name, options = {}, arguments: expected = [] }) => {
      const [, call = ''] = /(?<!\S)keyfront (.*?)( >.*)?$/.exec(example) ?? [];
      expect(call.startsWith(name)).toBe(true);
      const args = (call.match(/"[^"]*"|\S+/g) ?? []).slice(name.split(' ').length);
      const named = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice(2));
      for (const option of named) expect(Object.keys(options)).toContain(option);
      const positional = args.filter(
        (arg, index) => !arg.startsWith('--') && options[args[index - 1]?.slice(2) ?? '']?.value === undefined,
      );
      const required = expected.filter((argument) => !argument.startsWith('['));
      expect(positional.length).toBeGreaterThanOrEqual(required.length);
    },
  );

  it('has commands with summaries of one line in the imperative, without a period', () => {
    for (const { summary } of commands) {
      expect(summary).toMatch(/^[A-Z][a-z]+ [^\n]*[^.\n]$/);
      expect(summary.split(' ')[0]).not.toMatch(/s$/);
    }
  });

  it.each([
    ['help', 'credentials'],
    ['credentials', '--help'],
  ])('lists the commands of a group for %s %s', async (...args) => {
    const { code, out } = await c.keyfront(args);
    expect(code).toBe(0);
    expect(out.match(/^ {2}credentials \w+ +\S/gm)).toHaveLength(4);
    expect(out).not.toContain('keys import');
  });

  it('lists the commands of a group that is called without one, with exit code 2', async () => {
    const { code, out, stderr } = await c.keyfront(['credentials']);
    expect([code, out]).toStrictEqual([2, '']);
    expect(stderr).toContain('  credentials issue ');
  });

  it('never starts a server without the command serve', async () => {
    const { code, out, stderr } = await c.keyfront(['--sample']);
    expect([code, out, stderr]).toStrictEqual([2, '', "error: unknown option '--sample'\nSee keyfront --help.\n"]);
    expect(existsSync(c.folder)).toBe(false);
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

  it.each([
    [['keys', 'export', '--with-secret'], '--with-secrets'],
    [['serve', '--sampel'], '--sample'],
    [['credentials', 'rotate', 'x', '--overlaps', '1d'], '--overlap'],
    [['keys', 'import', 'x', '--password-are-hashed'], '--passwords-are-hashed'],
  ])('names the nearest option for %j', async (args, meant) => {
    const { code, stderr } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      new RegExp(`^error: unknown option '--[a-z-]+'\n\\(Did you mean ${meant}\\?\\)\nUsage: keyfront `),
    );
  });

  it('prints no control characters of the arguments', async () => {
    const { stderr } = await c.keyfront(['\u001b[31mred\u009b2J']);
    expect(stderr).toBe("error: unknown command '\uFFFD[31mred\uFFFD2J'\nSee keyfront --help.\n");
    const { stderr: option } = await c.keyfront(['serve', '--\u001b[31mred']);
    expect(option).not.toContain('\u001b');
  });

  it.each([
    [['key', 'import', 'x'], 'key', 'keys'],
    [['keys', 'imprt', 'x'], 'imprt', 'import'],
    [['srve'], 'srve', 'serve'],
    [['help', 'bakup'], 'bakup', 'backup'],
    [['bakup', '--help'], 'bakup', 'backup'],
  ])('names the nearest command for %j', async (args, given, meant) => {
    const { code, out, stderr } = await c.keyfront(args);
    expect([code, out]).toStrictEqual([2, '']);
    expect(stderr).toBe(`error: unknown command '${given}'\n(Did you mean ${meant}?)\nSee keyfront --help.\n`);
  });

  it('suggests nothing for a word that resembles no command', async () => {
    const { code, stderr } = await c.keyfront(['frobnicate']);
    expect([code, stderr]).toStrictEqual([2, "error: unknown command 'frobnicate'\nSee keyfront --help.\n"]);
  });

  it.each([
    [['keys', 'export', '--secrets']],
    [['keys', 'export', '--with-secrets=yes']],
    [['keys', 'export', 'extra']],
    [['keys', 'import']],
    [['keys', 'import', 'a', 'b']],
    [['keys', 'import', 'a', '--org']],
    [['credentials', 'revoke']],
    [['serve', '--port', '1']],
    [['check', '--fix']],
  ])('rejects the invalid arguments %j with the usage and exit code 2, before it opens anything', async (args) => {
    const { code, out, stderr } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(stderr).toMatch(/^Usage: keyfront /m);
    expect(existsSync(c.folder)).toBe(false);
  });

  it.each([
    [['keys', 'export', 'kf_svc_x']],
    [['keys', 'export', '--crednetial=kf_svc_x']],
    [['keys', 'export', '--with-secrets=kf_svc_x']],
    [['history', 'key', '--limit', 'kf_svc_x']],
    // secret-scan: fixture
    [['webhooks', 'add', '--url', 'https://user:kf_svc_x@host', '--org']],
  ])('repeats no value of the invalid call %j', async (args) => {
    const { code, stderr } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(stderr).not.toContain('kf_svc_x');
  });

  it('rejects an option in place of the missing value of another', async () => {
    const { code, stderr } = await c.keyfront(['keys', 'import', 'x', '--org', '--passwords-are-hashed']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: option '--org <ID>' has no value: what follows is an option itself\.\nUsage: /);
  });

  it.each([
    [['credentials', 'issue'], '--kind'],
    [['credentials', 'issue', '--kind', 'admin', '--label', 'x'], '--kind must be management or service.'],
    [['credentials', 'issue', '--kind', 'service'], "required option '--label <TEXT>' not specified"],
    [['credentials', 'issue', '--kind', 'service', '--label', ' '], '--label must not be empty.'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '0d'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '-1d'], '--expires'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '90'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', '3m'], '--expires must be'],
    [['credentials', 'issue', '--kind', 'service', '--label', 'x', '--expires', 'tomorrow'], '--expires must be'],
    [
      ['credentials', 'issue', '--kind', 'service', '--label', 'x', '--org', ''],
      '--org must be the ID of an organisation',
    ],
    [['keys', 'import', 'x', '--org', ' '], '--org must be the ID of an organisation'],
  ])('rejects the invalid values of %j with exit code 2', async (args, reason) => {
    const { code, out, stderr } = await c.keyfront(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(stderr).toContain(reason);
  });
});

import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCommandLine, type CommandLine } from '../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeCommandLine();
});
afterEach(async () => c.remove());

describe('the command line', () => {
  it.each([['--help'], ['help'], ['keys', 'import', '--help'], ['nonsense', '--help']])(
    'prints its help for %s %s',
    async (...args) => {
      const { code, out } = await c.keyfront(args.filter((arg) => typeof arg === 'string'));
      expect(code).toBe(0);
      for (const command of [
        'serve',
        'credentials issue',
        'credentials list',
        'credentials rotate',
        'credentials revoke',
        'keys import',
        'keys export',
        'secrets rotate',
        'secrets prune',
      ]) {
        expect(out).toContain(`keyfront ${command}`);
      }
      expect(existsSync(c.folder)).toBe(false);
    },
  );

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

import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeAll(async () => {
  c = await makeCommandLine();
});
afterAll(async () => c.remove());

/** Programs that load the script `$1` and print what it offers for the words after it. */
const shells = {
  bash: `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keyfront; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { : }; _files() { : }; compadd() { shift; print -l -- $@ }
    source "$1"; shift; words=("$@"); CURRENT=$#; _keyfront | grep -- "^\${words[CURRENT]}"`,
  fish: `source $argv[1]; complete -C "$argv[2..]"`,
} as const;

describe.each(Object.keys(shells) as (keyof typeof shells)[])('keyfront completion %s', (shell) => {
  const arguments_ = { bash: ['--norc', '-c'], zsh: ['-f', '-c'], fish: ['--no-config', '-c'] }[shell];
  const isMissing = spawnSync(shell, ['--version']).error !== undefined;
  const title = isMissing ? ` (needs ${shell})` : '';

  const complete = async (...words: string[]) => {
    const { code, out } = await c.keyfront(['completion', shell]);
    expect(code).toBe(0);
    const script = await c.file(`keyfront.${shell}`, out);
    const name = shell === 'fish' ? [] : [shell];
    const { stdout, stderr } = spawnSync(
      shell,
      [...arguments_, shells[shell], ...name, script, ...(shell === 'fish' ? [words.join(' ')] : words)],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    return stdout.split(/\s+/).filter((word) => word !== '');
  };

  it.skipIf(isMissing)(`completes commands, commands of a group, and options${title}`, async () => {
    expect(await complete('keyfront', 'webh')).toEqual(['webhooks']);
    expect((await complete('keyfront', 'keys', 're')).toSorted()).toEqual(['reset', 'restore', 'revert']);
    expect(await complete('keyfront', 'keys', 'import', '--dr')).toEqual(['--dry-run']);
    expect(await complete('keyfront', 'keys', 'put', 'acme-billing', '--exp')).toEqual(['--expected-version']);
  });
});

import { CommanderError } from 'commander';
import { nearest } from '../lib/nearest.js';
import { describeError } from '../lib/system-error.js';
import { printableLines } from '../lib/text.js';
import { commands } from './commands.js';
import { OutputClosedError, UsageError, type IO } from './io.js';
import { createProgram, formatUsage } from './program.js';
import { runWorker } from './serve/cluster-worker.js';

/** Runs one command line. Resolves to the exit code: 0 done, 1 failed or only partly done, 2 invalid usage. */
export async function run(args: readonly string[], io: IO): Promise<number> {
  let errorExitCode = 1;
  let exitCode = 0;
  let words: readonly string[] = [];
  try {
    if (io.primary) return await runWorker(io, io.primary, args);
    words = toProgramArguments(args);
    const program = createProgram(commands, io, async (command, options, commandArgs) => {
      errorExitCode = command.errorExitCode ?? 1;
      // A script passes an empty argument if its variable is not set.
      if (commandArgs.includes(''))
        throw new UsageError(`An argument is empty. Usage: keyfront ${formatUsage(command)}`);
      exitCode = await command.run(io, options, commandArgs);
    });
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosedError) return errorExitCode;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCodeOf(words);
    io.stderr(`${printableLines(describeError(error))}\n`);
    return error instanceof UsageError ? usageExitCodeOf(words) : errorExitCode;
  }
}

/** The exit code for invalid arguments of the command that the words begin with. */
function usageExitCodeOf(words: readonly string[]): number {
  const text = `${words.join(' ')} `;
  return commands.find(({ name }) => text.startsWith(`${name} `))?.usageExitCode ?? 2;
}

/**
 * Adds what commander does not support: help without a command, short names of commands in a group together with
 * suggestions for unknown ones, and `help` for a command in a group.
 *
 * @throws {UsageError} if the command is unknown
 */
function toProgramArguments(args: readonly string[]): readonly string[] {
  if (args.length === 0) return ['--help'];
  if (args[0] === 'version') return ['--version'];
  const isHelp = args[0] === 'help';
  const [first = '', ...rest] = isHelp ? args.slice(1) : args;
  const full = commands.find(({ alias }) => alias === first)?.name.split(' ');
  const known = commands.flatMap(({ name, alias }) => [name.split(' ', 1)[0] ?? name, ...(alias ? [alias] : [])]);
  if (!/^(-|$)/.test(first) && !known.includes(first)) {
    const similar = nearest(first, known);
    const suggestion = similar === undefined ? '' : `\n(Did you mean ${similar}?)`;
    throw new UsageError(`error: unknown command '${first}'${suggestion}\nSee keyfront --help.`);
  }
  const words = [...(full ?? [first]), ...rest];
  return isHelp ? [...words.filter((word) => word !== ''), '--help'] : words;
}

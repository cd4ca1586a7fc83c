import { CommanderError } from 'commander';
import { nearest, printableLines } from '../lib/text.js';
import { commands } from './commands.js';
import { OutputClosedError, UsageError, type IO } from './io.js';
import { createProgram } from './program.js';
import { runWorker } from './server/cluster-worker.js';

/** Runs one command line. Resolves to the exit code: 0 done, 1 not (or not all of it), 2 invalid usage. */
export async function run(args: readonly string[], io: IO): Promise<number> {
  let failure = 1;
  let code = 0;
  try {
    if (io.primary) return await runWorker(io, io.primary);
    const program = createProgram(commands, io, async (command, values, words) => {
      failure = command.errorExitCode ?? 1;
      code = await command.run(io, values, words);
    });
    await program.parseAsync(argumentsFrom(args), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof OutputClosedError) return failure;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.stderr(`${printableLines(error instanceof Error ? error.message : 'An unknown error occurred.')}\n`);
    return error instanceof UsageError ? 2 : failure;
  }
}

/**
 * What commander does not do: a default command beside suggestions for unknown ones, `help` of a command of two words.
 *
 * @throws {UsageError} if the command is unknown.
 */
function argumentsFrom(args: readonly string[]): readonly string[] {
  if (args[0] === 'version') return ['--version'];
  const isHelp = args[0] === 'help';
  const [first = '', ...rest] = isHelp ? args.slice(1) : args;
  const known = Object.keys(commands).map((name) => name.split(' ', 1)[0] ?? name);
  if (!/^(-|$)/.test(first) && !known.includes(first)) {
    const meant = nearest(first, known);
    const suggestion = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
    throw new UsageError(`error: unknown command '${first}'${suggestion}\nSee keyfront --help.`);
  }
  if (isHelp) return [...args.slice(1), '--help'];
  const isForService = args.length === 0 || (first.startsWith('-') && !['-h', '--help', '--version'].includes(first));
  return isForService ? ['serve', ...args] : [first, ...rest];
}

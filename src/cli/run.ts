import { parseArgs } from 'node:util';
import { nearest } from '../nearest.js';
import { printableLines } from '../printable.js';
import type { Command, Commands, Values } from './command.js';
import { commands } from './commands.js';
import { helpOf, overview, usageOf } from './help.js';
import { OutputLost, UsageError, type IO } from './io.js';
import { version } from '../version.js';
import { work } from './worker.js';

/** Runs one command line. Resolves to the exit code: 0 done, 1 not (or not all of it), 2 wrongly called. */
export async function run(args: readonly string[], io: IO): Promise<number> {
  let failure = 1;
  try {
    if (io.primary) return await work(io, io.primary);
    const help = helpFor(args);
    if (help !== undefined) {
      io.out(help);
      return 0;
    }
    const { name, command, rest } = find(args);
    failure = command.failure ?? 1;
    const { values, words } = parse(name, command, rest);
    return await command.run(io, values, words);
  } catch (error) {
    if (error instanceof OutputLost) return failure;
    io.say(`${printableLines(error instanceof Error ? error.message : 'Something unknown went wrong.')}\n`);
    return error instanceof UsageError ? 2 : failure;
  }
}

/** The help or the version that is asked for, if any. What stands behind `--` asks for nothing. */
function helpFor(args: readonly string[]): string | undefined {
  const end = args.indexOf('--');
  const asking = end === -1 ? args : args.slice(0, end);
  if (asking[0] === '--version' || asking[0] === 'version') return `${version}\n`;
  if (asking[0] !== 'help' && !asking.includes('--help') && !asking.includes('-h')) return undefined;
  const words = wordsOf(asking[0] === 'help' ? asking.slice(1) : asking);
  if (words.length === 0) return overview(commands);
  const name = nameIn(words);
  const command = name === undefined ? undefined : commands[name];
  if (name !== undefined && command) return helpOf(name, command);
  // The first word of several commands, such as `keys`, asks for all of them.
  const group: Commands = Object.fromEntries(
    Object.entries(commands).filter(([known]) => known.startsWith(`${words[0]} `)),
  );
  if (Object.keys(group).length > 0)
    return Object.entries(group)
      .map(([known, one]) => helpOf(known, one))
      .join('\n');
  throw unknown(words);
}

function wordsOf(args: readonly string[]): readonly string[] {
  const named = args.findIndex((arg) => arg.startsWith('-'));
  return named === -1 ? args : args.slice(0, named);
}

/** The name of a command that the words begin with. */
function nameIn(words: readonly string[]): string | undefined {
  return [2, 1].map((length) => words.slice(0, length).join(' ')).find((name) => Object.hasOwn(commands, name));
}

function find(args: readonly string[]): { name: string; command: Command; rest: string[] } {
  const words = wordsOf(args);
  const name = words.length === 0 ? 'serve' : nameIn(words);
  const command = name === undefined ? undefined : commands[name];
  if (name === undefined || !command) throw unknown(words);
  return { name, command, rest: args.slice(words.length === 0 ? 0 : name.split(' ').length) };
}

function unknown(words: readonly string[]): UsageError {
  const given = words.slice(0, 2).join(' ');
  const names = Object.keys(commands);
  // Of a command of one word, what follows is its own business.
  const meant = nearest(given, names) ?? nearest(words[0] ?? '', names);
  return new UsageError(`There is no command ${given}${meant ? `; did you mean ${meant}?` : '.'} See keyfront --help.`);
}

function parse(name: string, command: Command, args: string[]): { values: Values; words: readonly string[] } {
  const table = command.options ?? {};
  const wrong = (reason?: string) =>
    new UsageError(`${reason === undefined ? '' : `${reason}\n`}Usage: keyfront ${usageOf(name, command)}`);
  const options = Object.fromEntries(
    Object.entries(table).map(([option, { value }]) => [
      option,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true });
  const stranger = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(table, token.name));
  if (stranger?.kind === 'option') {
    const meant = nearest(stranger.name, Object.keys(table));
    throw wrong(`Unknown option '${stranger.rawName}'${meant === undefined ? '.' : `; did you mean --${meant}?`}`);
  }
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw wrong(error instanceof Error ? `${error.message.split('. ', 1)[0]}.` : 'The arguments are wrong.');
  }
  const { words = [] } = command;
  const least = words.filter((word) => !word.startsWith('[')).length;
  const most = words.at(-1)?.endsWith('...') === true ? Infinity : words.length;
  if (parsed.positionals.length < least || parsed.positionals.length > most) throw wrong();
  return { values: parsed.values, words: parsed.positionals };
}

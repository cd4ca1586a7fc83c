import { Command as Program, Help, InvalidArgumentError, Option as ProgramOption } from 'commander';
import { settings } from '../config/settings.js';
import { printableLines } from '../lib/text.js';
import { version } from '../lib/version.js';
import type { Command, Commands, OptionValues } from './command.js';
import { formatUsage } from './help.js';
import type { IO } from './io.js';

type Execute = (command: Command, values: OptionValues, words: readonly string[]) => Promise<void>;

/** Environment variables: the settings, and those of other programs' conventions. */
const variables: Readonly<Record<string, string>> = {
  ...settings,
  NO_COLOR: 'Any value switches colours off.',
  FORCE_COLOR: 'Any value but 0 switches colours on, also without a terminal.',
  NODE_EXTRA_CA_CERTS: 'PEM file of certificate authorities to trust, in addition to those of Node.',
};

const usualExits: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'not done, or not all of it',
  2: 'invalid usage',
  141: 'the reader of the results closed the pipe',
};

const helpWidth = 100;

/** Builds the parser of the command line. It calls `execute` with the command that the arguments name. */
export function createProgram(commands: Commands, io: IO, execute: Execute): Program {
  const layout = {
    helpWidth,
    // The overview lists `credentials issue`, not the group `credentials`.
    visibleCommands: (group: Program) =>
      group.commands.flatMap((one) => (one.commands.length > 0 ? one.commands : one)),
    subcommandTerm: nameOf,
  };
  const program = new Program('keyfront')
    .description('Keyfront, a key-management service for API gateways. Without a command it serves.')
    .usage('[COMMAND] [WORDS] [OPTIONS]')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help; `keyfront put --help` for one command')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('See keyfront --help.')
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      outputError: (message, write) => write(printableLines(withoutValues(message))),
    })
    .configureHelp(layout)
    .addHelpText('after', `\n${table('Exit codes', usualExits)}\n${table('Environment variables', variables)}`);

  for (const [name, command] of Object.entries(commands)) {
    const [first = '', second] = name.split(' ');
    const group = program.commands.find((one) => one.name() === first);
    const parent = second === undefined ? program : (group ?? program.command(first));
    const usage = `keyfront ${formatUsage(name, command)}`;
    const {
      summary: does,
      description: more,
      arguments: words = [],
      options = {},
      example,
      exitCodes: exits,
      environment: own = [],
    } = command;
    const parser = parent
      .command(second ?? first)
      .summary(does)
      .description(more === undefined ? does : `${does}\n\n${more}`)
      .configureHelp({ ...layout, commandUsage: () => usage })
      .showHelpAfterError(`Usage: ${usage}`)
      .addHelpText('after', `\nExample:\n  ${example}\n\n${table('Exit codes', { ...usualExits, ...exits })}`)
      .action(async () => execute(command, valuesOf(parser), parser.args));
    if (own.length > 0) {
      const described = Object.fromEntries(own.map((variable) => [variable, variables[variable] ?? '']));
      parser.addHelpText('after', `\n${table('Environment variables', described)}`);
    }
    for (const [option, { value, description: is, isRequired = false }] of Object.entries(options)) {
      const flags = value === undefined ? `--${option}` : `--${option} <${value.replaceAll('|', '/')}>`;
      const added = new ProgramOption(flags, isRequired ? `${is} Required.` : is).makeOptionMandatory(isRequired);
      if (value !== undefined) added.argParser((text) => requireValue(text, options));
      parser.addOption(added);
    }
    // Those that may be left out come last here: what a word stands for depends on how many there are.
    for (const word of words.toSorted((a, b) => Number(isOptional(a)) - Number(isOptional(b)))) {
      parser.argument(isOptional(word) ? word : `<${word}>`);
    }
  }
  return program;
}

const isOptional = (word: string) => word.startsWith('[');

function nameOf(command: Program): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()}`;
}

function valuesOf(parser: Program): OptionValues {
  const values = parser.opts<OptionValues>();
  return Object.fromEntries(parser.options.map((option) => [option.name(), values[option.attributeName()]]));
}

/** An option whose value was forgotten must not take the next option for it. */
function requireValue(text: string, options: object): string {
  const name = text.startsWith('--') ? text.slice(2).split('=', 1)[0] : undefined;
  if (name !== undefined && Object.hasOwn(options, name)) throw new InvalidArgumentError('It is an option itself.');
  return text;
}

/** Arguments may be secrets, so that an error repeats no value: only commands and names of options. */
function withoutValues(message: string): string {
  return message
    .replace(/^(error: too many arguments)[^]*/, '$1.\n')
    .replace(/^(error: unknown option '[^'=]*)=[^']*'/, "$1'")
    .replace(/ argument '[^]*' is invalid\. It is/, ' has no value: what follows is');
}

function table(title: string, rows: Readonly<Record<string, string>>): string {
  const help = Object.assign(new Help(), { helpWidth });
  const width = Math.max(...Object.keys(rows).map((name) => name.length));
  const lines = Object.entries(rows).map(([name, means]) => help.formatItem(name, width, means, help));
  return `${title}:\n${lines.join('\n')}\n`;
}

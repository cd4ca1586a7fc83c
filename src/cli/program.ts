import { Command as Program, Help, InvalidArgumentError, Option as ProgramOption } from 'commander';
import { printableLines } from '../lib/text.js';
import { version } from '../lib/version.js';
import {
  type CLICommand,
  type Option,
  type OptionValues,
  colorVariables,
  describeEnvironment,
  environmentOf,
  storageVariables,
} from './command.js';
import type { IO } from './io.js';

/** Usage line of a command: `backup DIR`. Options that many commands share are omitted. */
export function formatUsage({ name, arguments: args = [], options = {} }: CLICommand): string {
  const ownOptions = Object.entries(options).filter(([, { isCommon }]) => !isCommon);
  return [name, ...args, ...ownOptions.map(([option, definition]) => formatOption(option, definition))].join(' ');
}

/** Usage lines of all commands, as docs/cli.md contains them. */
export function formatUsageBlock(commands: readonly CLICommand[]): string {
  return commands.map((command) => `keyfront ${formatUsage(command)}`).join('\n');
}

function formatOption(name: string, { value, isRequired }: Option): string {
  const text = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return isRequired ? text : `[${text}]`;
}

type ExecuteCommand = (command: CLICommand, options: OptionValues, args: readonly string[]) => Promise<void>;

const defaultExitCodes: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'failed or only partly done',
  2: 'invalid usage',
  141: 'the reader of standard output closed the pipe',
};

/** The variables that most installations set. */
const overviewVariables = [
  'NODE_ENV',
  'HOST',
  'PORT',
  ...storageVariables,
  'KEYFRONT_URL',
  'KEYFRONT_SERVICE_CREDENTIAL',
  'KEYFRONT_MANAGEMENT_CREDENTIAL',
  ...colorVariables,
];

/** The widest that help is, and its width without a terminal. */
const maxHelpWidth = 100;

/** Descriptions are wrapped also where few columns are left for them; commander does so from 40 on. */
const minWidthToWrap = 20;

const layout = {
  minWidthToWrap,
  // The overview lists `credentials issue`, not the group `credentials`.
  visibleCommands: (group: Program) =>
    group.commands.flatMap((child) => (child.commands.length > 0 ? child.commands : child)),
  subcommandTerm: fullNameOf,
};

/** Creates the parser of the command line. It calls `execute` with the command that the arguments name. */
export function createProgram(commands: readonly CLICommand[], io: IO, execute: ExecuteCommand): Program {
  // Terminals have at least one column, and report 0 if they do not know how many.
  const width = Math.min(io.columns || maxHelpWidth, maxHelpWidth);
  const program = new Program('keyfront')
    .description('Key management for API gateways.')
    .usage('COMMAND [arguments] [options]')
    .version(version, '-v, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help; `keyfront keys put --help` for one command')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('See keyfront --help.')
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      outputError: (message, write) => write(printableLines(withoutValues(message))),
    })
    .configureHelp(layout)
    .addHelpText(
      'after',
      () =>
        `\n${formatSection('Exit codes', defaultExitCodes, width)}\n\n${formatVariables(overviewVariables, width)}\n\n\`keyfront serve --help\` lists all settings.`,
    );
  for (const command of commands) addCommand(program, command, width, execute);
  return program;
}

function addCommand(program: Program, command: CLICommand, width: number, execute: ExecuteCommand): void {
  const { name, summary, description, arguments: args = [], options = {} } = command;
  const environment = environmentOf(command);
  const [first = '', second] = name.split(' ');
  const group = program.commands.find((child) => child.name() === first);
  const parent =
    second === undefined ? program : (group ?? program.command(first).helpOption('-h, --help', 'Print help'));
  const usage = `keyfront ${formatUsage(command)}`;
  const parser = parent
    .command(second ?? first)
    .summary(summary)
    .description(`${summary}.${description === undefined ? '' : `\n\n${description}`}`)
    .configureHelp({ ...layout, commandUsage: () => usage })
    .helpOption('-h, --help', 'Print help')
    .showHelpAfterError(`Usage: ${usage}`)
    .addHelpText('after', () => formatExamplesAndExitCodes(command, width))
    .action(async () => execute(command, optionValuesOf(parser), parser.args));
  if (environment.length > 0) parser.addHelpText('after', () => `\n${formatVariables(environment, width)}`);
  for (const [option, definition] of Object.entries(options)) {
    parser.addOption(createOption(option, definition, options));
  }
  // Commander expects optional arguments last. The command derives their meaning from their number.
  for (const argument of args.toSorted((a, b) => Number(isOptional(a)) - Number(isOptional(b)))) {
    parser.argument(isOptional(argument) ? argument : `<${argument}>`);
  }
}

function createOption(
  name: string,
  { value, description, isRequired }: Option,
  siblings: Readonly<Record<string, Option>>,
): ProgramOption {
  const flags = value === undefined ? `--${name}` : `--${name} <${value.replaceAll('|', '/')}>`;
  const text = isRequired === true ? `${description} (required)` : description;
  const option = new ProgramOption(flags, text).makeOptionMandatory(isRequired === true);
  return value === undefined ? option : option.argParser((argument) => requireValue(argument, siblings));
}

const isOptional = (argument: string) => argument.startsWith('[');

function fullNameOf(command: Program): string {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  return `${group}${command.name()}`;
}

function optionValuesOf(parser: Program): OptionValues {
  const values = parser.opts<OptionValues>();
  return Object.fromEntries(parser.options.map((option) => [option.name(), values[option.attributeName()]]));
}

/** Rejects an option in place of a value: the value is missing. */
function requireValue(text: string, options: object): string {
  const name = text.startsWith('--') ? text.slice(2).split('=', 1)[0] : undefined;
  if (name !== undefined && Object.hasOwn(options, name)) throw new InvalidArgumentError('It is an option itself.');
  return text;
}

/** Removes values from an error message, since arguments may be secrets; names of commands and options stay. */
function withoutValues(message: string): string {
  return message
    .replace(/^(error: too many arguments)[^]*/, '$1.\n')
    .replace(/^(error: unknown option '[^'=]*)=[^']*'/, "$1'")
    .replace(/ argument '[^]*' is invalid\. It is/, ' has no value: what follows is');
}

function formatExamplesAndExitCodes({ examples, exitCodes }: CLICommand, width: number): string {
  const lines = examples.map((example) => `  ${example}\n`).join('');
  return `\nExamples:\n${lines}\n${formatSection('Exit codes', { ...defaultExitCodes, ...exitCodes }, width)}`;
}

function formatVariables(names: readonly string[], width: number): string {
  const descriptions = describeEnvironment();
  return formatSection(
    'Environment variables',
    Object.fromEntries(names.map((name) => [name, descriptions[name] ?? ''])),
    width,
  );
}

function formatSection(title: string, entries: Readonly<Record<string, string>>, helpWidth: number): string {
  const help = Object.assign(new Help(), { helpWidth, minWidthToWrap });
  const nameWidth = Math.max(...Object.keys(entries).map((name) => name.length));
  const lines = Object.entries(entries).map(([name, text]) => help.formatItem(name, nameWidth, text, help));
  return `${title}:\n${lines.join('\n')}`;
}

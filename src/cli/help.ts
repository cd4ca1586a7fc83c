import { settings } from '../config/settings.js';
import type { Command, Commands, Option } from './command.js';

/** Variables of other programs' conventions that have an effect. */
const otherVariables: Readonly<Record<string, string>> = {
  NO_COLOR: 'Any value switches colours off.',
  FORCE_COLOR: 'Any value but 0 switches colours on, also where no terminal reads.',
  NODE_EXTRA_CA_CERTS: 'PEM file of authorities whose certificates are to be believed, beside those that Node knows.',
};

const usualExits: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'not done, or not all of it',
  2: 'wrongly called',
  141: 'whoever read the results went away',
};

const width = 100;

/** One line that tells how a command is called: `backup DIR`. Options that many commands share are left to the help. */
export function usageOf(name: string, { words = [], options = {} }: Command): string {
  const own = Object.entries(options).filter(([, { isCommon }]) => !isCommon);
  return [name, ...words, ...own.map(([option, more]) => optionUsage(option, more))].join(' ');
}

/** The block of all commands, a line each, as the README has it. */
export function usageBlock(commands: Commands): string {
  return Object.entries(commands)
    .map(([name, command]) => `keyfront ${usageOf(name, command)}`)
    .join('\n');
}

/** What `keyfront --help` prints. */
export function overview(commands: Commands): string {
  const longest = Math.max(...Object.keys(commands).map((name) => name.length));
  const rows = Object.entries(commands).map(([name, { does }]) => row(name, does, longest));
  const variables = Object.entries({ ...settings, ...otherVariables });
  return [
    'Keyfront, a key-management service for API gateways.',
    '',
    'Usage: keyfront [COMMAND] [WORDS] [OPTIONS]     Without a command it serves.',
    '',
    ...rows,
    '',
    row('--help', 'tells what a command does and takes, such as `keyfront put --help`', longest),
    row('--version', 'tells the version', longest),
    '',
    ...exitLines(usualExits),
    '',
    'Environment variables:',
    ...variables.map(([name, means]) => row(name, means, 31)),
    '',
  ].join('\n');
}

/** What `keyfront COMMAND --help` prints. */
export function helpOf(name: string, command: Command): string {
  const { does, more, options = {}, example, exits = {}, settings: variables = [] } = command;
  const rows = Object.entries(options).map(([option, { value, is, isRequired }]) =>
    row(`--${option}${value === undefined ? '' : ` ${value}`}`, isRequired ? `${is} Required.` : is, 26),
  );
  const known: Readonly<Record<string, string>> = { ...settings, ...otherVariables };
  return [
    `Usage: keyfront ${usageOf(name, command)}`,
    '',
    ...wrapped(does, width),
    ...(more === undefined ? [] : ['', ...wrapped(more, width)]),
    ...(rows.length === 0 ? [] : ['', 'Options:', ...rows]),
    '',
    'Example:',
    `  ${example}`,
    '',
    ...exitLines({ ...usualExits, ...exits }),
    ...(variables.length === 0
      ? []
      : ['', 'Environment variables:', ...variables.map((variable) => row(variable, known[variable] ?? '', 31))]),
    '',
  ].join('\n');
}

function optionUsage(name: string, { value, isRequired }: Option): string {
  const text = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return isRequired ? text : `[${text}]`;
}

function exitLines(exits: Readonly<Record<number, string>>): string[] {
  return ['Exit codes:', ...Object.entries(exits).map(([code, means]) => row(code, means, 3))];
}

/** A name and what it means, which goes on below itself where it is long. */
function row(name: string, means: string, column: number): string {
  const indent = ' '.repeat(column + 4);
  const [first = '', ...others] = wrapped(means, width - indent.length);
  const head = name.length > column ? `  ${name}\n${indent}` : `  ${name.padEnd(column)}  `;
  return [`${head}${first}`, ...others.map((line) => `${indent}${line}`)].join('\n');
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

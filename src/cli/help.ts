import type { Command, Commands, Option } from './command.js';

/** One line that shows how a command is called: `backup DIR`. Options that many commands share are left to the help. */
export function formatUsage(name: string, { arguments: words = [], options = {} }: Command): string {
  const own = Object.entries(options).filter(([, { isCommon }]) => !isCommon);
  return [name, ...words, ...own.map(([option, more]) => optionUsage(option, more))].join(' ');
}

/** The block of all commands, a line each, as OPERATING.md has it. */
export function formatUsageBlock(commands: Commands): string {
  return Object.entries(commands)
    .map(([name, command]) => `keyfront ${formatUsage(name, command)}`)
    .join('\n');
}

function optionUsage(name: string, { value, isRequired }: Option): string {
  const text = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return isRequired ? text : `[${text}]`;
}

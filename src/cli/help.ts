import type { CLICommand, Option } from './command.js';

/** Usage line of a command: `backup DIR`. Options that many commands share are omitted. */
export function formatUsage({ name, arguments: args = [], options = {} }: CLICommand): string {
  const ownOptions = Object.entries(options).filter(([, { isCommon }]) => !isCommon);
  return [name, ...args, ...ownOptions.map(([option, definition]) => formatOption(option, definition))].join(' ');
}

/** Usage lines of all commands, as OPERATING.md contains them. */
export function formatUsageBlock(commands: readonly CLICommand[]): string {
  return commands.map((command) => `keyfront ${formatUsage(command)}`).join('\n');
}

function formatOption(name: string, { value, isRequired }: Option): string {
  const text = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return isRequired ? text : `[${text}]`;
}

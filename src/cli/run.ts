import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../nearest.js';
import { backup } from './backup.js';
import { check } from './check.js';
import { issue, list, revoke, rotate as rotateCredential } from './credentials.js';
import { exportKeys } from './export-keys.js';
import { importKeys } from './import-keys.js';
import { UsageError, type IO } from './io.js';
import { restore } from './restore.js';
import { prune, rotate } from './secrets.js';
import { serve } from './serve.js';
import { work } from './worker.js';

export type Values = Readonly<Record<string, string | boolean | undefined>>;

interface Command {
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** How many words follow the command. */
  readonly words: number;
  /** Resolves to the exit code. */
  readonly run: (io: IO, values: Values, words: readonly string[]) => Promise<number>;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

const commands: Readonly<Record<string, Command>> = {
  serve: {
    usage: 'serve [--sample] [--workers N]',
    options: { sample: flag, workers: text },
    words: 0,
    run: serve,
  },
  'credentials issue': {
    usage: 'credentials issue --kind management|service --label TEXT [--org ID] [--expires 90d]',
    options: { kind: text, label: text, org: text, expires: text },
    words: 0,
    run: issue,
  },
  'credentials list': { usage: 'credentials list', options: {}, words: 0, run: list },
  'credentials rotate': {
    usage: 'credentials rotate ID [--overlap 24h]',
    options: { overlap: text },
    words: 1,
    run: rotateCredential,
  },
  'credentials revoke': { usage: 'credentials revoke ID', options: {}, words: 1, run: revoke },
  'keys import': {
    usage: 'keys import FILE.jsonl [--org ID] [--passwords-are-hashed]',
    options: { org: text, 'passwords-are-hashed': flag },
    words: 1,
    run: importKeys,
  },
  'keys export': {
    usage: 'keys export [--with-secrets]',
    options: { 'with-secrets': flag },
    words: 0,
    run: exportKeys,
  },
  backup: { usage: 'backup DIR', options: {}, words: 1, run: backup },
  restore: { usage: 'restore DIR', options: {}, words: 1, run: restore },
  check: { usage: 'check', options: {}, words: 0, run: check },
  'secrets rotate': { usage: 'secrets rotate', options: {}, words: 0, run: rotate },
  'secrets prune': { usage: 'secrets prune', options: {}, words: 0, run: prune },
};

const help = `Keyfront, a key-management service for API gateways.

${Object.values(commands)
  .map(({ usage }) => `  keyfront ${usage}`)
  .join('\n')}

Without a command it serves. Settings are environment variables; the README lists them.
`;

/** Runs one command line. Resolves to the exit code: 0 done, 1 not (or not all of it), 2 wrongly called. */
export async function run(args: readonly string[], io: IO): Promise<number> {
  if (args.includes('--help') || args[0] === 'help') {
    io.out(help);
    return 0;
  }
  try {
    if (io.primary) return await work(io, io.primary);
    const { command, rest } = find(args);
    const { values, positionals } = parse(command, rest);
    if (positionals.length !== command.words) throw new UsageError(`Usage: keyfront ${command.usage}`);
    return await command.run(io, values as Values, positionals);
  } catch (error) {
    io.say(`${error instanceof Error ? error.message : 'Something unknown went wrong.'}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function find(args: readonly string[]): { command: Command; rest: string[] } {
  const named = args.findIndex((arg) => arg.startsWith('-'));
  const words = named === -1 ? args : args.slice(0, named);
  for (const length of [2, 1, 0]) {
    const name = words.slice(0, length).join(' ');
    const command = words.length === 0 ? commands['serve'] : commands[name];
    if (command) return { command, rest: args.slice(Math.min(length, words.length)) };
  }
  const given = words.slice(0, 2).join(' ');
  const meant = nearest(given, Object.keys(commands));
  throw new UsageError(`There is no command ${given}${meant ? `; did you mean ${meant}?` : '.'} See keyfront --help.`);
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({ args, options: command.options, allowPositionals: true, strict: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ', 1)[0] : 'The arguments are wrong';
    throw new UsageError(`${reason}.\nUsage: keyfront ${command.usage}`);
  }
}

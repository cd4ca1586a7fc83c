import { describeSettings } from '../config/settings.js';
import type { IO } from './io.js';

/** Parsed options by name: the value as a string, true for a flag, undefined if the option is absent. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/** One option of a command. */
export interface Option {
  /** Placeholder for the value, such as `ID`; undefined for a flag. */
  readonly value?: string;
  readonly description: string;
  readonly isRequired?: true;
  /** Many commands share it: the help lists it, the usage line omits it. */
  readonly isCommon?: true;
}

/** One command. The parser, the help and the list of commands in docs/cli.md are generated from it. */
export interface CLICommand {
  /** The name, such as `backup` or `keys import`. */
  readonly name: string;
  /** A shorter name that is accepted too. The help shows the full one only. */
  readonly alias?: string;
  /** One line in the imperative, without a period. */
  readonly summary: string;
  /** Further paragraphs of the help. */
  readonly description?: string;
  /** Positional arguments: `[ID]` is optional, `FILE...` accepts several. */
  readonly arguments?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** The exit codes whose meaning differs from the general one. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly examples: readonly string[];
  /** Names of the environment variables to list in the help. Default: see `environmentOf`. */
  readonly environment?: readonly string[];
  /** Resolves to the exit code. */
  readonly run: (io: IO, options: OptionValues, args: readonly string[]) => Promise<number>;
  /** The exit code if `run` rejects with an error other than `UsageError`. Default: 1. */
  readonly errorExitCode?: number;
  /** The exit code for invalid arguments. Default: 2. */
  readonly usageExitCode?: number;
}

/** Returns descriptions of the environment variables: the settings, and variables that other programs use too. */
export function describeEnvironment(): Record<string, string> {
  return {
    ...describeSettings(),
    NO_COLOR: 'Any value disables colors.',
    FORCE_COLOR: 'Any value except 0 enables colors, also without a terminal.',
    NODE_EXTRA_CA_CERTS: 'PEM file with additional certificate authorities to trust.',
  };
}

/** Variables of the commands that open the data folder. */
export const storageVariables = ['KEYFRONT_DATA', 'KEYFRONT_KEY_RING', 'KEYFRONT_DATABASE_URL'] as const;

/** Variables of the commands that print colors. */
export const colorVariables = ['NO_COLOR', 'FORCE_COLOR'] as const;

/** Variables of the commands that work on the data folder or, with `--url`, on a service. */
export const serviceVariables = [
  'KEYFRONT_URL',
  'KEYFRONT_SERVICE_CREDENTIAL',
  'NODE_EXTRA_CA_CERTS',
  ...storageVariables,
  ...colorVariables,
] as const;

/** The environment variables of a command. */
export function environmentOf({ environment, options = {} }: CLICommand): readonly string[] {
  return environment ?? (options['url'] ? serviceVariables : storageVariables);
}

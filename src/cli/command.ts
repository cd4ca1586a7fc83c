import type { IO } from './io.js';

/** The options of a call by their names: a text, true for a switch, undefined for one that was not given. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface Option {
  /** What stands for its value in the usage; a switch has none. */
  readonly value?: string;
  readonly description: string;
  readonly isRequired?: true;
  /** Shared by many commands, so that the usage leaves it to the help. */
  readonly isCommon?: true;
}

/** One command as the table has it: parsing, help and the README come from here. */
export interface Command {
  /** One sentence on what it does. */
  readonly summary: string;
  /** What else one should know before the first call. */
  readonly description?: string;
  /** The words after its name; one in brackets may be left out, and one that ends in dots may be repeated. */
  readonly arguments?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  readonly example: string;
  /** What its exit codes say, where that is not what they usually say. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** The environment variables that matter most to it. */
  readonly environment?: readonly string[];
  /** Resolves to the exit code. */
  readonly run: (io: IO, values: OptionValues, words: readonly string[]) => Promise<number>;
  /** The exit code where it throws; 1 where absent. */
  readonly errorExitCode?: number;
}

/** Every command by its name of one or two words. */
export type Commands = Readonly<Record<string, Command>>;

import type { Option, OptionValues } from '../command.js';
import type { IO } from '../io.js';

/** The option `--yes`. */
export const yesOption: Option = { description: 'Skip the confirmation on a terminal', isCommon: true };

/** Exit code of a command that was not confirmed. */
export const notConfirmedExitCode = 1;

/**
 * Waits for a confirmation on a terminal. Without a terminal, or with `--yes`, does not wait.
 *
 * @returns whether to continue
 */
export async function confirm(io: IO, options: OptionValues, question: string): Promise<boolean> {
  if (options['yes'] === true || !isInteractive(io)) return true;
  io.stderr(`${question} [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return true;
  io.stderr('Nothing was changed.\n');
  return false;
}

/** Whether a person can confirm a question. */
export function isInteractive({ isStdinTTY, isStderrTTY }: IO): boolean {
  return isStdinTTY === true && isStderrTTY;
}

async function readLine({ stdin }: IO): Promise<string> {
  let text = '';
  for await (const chunk of stdin ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\n')) break;
  }
  return text.split('\n', 1)[0] ?? '';
}

import { pathText, type AppError } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import type { Option, OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { toJSONLine } from './json.js';
import { createPaint, type Paint } from './color.js';

/** How results are shown: to people, or to a program. */
export interface OutputFormat {
  readonly isJSON: boolean;
  readonly paint: Paint;
}

export const outputOptions: Readonly<Record<string, Option>> = {
  json: { description: 'JSON also on a terminal.', isCommon: true },
  text: { description: 'Text for people also where no terminal reads, such as in the log of a build.', isCommon: true },
};

/** Text for a terminal and JSON for all else, unless an option says otherwise. */
export function selectOutputFormat(io: IO, values: OptionValues): OutputFormat {
  if (values['json'] === true && values['text'] === true) throw new UsageError('Give --json or --text, not both.');
  const isJSON = values['json'] === true || (io.isStdoutTTY !== true && values['text'] !== true);
  return { isJSON, paint: createPaint(io) };
}

/** A problem or a warning, its path in the names of REST. */
export interface Problem {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The problems that an error names; itself where it names none. */
export function problemsOf({ code, message, issues }: AppError): Problem[] {
  if (issues.length === 0) return [{ path: '', code, message }];
  return issues.map((issue) => ({ path: pathText(issue.path), code: issue.code, message: issue.message }));
}

/** One line for each problem: how bad, where, what, and its code. */
export function formatProblems(
  { paint }: OutputFormat,
  kind: 'error' | 'warning',
  problems: readonly Problem[],
): string {
  const name = kind === 'error' ? paint.red('error  ') : paint.yellow('warning');
  return problems
    .map(({ path, code, message }) => {
      const where = path === '' ? '' : `${paint.bold(printable(path))} `;
      return `  ${name}  ${where}${printable(message)}  ${paint.dim(printable(code))}\n`;
    })
    .join('');
}

/** Tells of a refusal: to people what it says, and to a program as REST would answer it. */
export function printError(io: IO, view: OutputFormat, error: AppError): void {
  const problems = error.issues.length === 0 ? [] : problemsOf(error);
  if (view.isJSON) {
    const { code, message } = error;
    io.stdout(`${toJSONLine({ status: 'error', code, message, ...(problems.length > 0 && { issues: problems }) })}\n`);
    // Whoever looks on should not have to read JSON to learn what went wrong.
    io.stderr(`${error.code}: ${printable(message)}\n`);
    return;
  }
  io.stderr(`${view.paint.red(error.code)}: ${printable(error.message)}\n${formatProblems(view, 'error', problems)}`);
}

import { pathText, type AppError } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import type { Option, OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import { createPaint, type Paint } from './color.js';
import { toJSONLine } from './json.js';

/** How a command prints its results: as text for people, or as JSON for programs. */
export interface OutputFormat {
  readonly isJSON: boolean;
  readonly paint: Paint;
}

/** Options that select the output format. */
export const outputOptions: Readonly<Record<string, Option>> = {
  json: { description: 'Print JSON, also on a terminal', isCommon: true },
  text: { description: 'Print text, also without a terminal, such as in the log of a build', isCommon: true },
};

/** The option `--json` of commands that print text to standard error only. */
export const jsonOption: Option = { description: 'Print the result as JSON', isCommon: true };

/** Prints a result as one line of JSON if `--json` is given. */
export function printJSONResult(io: IO, { json: isJSON }: OptionValues, result: object): void {
  if (isJSON === true) io.stdout(`${toJSONLine(result)}\n`);
}

/**
 * Selects text if standard output is a terminal, otherwise JSON, unless an option overrides it.
 *
 * @throws {UsageError} if both options are given
 */
export function selectOutputFormat(io: IO, options: OptionValues): OutputFormat {
  if (options['json'] === true && options['text'] === true) {
    throw new UsageError('--json and --text cannot be used together.');
  }
  const isJSON = options['json'] === true || (io.isStdoutTTY !== true && options['text'] !== true);
  return { isJSON, paint: createPaint(io) };
}

/** An error or a warning about a definition, its path in the names of REST. */
export interface Problem {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The issues of an error; the error itself if it has none. */
export function problemsOf({ code, message, issues }: AppError): Problem[] {
  if (issues.length === 0) return [{ path: '', code, message }];
  return issues.map((issue) => ({ path: pathText(issue.path), code: issue.code, message: issue.message }));
}

/** Formats each problem as a line with its severity, path, message and code. */
export function formatProblems(
  { paint }: OutputFormat,
  severity: 'error' | 'warning',
  problems: readonly Problem[],
): string {
  const label = severity === 'error' ? paint.red('error  ') : paint.yellow('warning');
  return problems
    .map(({ path, code, message }) => {
      const location = path === '' ? '' : `${paint.bold(printable(path))} `;
      return `  ${label}  ${location}${printable(message)}  ${paint.dim(printable(code))}\n`;
    })
    .join('');
}

/** Prints an error as text to standard error, and with JSON also as an error response of REST to standard output. */
export function printError(io: IO, format: OutputFormat, error: AppError): void {
  const problems = error.issues.length === 0 ? [] : problemsOf(error);
  if (format.isJSON) {
    const { code, message } = error;
    io.stdout(`${toJSONLine({ status: 'error', code, message, ...(problems.length > 0 && { issues: problems }) })}\n`);
    io.stderr(`${error.code}: ${printable(message)}\n`);
    return;
  }
  io.stderr(
    `${format.paint.red(error.code)}: ${printable(error.message)}\n${formatProblems(format, 'error', problems)}`,
  );
}

import { styleText } from 'node:util';
import { pathText, type AppError } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';
import { printable } from '../lib/text.js';
import type { Option, OptionValues } from './command.js';
import type { IO } from './io.js';

/** How a command prints its results: as text for people, or as JSON for programs. */
export interface OutputFormat {
  readonly isJSON: boolean;
  readonly paint: Paint;
}

/** The option `--json`. Without it, every command prints text, on a terminal and in a pipe alike. */
export const jsonOption: Option = { description: 'Print the result as JSON', isCommon: true };

/** Prints a result as one line of JSON if `--json` is given. */
export function printJSONResult(io: IO, { json: isJSON }: OptionValues, result: object): void {
  if (isJSON === true) io.stdout(`${toJSONLine(result)}\n`);
}

/** Prints a new secret, which cannot be printed again: alone, so that a script can read it, or with its ID as JSON. */
export function printSecret(
  io: IO,
  { json: isJSON }: OptionValues,
  result: { readonly id: string; readonly secret: string },
): void {
  io.stdout(`${isJSON === true ? toJSONLine(result) : result.secret}\n`);
}

/** Selects JSON if the option `--json` is given, otherwise text. */
export function selectOutputFormat(io: IO, options: OptionValues): OutputFormat {
  return { isJSON: options['json'] === true, paint: createPaint(io) };
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

// Control and bidirectional characters, which terminals interpret. A JSON parser decodes the escapes to the same text.
const controlCharacters = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** JSON on one line, with control characters escaped. */
export function toJSONLine(value: unknown): string {
  return stringifyJSON(value).replace(controlCharacters, escape);
}

/** Indented JSON, with control characters escaped except for the line feeds of the layout. */
export function toIndentedJSON(value: unknown): string {
  return stringifyJSON(value, 2).replace(controlCharacters, (character) =>
    character === '\n' ? character : escape(character),
  );
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Formats rows as aligned columns. The first row contains the headings. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

/** Functions that color a text, or return it unchanged. */
type Paint = Readonly<Record<Style, (text: string) => string>>;

/** Enables colors if standard output is a terminal. FORCE_COLOR overrides NO_COLOR, as in Node. */
function createPaint({ env, isStdoutTTY }: IO): Paint {
  const forceColor = env['FORCE_COLOR'];
  const isEnabled =
    forceColor === undefined || forceColor === ''
      ? isStdoutTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
      : !['0', 'false'].includes(forceColor);
  // `validateStream: false`: otherwise `styleText` would decide from the streams of the process.
  const paint = (style: Style) => (text: string) =>
    isEnabled ? styleText(style, text, { validateStream: false }) : text;
  return { red: paint('red'), green: paint('green'), yellow: paint('yellow'), dim: paint('dim'), bold: paint('bold') };
}

/** A count with its noun, which is given in the plural: `1 key verified`, `12,000 keys verified`. */
export function countOf(count: number, plural: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? plural.replace(/s\b/, '') : plural}`;
}

/** Progress on standard error: one line that changes on a terminal, otherwise a line every five seconds. */
interface ProgressLine {
  /** @param fraction - completed share of the work, 0 to 1; undefined if unknown */
  readonly show: (count: number, fraction?: number) => void;
  /** Clears the line of the terminal. */
  readonly end: () => void;
}

const terminalIntervalMs = 100;
const logIntervalMs = 5_000;
/** A rate over a shorter time is not reliable. */
const minRateMs = 1_000;

/** Creates progress that shows the count, the rate, the percentage and the remaining time. */
export function createProgressLine(io: IO, plural: string): ProgressLine {
  const now = io.nowMs ?? Date.now;
  const startMs = now();
  const intervalMs = io.isStderrTTY ? terminalIntervalMs : logIntervalMs;
  let shownMs = io.isStderrTTY ? -Infinity : startMs;
  return {
    show: (count, fraction) => {
      if (now() - shownMs < intervalMs) return;
      shownMs = now();
      const text = `${countOf(count, plural)}${formatRate(count, fraction, shownMs - startMs)}`;
      io.stderr(io.isStderrTTY ? `\r${text} …\u001b[K` : `${text}\n`);
    },
    end: () => {
      if (io.isStderrTTY) io.stderr('\r\u001b[K');
    },
  };
}

function formatRate(count: number, fraction: number | undefined, elapsedMs: number): string {
  if (elapsedMs < minRateMs) return '';
  const rate = `, ${Math.round((count * 1000) / elapsedMs).toLocaleString('en')} per second`;
  if (fraction === undefined || fraction <= 0 || fraction > 1) return rate;
  const remainingMs = (elapsedMs * (1 - fraction)) / fraction;
  return `${rate}, ${Math.floor(fraction * 100)} %, ${formatDuration(remainingMs)} left`;
}

function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

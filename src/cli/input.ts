import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { actorNameProblem, actorOf } from '../keys/actor.js';
import type { Actor } from '../keys/key.js';
import { orgIDProblem } from '../keys/key-id.js';
import type { Path } from '../lib/errors.js';
import { isOpenToOthers } from '../lib/file-mode.js';
import { parseJSON } from '../lib/json.js';
import { nearest } from '../lib/nearest.js';
import { hourMs, maxOverlapHours } from '../lib/overlap.js';
import type { Option, OptionValues } from './command.js';
import { UsageError, type IO } from './io.js';

/** The option `--actor`. */
export const actorOption: Option = {
  value: 'NAME',
  description:
    'Whom the change is made for, recorded in the history; at a service, its credential needs the scope actor (default: USER@HOST in a data folder, none at a service)',
};

/**
 * The name that `--actor` states; undefined without the option.
 *
 * @throws {UsageError} if it is empty, too long or not printable
 */
export function parseActorOption({ actor }: OptionValues): string | undefined {
  if (actor === undefined) return undefined;
  const name = String(actor);
  const problem = actorNameProblem(name);
  if (problem !== undefined) throw new UsageError(`--actor ${problem}.`);
  return name.trim();
}

/**
 * Who changes the data folder: the command, for the person that `--actor` names, or for USER@HOST.
 *
 * @throws {UsageError} if `--actor` is empty, too long or not printable
 */
export function localActor(io: IO, command: string, options: OptionValues): Actor {
  const ofProcess = `${userOf(io)}@${hostname()}`;
  const assertedName = parseActorOption(options) ?? (actorNameProblem(ofProcess) ? undefined : ofProcess);
  return actorOf({ credentialID: 'cli', label: `keyfront ${command}`, assertedName });
}

/** The user of the process. In a container it may have no name. */
function userOf({ env }: IO): string {
  const name = env['SUDO_USER'] ?? env['USER'];
  if (name) return name;
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

/** The end of a message about a name that does not exist: with the known name that is close to it, if there is one. */
export function endWithSuggestion(name: string, known: Iterable<string>): string {
  const suggestion = nearest(name, known);
  return suggestion === undefined ? '.' : `; did you mean ${suggestion}?`;
}

/** The option `--yes`. */
export const yesOption: Option = { description: 'Skip the confirmation on a terminal', isCommon: true };

/** What the deletion of a key means. Keyfront is not in the path of the requests. */
export const gatewayEffect = 'Clients of the gateway lose access when the gateway learns of it.';

/** Exit code of a command that was not confirmed. */
export const notConfirmedExitCode = 1;

/**
 * Waits for a confirmation on a terminal. Without a terminal, or with `--yes`, does not wait.
 *
 * @param question - makes the question, which names what the command is about to do; not called without a terminal
 * @returns whether to continue
 */
export async function confirm(
  io: IO,
  options: OptionValues,
  question: () => string | Promise<string>,
): Promise<boolean> {
  if (options['yes'] === true || !isInteractive(io)) return true;
  io.stderr(`${await question()} [y/N] `);
  if (/^y(es)?$/i.test((await readLine(io)).trim())) return true;
  io.stderr('Nothing was changed.\n');
  return false;
}

/** Whether a person can confirm a question. */
export function isInteractive({ isStdinTTY, isStderrTTY }: IO): boolean {
  return isStdinTTY === true && isStderrTTY;
}

const maxLineLength = 4_000;

/** Reads the first line of standard input, of which the beginning is enough to reject a longer one. */
export async function readLine({ stdin }: IO): Promise<string> {
  let text = '';
  for await (const chunk of stdin ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\n') || text.length > maxLineLength) break;
  }
  return text.split('\n', 1)[0] ?? '';
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const defaultOverlapMs = 86_400_000;

/**
 * Parses a duration such as `12h`, `90d` or `4w`. Returns milliseconds; undefined if the option is absent.
 *
 * @throws {UsageError} if the value is not a duration.
 */
export function parseDuration(option: string, value: string | boolean | undefined, expected = ''): number | undefined {
  if (value === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([hdw])$/.exec(String(value)) ?? [];
  const unitLengthMs = unitMs[unit];
  if (unitLengthMs === undefined) {
    throw new UsageError(`${option} must be ${expected}1 to 99999 hours, days or weeks, such as 12h, 90d or 4w.`);
  }
  return Number(count) * unitLengthMs;
}

/** Milliseconds during which what a rotation replaces stays valid. `--overlap 0` means none, the default is 24 hours. */
export function parseOverlap({ overlap }: OptionValues): number {
  return overlap === '0' ? 0 : (parseDuration('--overlap', overlap, '0, or ') ?? defaultOverlapMs);
}

/**
 * As `parseOverlap`, for a credential or the secret of a webhook.
 *
 * @throws {UsageError} if the value is not a duration, or longer than a year
 */
export function parseSecretOverlap(options: OptionValues): number {
  const overlapMs = parseOverlap(options);
  if (overlapMs <= maxOverlapHours * hourMs) return overlapMs;
  throw new UsageError(`--overlap must be at most ${maxOverlapHours} hours, which are ${maxOverlapHours / 24} days.`);
}

/**
 * Parses `--org`. Rejects an empty value, which a script passes if its variable is not set.
 *
 * @throws {UsageError} if the value is not an organization ID
 */
export function parseOrgIDOption(org: string | boolean | undefined): string | undefined {
  if (org === undefined) return undefined;
  if (typeof org !== 'string' || org.trim() === '') throw new UsageError('--org must be the ID of an organization.');
  const problem = orgIDProblem(org);
  if (problem !== undefined) throw new UsageError(`--org ${problem}.`);
  return org;
}

const segmentPattern = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g;

/** Parses a path that `pathText` formatted. Names that `pathText` shortened stay shortened. */
export function parsePath(text: string): Path {
  return [...text.matchAll(segmentPattern)].map(([, quoted, index, name = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : unquote(quoted);
  });
}

function unquote(text: string): string {
  try {
    const name = parseJSON(`"${text}"`);
    return typeof name === 'string' ? name : text;
  } catch {
    return text;
  }
}

/**
 * Opens a file of a folder for reading. Does not wait for a writer, as opening a FIFO would.
 *
 * @returns its descriptor, which the caller closes
 * @throws {Error} if the path names something else, such as a FIFO or a device
 */
export function openRegularFile(path: string): number {
  return openChecked(path, constants.O_RDONLY | constants.O_NONBLOCK, (stats) => {
    if (!stats.isFile()) throw new Error(`${path} must be a regular file, and is not.`);
  });
}

/**
 * Reads a file that contains a secret. It may also be a pipe, such as that of `<(command)` in a shell.
 *
 * @throws {Error} if other users can read the file.
 */
export function readPrivateFile(path: string): string {
  const file = openChecked(path, constants.O_RDONLY, (stats) => {
    // The mode of the open file, because the path could name another file when it is read.
    if (stats.isFile() && isOpenToOthers(stats.mode)) {
      throw new Error(`The file ${path} is open to other users. Run: chmod 600 ${path}`);
    }
  });
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function openChecked(path: string, flags: number, check: (stats: Stats) => void): number {
  const file = openSync(path, flags);
  try {
    check(fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

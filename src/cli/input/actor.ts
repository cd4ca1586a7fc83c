import { hostname, userInfo } from 'node:os';
import type { Option, OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';

/** The option `--actor`. */
export const actorOption: Option = {
  value: 'NAME',
  description: 'Who makes the change, for the history of a data folder (default: USER@HOST)',
};

const maxCharacters = 100;

/**
 * The label of a change of the data folder: the person and the command, such as `ana@ops-1 (keyfront put)`.
 *
 * @throws {UsageError} if `--actor` is empty, too long or not printable
 */
export function actorLabel(io: IO, command: string, options: OptionValues): string {
  const { actor } = options;
  if (actor === undefined) return `${userOf(io)}@${hostname()} (keyfront ${command})`;
  if (typeof actor !== 'string' || actor.trim() === '' || actor.length > maxCharacters || !/^[^\p{C}]+$/u.test(actor)) {
    throw new UsageError(`--actor must be a name of at most ${maxCharacters} printable characters.`);
  }
  return `${actor} (keyfront ${command})`;
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

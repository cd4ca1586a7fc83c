import { AppError } from '../lib/errors.js';
import { isSound } from '../lib/text.js';

const mostCharacters = 500;

/** The reason given for a change, or undefined where there is none. Throws INVALID with the path `reason`. */
export function assertReason(reason: string | undefined): string | undefined {
  if (reason === undefined || (isSound(reason) && reason.length <= mostCharacters)) return reason;
  const [code, message] = isSound(reason)
    ? ['TOO_LONG', `must have at most ${mostCharacters} characters`]
    : ['MALFORMED_TEXT', 'must be well-formed Unicode without NUL'];
  throw new AppError('INVALID', 'The reason is not valid.', { issues: [{ path: ['reason'], code, message }] });
}

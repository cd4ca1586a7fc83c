import { actorNameProblem } from '../keys/actor.js';
import { hasScope } from '../keys/authorization.js';
import type { CallContext } from '../keys/ports.js';
import { AppError } from '../lib/errors.js';
import { malformedParameter } from './query-parameters.js';
import type { RequestHeaders } from './request-context.js';

/** The header that names whom a change is made for: UTF-8 in percent-encoding, because headers are ASCII. */
export const actorHeader = 'X-Keyfront-Actor';

/** Returns the value of the header for a name. */
export function toActorHeader(name: string): string {
  return encodeURIComponent(name);
}

/**
 * Adds the name that the header of a request states to the caller of a change. An empty header is none: routers send it for
 * clients without one.
 *
 * @throws {AppError} FORBIDDEN when the credential may not state a name; INVALID when the value is not a name.
 */
export function withAssertedName(caller: CallContext, headers: RequestHeaders): CallContext {
  const sent = headers.get('x-keyfront-actor') ?? '';
  if (sent === '') return caller;
  if (!hasScope(caller, 'actor')) {
    throw new AppError('FORBIDDEN', `The header ${actorHeader} needs a credential with the scope \`actor\`.`);
  }
  return { ...caller, assertedName: nameIn(sent) };
}

function nameIn(sent: string): string {
  // A repeated header is joined by commas, and must not become one name.
  if (sent.includes(',')) throw malformedParameter(actorHeader, 'must be sent once, with a comma in the name as %2C');
  if (!/^[\x20-\x7e]*$/.test(sent)) throw malformedParameter(actorHeader, 'must be percent-encoded UTF-8');
  const name = decode(sent);
  const problem = actorNameProblem(name);
  if (problem !== undefined) throw malformedParameter(actorHeader, problem);
  return name.trim();
}

function decode(sent: string): string {
  try {
    return decodeURIComponent(sent);
  } catch (cause) {
    throw malformedParameter(actorHeader, 'must be percent-encoded UTF-8', cause);
  }
}

import { decodeGlobalID } from '@pothos/plugin-relay';
import { AppError } from '../../lib/errors.js';
import { canSee, requireScope } from '../../keys/authorization.js';
import type { CallContext } from '../../keys/ports.js';
import type { Context } from '../context.js';

/** A type that other subgraphs can reference. */
export interface Entity {
  /** The names of its key fields; each alone identifies an entity. */
  readonly keys: readonly string[];
  /**
   * Finds the entity of a representation, which is client input: a router forwards it. Paths of issues are relative to
   * the representation.
   *
   * @throws {AppError} INVALID for a malformed key field; FORBIDDEN for an organization that the credential cannot
   * access.
   */
  readonly find: (
    representation: object,
    caller: CallContext,
    context: Context,
  ) => object | Promise<object | undefined>;
}

/**
 * The entities by type name. Each representation is validated like an argument and authorized separately. A key that is
 * unknown, deleted or of another organization is null. Every organization exists, so the error for another organization
 * is FORBIDDEN.
 */
export const entities: ReadonlyMap<string, Entity> = new Map<string, Entity>([
  [
    'OrgKey',
    {
      keys: ['keyHash', 'id'],
      find: (representation, _caller, { loaders }) => loaders.orgKeys.load(keyHashOf(representation)),
    },
  ],
  [
    'Organization',
    {
      keys: ['id'],
      find: (representation, caller) => {
        const orgID = keyFieldOf(representation, 'id');
        requireScope(caller, 'read');
        if (!canSee(caller, orgID)) throw new AppError('FORBIDDEN', 'The credential is bound to another organization.');
        return { orgID };
      },
    },
  ],
]);

/**
 * The hash of the key in a representation, which contains one of the key fields. The key identifier is no key field: it
 * may itself be a token, and routers put key fields into their plans, logs and traces.
 */
function keyHashOf(representation: object): string {
  if ('keyHash' in representation) return keyFieldOf(representation, 'keyHash');
  const { typename, id } = decodeID(keyFieldOf(representation, 'id'));
  // An identifier of another type identifies no key; no hash is empty.
  return typename === 'OrgKey' ? id : '';
}

function decodeID(globalID: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalID);
  } catch {
    throw invalidKeyFieldError('id', 'must be a global identifier of this API');
  }
}

function keyFieldOf(representation: object, key: string): string {
  const value = new Map<string, unknown>(Object.entries(representation)).get(key);
  if (typeof value === 'string' && value.isWellFormed() && value !== '') return value;
  throw invalidKeyFieldError(key, 'must be a non-empty string');
}

function invalidKeyFieldError(key: string, message: string): AppError {
  return new AppError('INVALID', 'The representation is not valid.', {
    issues: [{ path: [key], code: 'MALFORMED_ARGUMENT', message }],
  });
}

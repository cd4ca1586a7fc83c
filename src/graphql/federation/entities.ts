import { decodeGlobalID } from '@pothos/plugin-relay';
import { AppError } from '../../lib/errors.js';
import { maySee } from '../../keys/authorization.js';
import { callerOf, type Context } from '../context.js';

/** A type that other subgraphs may refer to. */
export interface Entity {
  /** The fields of which each names one alone. */
  readonly keys: readonly string[];
  /** Finds what a representation names. It comes from a router, and so from whoever asks it. */
  readonly find: (representation: object, context: Context) => Promise<object | null>;
}

/**
 * The entities by the names of their types. Each representation is read as strictly as an argument and authorised on
 * its own. What is unknown, deleted or foreign is null, as everywhere.
 */
export const entities: ReadonlyMap<string, Entity> = new Map<string, Entity>([
  [
    'OrgKey',
    {
      keys: ['keyHash', 'id', 'keyID'],
      find: async (representation, context) =>
        (await context.loaders.orgKeys.load(hashOf(representation, context))) ?? null,
    },
  ],
  [
    'Organization',
    {
      keys: ['id'],
      // A promise, so that a bad representation fails alone.
      find: (representation, context) =>
        new Promise((resolve) => {
          const orgID = textOf(representation, 'id');
          resolve(maySee(callerOf(context, 'service'), orgID) ? { orgID } : null);
        }),
    },
  ],
]);

/** The hash that a representation of a key names, by whichever of its keys the router knows. */
function hashOf(representation: object, { keys }: Context): string {
  if ('keyHash' in representation) return textOf(representation, 'keyHash');
  if ('keyID' in representation) return keys.keyHashOf(textOf(representation, 'keyID'));
  const { typename, id } = decoded(textOf(representation, 'id'));
  // An identifier of another type names no key, and no hash is empty.
  return typename === 'OrgKey' ? id : '';
}

function decoded(globalID: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalID);
  } catch {
    throw new AppError('INVALID', 'The id is none of this graph.');
  }
}

function textOf(representation: object, key: string): string {
  const value = new Map<string, unknown>(Object.entries(representation)).get(key);
  if (typeof value === 'string' && value.isWellFormed() && value !== '') return value;
  throw new AppError('INVALID', `A representation needs its key \`${key}\` as a text.`);
}

import { hash } from 'node:crypto';
import { assertIdempotencyKey } from '../keys/idempotency.js';
import type { Principal } from '../keys/key.js';

/**
 * Returns the ID of what a request with an idempotency key creates; undefined without one. A repeated request finds by it
 * what the first one created, so that no receipt has to be kept.
 *
 * @throws {AppError} INVALID when the idempotency key is malformed.
 */
export function createdID(
  prefix: string,
  { credentialID }: Pick<Principal, 'credentialID'>,
  idempotencyKey: string | undefined,
): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  assertIdempotencyKey(idempotencyKey);
  return `${prefix}${hash('sha256', JSON.stringify([credentialID, idempotencyKey]), 'hex').slice(0, 16)}`;
}

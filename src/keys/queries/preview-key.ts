import type { KeyDefinition } from '../definition/schema.js';
import { normalizeDefinition, type Definition, type SecretChanges } from '../definition/normalize.js';
import { checkOwner } from '../key-id.js';
import { warningsOf, type Warning } from '../definition/warnings.js';

/** What a preview answers. Nothing of it is stored. */
export interface KeyPreview {
  readonly keyID: string;
  readonly keyHash: string;
  /** The normal form, without secrets. */
  readonly definition: Definition;
  /** The secrets as they were sent, so that a face may echo what the contract echoes: never the password. */
  readonly secrets: SecretChanges;
  readonly warnings: readonly Warning[];
}

interface PreviewDeps {
  readonly now: Date;
  /** The organisation of the credential that asks, where it is bound to one. */
  readonly ownerID: string | undefined;
  readonly hashKeyID: (keyID: string) => string;
  /** 32 fresh random hex digits. */
  readonly randomHex: () => string;
}

/**
 * Returns a valid definition in its normal form, with its identifier and hash. Pure: all that varies is a parameter.
 * @throws {AppError} INVALID when the owner of a new identifier is that of a credential from before owners had a rule
 */
export function previewKey(input: KeyDefinition, { now, ownerID, hashKeyID, randomHex }: PreviewDeps): KeyPreview {
  const { definition, secrets } = normalizeDefinition(input);
  const owner = definition.orgID ?? ownerID ?? '';
  const keyID = input.keyID ?? `${owner.trim() === '' ? '' : checkOwner(owner)}${randomHex()}`;
  return { keyID, keyHash: hashKeyID(keyID), definition, secrets, warnings: warningsOf(input, now) };
}

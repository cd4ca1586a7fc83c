import type { KeyDefinition } from '../definition/schema.js';
import { normalizeDefinition, type Definition, type SecretChanges } from '../definition/normalize.js';
import { checkOwner, generatedKeyID } from '../key-id.js';
import { warningsOf, type Warning } from '../definition/warnings.js';

/** The result of a preview. Nothing is stored. */
export interface KeyPreview {
  readonly keyID: string;
  readonly keyHash: string;
  /** The normal form, without secrets. */
  readonly definition: Definition;
  /** The secrets as they were sent: responses echo some of them, never the password. */
  readonly secrets: SecretChanges;
  readonly warnings: readonly Warning[];
}

interface PreviewDeps {
  readonly now: Date;
  /** The organization that the caller is bound to. */
  readonly ownerID: string | undefined;
  readonly hashKeyID: (keyID: string) => string;
  /** Returns 32 random hex digits and the 8 of their checksum. */
  readonly randomHex: () => string;
}

/**
 * Returns the normal form of a valid definition, with its identifier and hash.
 *
 * @throws {AppError} INVALID when an identifier is to be generated and its owner is not valid, which old credentials can be.
 */
export function previewKey(input: KeyDefinition, { now, ownerID, hashKeyID, randomHex }: PreviewDeps): KeyPreview {
  const { definition, secrets } = normalizeDefinition(input);
  const owner = definition.orgID ?? ownerID;
  const keyID = input.keyID ?? generatedKeyID(owner === undefined ? '' : checkOwner(owner), randomHex());
  return { keyID, keyHash: hashKeyID(keyID), definition, secrets, warnings: warningsOf(input, now) };
}

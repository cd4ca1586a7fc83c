import type { KeyDefinition } from '../definition/schema.js';
import { normalizeDefinition, type Definition, type SecretChanges } from '../definition/normalize.js';
import { checkOwner, generatedKeyID } from '../key-id.js';
import type { Warning } from '../definition/warnings.js';
import { accessSources, type AccessSources } from '../access/effective-access.js';
import { keyWarnings } from '../access/policy-warnings.js';
import type { Policies } from '../access/policy.js';

/** The result of a preview. Nothing is stored. */
export interface KeyPreview {
  readonly keyID: string;
  readonly keyHash: string;
  /** The normal form, without secrets. */
  readonly definition: Definition;
  /** The secrets as they were sent: responses echo some of them, never the password. */
  readonly secrets: SecretChanges;
  readonly warnings: readonly Warning[];
  /** What the key and its policies give access to. */
  readonly sources: AccessSources;
}

interface PreviewDeps {
  readonly now: Date;
  readonly policies: Policies;
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
export function previewKey(
  input: KeyDefinition,
  { now, policies, ownerID, hashKeyID, randomHex }: PreviewDeps,
): KeyPreview {
  const { definition, secrets } = normalizeDefinition(input);
  const owner = definition.orgID ?? ownerID;
  const keyID = input.keyID ?? generatedKeyID(owner === undefined ? '' : checkOwner(owner), randomHex());
  return {
    keyID,
    keyHash: hashKeyID(keyID),
    definition,
    secrets,
    warnings: keyWarnings(input, { orgID: owner, policies }, now),
    sources: accessSources({ definition, orgID: owner }, policies),
  };
}

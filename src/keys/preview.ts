import type { KeyDefinition } from './definition.js';
import { normalise, type Definition, type SecretChanges } from './normal-form.js';
import { warningsOf, type Warning } from './warnings.js';

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

interface Surroundings {
  readonly now: Date;
  /** The organisation of the credential that asks, where it is bound to one. */
  readonly ownerID: string | undefined;
  readonly hashKeyID: (keyID: string) => string;
  /** 32 fresh random hex digits. */
  readonly randomHex: () => string;
}

/** Answers a valid definition with its normal form, identifier and hash. Pure: all that varies is handed in. */
export function previewKey(input: KeyDefinition, { now, ownerID, hashKeyID, randomHex }: Surroundings): KeyPreview {
  const { definition, secrets } = normalise(input);
  const keyID = input.keyID ?? `${definition.orgID ?? ownerID ?? ''}${randomHex()}`;
  return { keyID, keyHash: hashKeyID(keyID), definition, secrets, warnings: warningsOf(input, now) };
}

import { nameOf, shortHash } from '../format.js';
import type { Proposal } from './read-proposals.js';
import { proposalsText as texts } from './strings.js';

/** The name of the key: its alias, for one that is to be created the proposed one. */
export function nameOfKey({ kind, keyHash, orgKey, changes }: Proposal): string {
  if (orgKey) return nameOf({ keyHash, definition: orgKey.definition });
  if (kind !== 'CREATE') return shortHash(keyHash);
  const alias = changes.find(({ path }) => path === 'alias')?.after;
  return typeof alias === 'string' ? alias : texts.newKey;
}

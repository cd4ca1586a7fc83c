import DataLoader from 'dataloader';
import type { CallContext } from '../keys/ports.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import type { QuotaSummary } from '../keys/quota/quota-summary.js';
import type { KeyService } from '../keys/key-service.js';
import type { StoredKey } from '../keys/key.js';

/** What one request asks for item by item is gathered here, and asked of the service all at once. */
export interface Loaders {
  /** Keys by their hash; undefined for one that is none, or not the caller's to see. */
  readonly orgKeys: DataLoader<string, StoredKey | undefined>;
  /** Live quotas that stand apart from their keys. */
  readonly quotas: DataLoader<StoredKey, QuotaFigures>;
  /** By the identifier of an organisation that the caller may see. */
  readonly quotaSummaries: DataLoader<string, QuotaSummary>;
}

/** Loaders for one request. They remember nothing, because a mutation may lie between two questions. */
export function createLoaders(keys: KeyService, caller: () => CallContext): Loaders {
  const options = { cache: false };
  return {
    orgKeys: new DataLoader((keyHashes) => keys.orgKeysByHash(caller(), keyHashes), options),
    quotas: new DataLoader((found) => keys.quotasOf(found), options),
    quotaSummaries: new DataLoader((orgIDs) => keys.summariseQuotas(orgIDs, caller().reads), options),
  };
}

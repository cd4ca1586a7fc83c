import DataLoader from 'dataloader';
import type { CallContext } from '../keys/ports.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import type { QuotaSummary } from '../keys/quota/quota-summary.js';
import type { KeyService } from '../keys/key-service.js';
import type { StoredKey } from '../keys/key.js';

/** Batches the reads of one request: items that are requested one by one are read together. */
export interface Loaders {
  /** Keys by hash; undefined for a key that does not exist or is not visible to the caller. */
  readonly orgKeys: DataLoader<string, StoredKey | undefined>;
  /** Live quotas of keys whose counters are external. */
  readonly quotas: DataLoader<StoredKey, QuotaFigures>;
  /** Quota summaries by the identifier of an organisation that the caller can see. */
  readonly quotaSummaries: DataLoader<string, QuotaSummary>;
}

/** Creates the loaders of one request. They do not cache: a mutation may run between two reads. */
export function createLoaders(keys: KeyService, caller: () => CallContext): Loaders {
  const options = { cache: false };
  return {
    orgKeys: new DataLoader((keyHashes) => keys.orgKeysByHash(caller(), keyHashes), options),
    quotas: new DataLoader((storedKeys) => keys.quotasOf(storedKeys), options),
    quotaSummaries: new DataLoader((orgIDs) => keys.summariseQuotas(orgIDs, caller().reads), options),
  };
}

import DataLoader from 'dataloader';
import { asError } from '../lib/errors.js';
import { stringifyJSON } from '../lib/json.js';
import type { HistoryRequest, KeyFilter, KeyPage, NameQuery } from '../keys/key-query.js';
import type { CallContext } from '../keys/ports.js';
import type { PageRequest } from '../keys/queries/read-keys.js';
import type { Usage } from '../keys/queries/read-use.js';
import type { Deployment, GatewayQuery } from '../keys/gateway-store.js';
import type { DayRange } from '../keys/use/use.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import type { QuotaSummary } from '../keys/quota/quota-summary.js';
import type { KeyService } from '../keys/key-service.js';
import type { KeyRevision, StoredKey } from '../keys/key.js';
import type { KeyNotice } from '../keys/notices.js';
import type { WebhookService } from '../webhooks/webhook-service.js';
import type { DeliveryStats } from '../webhooks/webhook.js';

/** Batches the reads of one request: items that are requested one by one are read together, at most 100 at once. */
export interface Loaders {
  /** Keys by hash; undefined for a key that does not exist or is not visible to the caller. */
  readonly orgKeys: DataLoader<string, StoredKey | undefined>;
  /** As `orgKeys`, with those that are deleted and not yet purged. */
  readonly remainingKeys: DataLoader<string, StoredKey | undefined>;
  /** Live quotas of keys. */
  readonly quotas: DataLoader<StoredKey, QuotaFigures>;
  /** Ranges of the histories of keys. */
  readonly histories: DataLoader<HistoryRequest, KeyRevision[]>;
  /** The newest notices about keys. */
  readonly notices: DataLoader<StoredKey, KeyNotice[]>;
  /** Quota summaries by the identifier of an organization that the caller can see. */
  readonly quotaSummaries: DataLoader<string, QuotaSummary>;
  /** Pages of the keys of an organization that the caller can see. */
  readonly pagesOfOrgs: DataLoader<OrgRequest<PageRequest>, KeyPage>;
  /** Numbers of keys of an organization that the caller can see. */
  readonly countsOfOrgs: DataLoader<OrgRequest<KeyFilter>, number>;
  /** Tags of the keys of an organization that the caller can see. */
  readonly tagsOfOrgs: DataLoader<OrgRequest<NameQuery>, string[]>;
  /** The use by day of keys that the caller can see. */
  readonly usesOfKeys: DataLoader<KeyRequest<DayRange>, Usage>;
  /** What gateways have of keys that the caller can see. */
  readonly deployments: DataLoader<KeyRequest<Omit<GatewayQuery, 'orgID'>>, Deployment[]>;
  /** The use by day of an organization that the caller can see. */
  readonly usesOfOrgs: DataLoader<OrgRequest<DayRange>, Usage>;
  /** Counts of the deliveries of webhooks that the caller can see, by the identifiers of the webhooks. */
  readonly webhookStats: DataLoader<string, DeliveryStats>;
}

/** A request for one key. */
interface KeyRequest<Request> {
  readonly key: StoredKey;
  readonly request: Request;
}

/** A request for one organization. */
interface OrgRequest<Request> {
  readonly orgID: string;
  readonly request: Request;
}

/** The maximum number of items of one statement. */
const maxBatchSize = 100;

/**
 * Creates the loaders of one request. What has a hash or an identifier is read once, so that what a request may read does not
 * depend on which of its reads form a batch. A mutation clears them, because it may change what they have read.
 */
export function createLoaders(
  { keys, webhooks }: { readonly keys: KeyService; readonly webhooks: WebhookService },
  caller: () => CallContext,
): Loaders {
  const options = { maxBatchSize };
  return {
    orgKeys: new DataLoader((keyHashes) => keys.orgKeysByHash(caller(), keyHashes), options),
    remainingKeys: new DataLoader(
      (keyHashes) => keys.orgKeysByHash(caller(), keyHashes, { includeDeleted: true }),
      options,
    ),
    quotas: new DataLoader((storedKeys) => keys.quotasOf(storedKeys), options),
    histories: new DataLoader((requests) => keys.histories(requests, caller().reads), options),
    notices: new DataLoader((storedKeys) => keys.noticesOf(storedKeys), options),
    quotaSummaries: new DataLoader((orgIDs) => keys.summarizeQuotas(orgIDs, caller().reads), options),
    pagesOfOrgs: new DataLoader(
      groupOrgs((orgIDs, query: PageRequest) => keys.orgKeysOfEach(caller(), orgIDs, query)),
      options,
    ),
    countsOfOrgs: new DataLoader(
      groupOrgs((orgIDs, filter: KeyFilter) => keys.countOrgKeysOfEach(caller(), orgIDs, filter)),
      options,
    ),
    tagsOfOrgs: new DataLoader(
      groupOrgs((orgIDs, query: NameQuery) => keys.tagsOfEach(caller(), orgIDs, query)),
      options,
    ),
    usesOfKeys: new DataLoader(
      groupByRequest(
        ({ key }: KeyRequest<DayRange>) => key,
        (storedKeys, range) => keys.usesOf(caller(), storedKeys, range),
      ),
      options,
    ),
    deployments: new DataLoader(
      groupByRequest(
        ({ key }: KeyRequest<Omit<GatewayQuery, 'orgID'>>) => key,
        (storedKeys, query) => keys.deploymentsOf(caller(), storedKeys, query),
      ),
      options,
    ),
    usesOfOrgs: new DataLoader(
      groupOrgs((orgIDs, range: DayRange) => keys.usesOfOrgs(caller(), orgIDs, range)),
      options,
    ),
    webhookStats: new DataLoader((ids) => webhooks.statsOf(ids), options),
  };
}

/** Makes the loaders read everything again. */
export function clearLoaders(loaders: Loaders): void {
  for (const loader of Object.values({ ...loaders })) loader.clearAll();
}

/** Reads the organizations of each distinct request together. */
function groupOrgs<Request, Result>(read: (orgIDs: readonly string[], request: Request) => Promise<readonly Result[]>) {
  return groupByRequest(({ orgID }: OrgRequest<Request>) => orgID, read);
}

/** Reads what items of the same request are about together. A request that fails does not fail the others. */
function groupByRequest<Item extends { readonly request: unknown }, Of, Result>(
  subjectOf: (item: Item) => Of,
  read: (subjects: readonly Of[], request: Item['request']) => Promise<readonly Result[]>,
) {
  return async (items: readonly Item[]): Promise<(Result | Error)[]> => {
    const groups = new Map<string, Item[]>();
    for (const item of items) {
      const name = stringifyJSON(item.request);
      groups.set(name, [...(groups.get(name) ?? []), item]);
    }
    const results = new Map<Item, Result | Error>();
    const readGroup = async ([first, ...others]: readonly Item[]) => {
      if (!first) return;
      const group = [first, ...others];
      const groupResults = await read(group.map(subjectOf), first.request).catch(asError);
      for (const [index, item] of group.entries())
        results.set(item, groupResults instanceof Error ? groupResults : resultAt(groupResults, index));
    };
    await Promise.all([...groups.values()].map(readGroup));
    return items.map((item) => results.get(item) ?? new Error('An item has no result.'));
  };
}

function resultAt<Result>(results: readonly Result[], index: number): Result | Error {
  const result = results[index];
  return result === undefined ? new Error('An item has no result.') : result;
}

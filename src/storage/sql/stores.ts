import type { RowSigner } from '../../crypto/row-signer.js';
import type { Storage } from '../storage.js';
import { createChangeFeed } from './change-feed.js';
import type { ChangeNotifier } from './change-notifier.js';
import { createCredentialStore, type CredentialCache } from './credential-store.js';
import { createGatewayStore } from './gateways.js';
import { createCheckpoints } from './keys/checkpoints.js';
import { createSqlKeyStore, type KeyStoreDeps } from './keys/key-store.js';
import { createReceiptCounts } from './keys/receipt-counts.js';
import { createUses } from './keys/uses.js';
import { createPolicyStore } from './policy-store.js';
import { createProposalStore } from './proposal-store.js';
import { createSettings } from './settings.js';
import { createSignatures } from './signatures.js';
import { createWebhookStore } from './webhook-store.js';

/** The dependencies of the stores, which each engine provides. */
interface SqlStoresDeps extends Omit<KeyStoreDeps, 'onChange'> {
  readonly notifier: ChangeNotifier;
  readonly credentialCache?: CredentialCache;
}

/** The stores whose statements are the same for both engines. */
type SqlStores = Pick<
  Storage,
  | 'store'
  | 'feed'
  | 'credentials'
  | 'webhooks'
  | 'policies'
  | 'uses'
  | 'proposals'
  | 'gateways'
  | 'signatures'
  | 'checkpoints'
  | 'receiptCounts'
  | 'settings'
>;

/** Creates all stores of a database. */
export function createSqlStores({ notifier, credentialCache, ...deps }: SqlStoresDeps, signer: RowSigner): SqlStores {
  const { session, slices } = deps;
  return {
    store: createSqlKeyStore({ ...deps, onChange: notifier.hint }, signer),
    feed: createChangeFeed(session, signer, notifier),
    credentials: createCredentialStore(session, signer, credentialCache),
    webhooks: createWebhookStore(session, signer),
    policies: createPolicyStore(session, signer, slices),
    uses: createUses(session, deps.wideReader),
    proposals: createProposalStore(session, signer, slices, notifier.hint),
    gateways: createGatewayStore(session),
    signatures: createSignatures(session, signer),
    checkpoints: createCheckpoints(session, signer),
    receiptCounts: createReceiptCounts(session, signer),
    settings: createSettings(session),
  };
}

import type { ComponentType } from 'preact';
import { keyHashAt } from './key-address.js';
import { policyIDAt } from './policy-address.js';
import type { KeyScope } from '../client/client.js';
import type { Kind } from './session.js';
import type { text } from './strings.js';
import { webhookIDAt } from './webhook-address.js';

/** The part of the main navigation to which a page belongs. */
export type Section = keyof typeof text.nav;

/** A page of the console, whose script is loaded when it is opened. */
export interface Page {
  /** The same for addresses that show the same page, such as two filters of the list. */
  readonly id: string;
  readonly section: Section;
  /** The kind of the credential that it needs. */
  readonly kind: Kind;
  /** What the service credential must be allowed to do, or the page is not shown; undefined if each may open it. */
  readonly scope?: KeyScope;
  readonly load: () => Promise<ComponentType>;
}

const list: Page = {
  id: 'keys',
  section: 'keys',
  kind: 'service',
  load: async () => (await import('./keys/keys-view.js')).KeysView,
};

const pages: Readonly<Record<string, Page>> = {
  '/console': list,
  '/console/new': {
    id: 'new',
    section: 'keys',
    kind: 'service',
    load: async () => (await import('./create/create-view.js')).CreateView,
  },
  '/console/bulk': {
    id: 'bulk',
    section: 'keys',
    kind: 'service',
    load: async () => (await import('./bulk/bulk-view.js')).BulkView,
  },
  '/console/policies': {
    id: 'policies',
    section: 'policies',
    kind: 'service',
    load: async () => (await import('./policies/policies-view.js')).PoliciesView,
  },
  '/console/organizations': {
    id: 'organizations',
    section: 'organizations',
    kind: 'service',
    load: async () => (await import('./organizations/organizations-view.js')).OrganizationsView,
  },
  '/console/gateways': {
    id: 'gateways',
    section: 'gateways',
    kind: 'service',
    load: async () => (await import('./gateways/gateways-view.js')).GatewaysView,
  },
  '/console/proposals': {
    id: 'proposals',
    section: 'proposals',
    kind: 'service',
    load: async () => (await import('./proposals/proposals-view.js')).ProposalsView,
  },
  '/console/credentials': {
    id: 'credentials',
    section: 'credentials',
    kind: 'service',
    scope: 'ADMIN',
    load: async () => (await import('./credentials/credentials-view.js')).CredentialsView,
  },
  '/console/webhooks': {
    id: 'webhooks',
    section: 'webhooks',
    kind: 'service',
    scope: 'ADMIN',
    load: async () => (await import('./webhooks/webhooks-view.js')).WebhooksView,
  },
  '/console/changes': {
    id: 'changes',
    section: 'changes',
    kind: 'service',
    load: async () => (await import('./changes/changes-view.js')).ChangesView,
  },
  '/console/preview': {
    id: 'preview',
    section: 'preview',
    kind: 'management',
    load: async () => (await import('./preview/preview-view.js')).PreviewView,
  },
};

/** The page that an address names. */
export function pageAt(pathname: string): Page {
  const policyID = policyIDAt(pathname);
  if (policyID !== undefined) {
    return {
      id: `policy ${policyID}`,
      section: 'policies',
      kind: 'service',
      load: async () => (await import('./policies/policy-view.js')).PolicyView,
    };
  }
  const webhookID = webhookIDAt(pathname);
  if (webhookID !== undefined) {
    return {
      id: `webhook ${webhookID}`,
      section: 'webhooks',
      kind: 'service',
      scope: 'ADMIN',
      load: async () => (await import('./webhooks/webhook-view.js')).WebhookView,
    };
  }
  const keyHash = keyHashAt(pathname);
  if (keyHash === undefined) return pages[pathname] ?? list;
  return {
    id: `key ${keyHash}`,
    section: 'keys',
    kind: 'service',
    load: async () => (await import('./key/key-view.js')).KeyView,
  };
}

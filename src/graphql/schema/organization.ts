import type { QuotaSummary } from '../../keys/quota/quota-summary.js';
import { builder } from './builder.js';

/** An organisation: this service knows only its identifier and its keys. */
export interface Organisation {
  readonly orgID: string;
}

const OrganizationQuota = builder.objectRef<QuotaSummary>('OrganizationQuota').implement({
  description:
    'Sums of the live quotas of the keys of an organisation at this moment. Deleted keys are excluded. Sums are capped at the largest 64-bit integer.',
  fields: (t) => ({
    keyCount: t.exposeInt('keys', { description: 'Number of keys.' }),
    limitedKeys: t.exposeInt('limitedKeys', {
      description: 'Number of keys with a limited quota. The other fields count only these keys.',
    }),
    exhaustedKeys: t.exposeInt('exhaustedKeys', {
      description: 'Number of limited keys with nothing remaining in their current period.',
    }),
    max: t.expose('max', { type: 'Int64', description: 'Sum of the requests allowed per period.' }),
    used: t.expose('used', { type: 'Int64', description: 'Sum of the requests counted in the current periods.' }),
    remaining: t.expose('remaining', {
      type: 'Int64',
      description: 'Sum of the requests remaining in the current periods. A key above its maximum counts as 0.',
    }),
  }),
});

export const Organization = builder.objectRef<Organisation>('Organization').implement({
  description:
    'An organisation. Other subgraphs own its profile; Keyfront contributes its keys and the sums of their quotas.',
  fields: (t) => ({
    id: t.exposeID('orgID', { description: 'Identifier of the organisation, as in `OrgKey.orgID`.' }),
    quotaSummary: t.field({
      extensions: { credential: 'service' },
      type: OrganizationQuota,
      nullable: true,
      description: 'Sums of the quotas of its keys. Reads all of them. Null with an error if they cannot be read.',
      resolve: ({ orgID }, _, { loaders }) => loaders.quotaSummaries.load(orgID),
    }),
  }),
});

import type { QuotaSummary } from '../../keys/quota/quota-summary.js';
import { builder } from '../schema/builder.js';

/** An organisation as this graph knows it: by its identifier, and by the keys it has. */
export interface Organisation {
  readonly orgID: string;
}

const OrganizationQuota = builder.objectRef<QuotaSummary>('OrganizationQuota').implement({
  description:
    'What the quotas of an organisation’s keys come to at this moment. Deleted keys do not count. Sums beyond the greatest 64-bit integer show as that.',
  fields: (t) => ({
    keys: t.exposeInt('keys', { description: 'How many keys the organisation has.' }),
    limitedKeys: t.exposeInt('limitedKeys', {
      description: 'How many of them have a quota with a maximum; the figures below are theirs.',
    }),
    exhaustedKeys: t.exposeInt('exhaustedKeys', {
      description: 'How many of those have nothing left in their current period.',
    }),
    max: t.expose('max', { type: 'Int64', description: 'Requests allowed in a period, added up.' }),
    used: t.expose('used', { type: 'Int64', description: 'Requests counted in the current periods, added up.' }),
    remaining: t.expose('remaining', {
      type: 'Int64',
      description: 'Requests left in the current periods, added up; a key that is over its maximum has 0 left.',
    }),
  }),
});

export const Organization = builder.objectRef<Organisation>('Organization').implement({
  description:
    'An organisation, by its identifier. Who it is, other graphs of the company know; this one adds its keys and what their quotas come to.',
  fields: (t) => ({
    id: t.exposeID('orgID', { description: 'Identifier of the organisation, as keys name it in `orgID`.' }),
    quotaSummary: t.field({
      type: OrganizationQuota,
      nullable: true,
      description:
        'What the quotas of its keys come to. Goes over all of them. Null where they cannot be read, with the reason among the errors.',
      resolve: ({ orgID }, _, { loaders }) => loaders.quotaSummaries.load(orgID),
    }),
  }),
});

import { requireScope } from '../../keys/authorization.js';
import { daysToText, lastUseOf, totalsOf, type Usage } from '../../keys/queries/read-use.js';
import { dayText } from '../../keys/use/use.js';
import { builder } from './builder.js';
import { OrgKey } from './key.js';
import { Organization } from './organization.js';

const KeyUsageDay = builder.objectRef<ReturnType<typeof daysToText>[number]>('KeyUsageDay').implement({
  description: 'The requests of one day in UTC.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day. Example: 2026-01-31.' }),
    allowed: t.expose('allowed', { type: 'Int64', description: 'Requests that were allowed.' }),
    denied: t.expose('denied', { type: 'Int64', description: 'Requests that were denied.' }),
  }),
});

const KeyUsage = builder.objectRef<Usage>('KeyUsage').implement({
  description:
    'Requests that were verified, or consumed from a quota, by day. Up to ten seconds late. A service that is killed loses the requests that it has not written; quotas lose none.',
  fields: (t) => ({
    from: t.string({ description: 'The first day. Example: 2026-01-02.', resolve: ({ range }) => dayText(range.from) }),
    to: t.string({ description: 'The last day. Example: 2026-01-31.', resolve: ({ range }) => dayText(range.to) }),
    allowed: t.field({
      type: 'Int64',
      description: 'Requests on these days that were allowed.',
      resolve: (usage) => totalsOf(usage).allowed,
    }),
    denied: t.field({
      type: 'Int64',
      description: 'Requests on these days that were denied.',
      resolve: (usage) => totalsOf(usage).denied,
    }),
    days: t.field({
      type: [KeyUsageDay],
      description: 'The days that have requests, in order.',
      resolve: daysToText,
    }),
  }),
});

/** The days of a use. */
const daysArgs = builder.args((t) => ({
  from: t.string({ description: 'The first day in UTC. Default: 29 days before `to`. Example: 2026-01-02.' }),
  to: t.string({
    description: 'The last day in UTC, at most 399 days after `from`. Default: today. Example: 2026-01-31.',
  }),
}));

builder.objectFields(OrgKey, (t) => ({
  lastUsedAt: t.field({
    type: 'KeyDateTime',
    nullable: true,
    description:
      'When the key was last used by a request that was verified or consumed here, allowed or denied. Up to ten seconds late. Null if never.',
    resolve: lastUseOf,
  }),
  usage: t.field({
    type: KeyUsage,
    nullable: true,
    description:
      'The requests of the key by day, of the last 400 days. Null with an error if they cannot be read. Errors: INVALID for days that are malformed, or more than 400.',
    args: daysArgs,
    resolve: (key, { from, to }, { keys, loaders, serviceCaller }) => {
      requireScope(serviceCaller(), 'read');
      const request = keys.useRangeOf({ from: from ?? undefined, to: to ?? undefined });
      return loaders.usesOfKeys.load({ key, request });
    },
  }),
}));

builder.objectField(Organization, 'keyUsage', (t) =>
  t.field({
    type: KeyUsage,
    nullable: true,
    extensions: { credential: 'service' },
    description:
      'The requests of all keys of the organization by day, of the last 400 days, also of keys that were purged since. Null with an error if they cannot be read. Errors: INVALID for days that are malformed, or more than 400.',
    args: daysArgs,
    resolve: ({ orgID }, { from, to }, { keys, loaders }) => {
      const request = keys.useRangeOf({ from: from ?? undefined, to: to ?? undefined });
      return loaders.usesOfOrgs.load({ orgID, request });
    },
  }),
);

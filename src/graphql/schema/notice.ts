import { noticeKinds, type KeyNotice, type NoticeKind } from '../../keys/notices.js';
import { builder } from './builder.js';
import { dateTimeOf } from './scalars.js';
import { enumValuesOf } from './types-from-zod.js';

const NoticeKindType = builder.enumType('KeyNoticeKind', {
  description: 'What happened to a key without a change of it. Kinds may be added: ignore one that you do not know.',
  values: enumValuesOf<NoticeKind>(noticeKinds),
});

const secondsToDateTime = (seconds: bigint | undefined) => (seconds === undefined ? undefined : dateTimeOf(seconds));

export const KeyNoticeType = builder.objectRef<KeyNotice>('KeyNotice').implement({
  description:
    'An event of a key in time: an expiry, a quota, the end of its restore time. It changes nothing, and is no version of the key.',
  fields: (t) => ({
    eventID: t.exposeString('id', {
      description:
        'Identifier of the event, as in webhooks. The same event has the same identifier, also after a restore of the database: ignore one that you have seen.',
    }),
    kind: t.expose('kind', { type: NoticeKindType, description: 'What happened.' }),
    at: t.field({
      type: 'KeyDateTime',
      description: 'When it was recorded, by the clock of the service: some seconds after it happened.',
      resolve: ({ at }) => at.toISOString(),
    }),
    version: t.exposeInt('version', { description: 'Version of the key then.' }),
    expiresAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'For EXPIRING and EXPIRED: when the key expires. Null for other kinds.',
      resolve: ({ expires }) => secondsToDateTime(expires),
    }),
    daysBefore: t.int({
      nullable: true,
      description:
        'For EXPIRING: how many days before the expiry the notice was due. Null for other kinds. Example: 7.',
      resolve: ({ daysBefore }) => daysBefore,
    }),
    threshold: t.float({
      nullable: true,
      description:
        'For QUOTA_THRESHOLD: the percentage of the quota, as in `monitor.triggerLimits`. Null for other kinds. Example: 80.',
      resolve: ({ threshold }) => threshold,
    }),
    quotaUsed: t.field({
      type: 'Int64',
      nullable: true,
      description: 'For notices of a quota: the requests counted when it was noticed. Null for other kinds.',
      resolve: ({ quotaUsed }) => quotaUsed,
    }),
    quotaMax: t.field({
      type: 'Int64',
      nullable: true,
      description: 'For notices of a quota: the requests allowed per period then. Null for other kinds.',
      resolve: ({ quotaMax }) => quotaMax,
    }),
    quotaRenewsAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'For notices of a quota: when the period ends. Null if the quota does not renew.',
      resolve: ({ quotaRenewsAt }) => secondsToDateTime(quotaRenewsAt),
    }),
    proposalID: t.id({
      nullable: true,
      description: 'For notices of a proposal: its identifier, as in `KeyProposal.id`. Null for other kinds.',
      resolve: ({ proposalID }) => proposalID,
    }),
  }),
});

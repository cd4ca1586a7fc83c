import type { QuotaFigures } from '../../keys/quota/quota.js';
import { builder } from './builder.js';
import { dateTimeOf } from './scalars.js';

export const KeyQuota = builder.objectRef<QuotaFigures>('KeyQuota').implement({
  description:
    'The live quota of a key. Requests change it. An update of the definition keeps `used`, unless it resets the quota.',
  fields: (t) => ({
    max: t.field({
      type: 'Int64',
      nullable: true,
      description: 'Requests allowed per period. Null if unlimited. Example: 10000.',
      resolve: ({ max }) => max,
    }),
    used: t.expose('used', {
      type: 'Int64',
      description: 'Requests counted in the current period, or since the last reset if the quota does not renew.',
    }),
    remaining: t.field({
      type: 'Int64',
      nullable: true,
      description: 'Requests remaining in the current period, at least 0. Null if unlimited. Example: 9500.',
      resolve: ({ remaining }) => remaining,
    }),
    renewsAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description:
        'When the period ends and `used` returns to 0, to the second. Null if the quota does not renew, or only after the year 9999. Example: 2030-01-01T00:00:00.000Z.',
      resolve: ({ renewsAt }) => (renewsAt === undefined ? undefined : dateTimeOf(renewsAt)),
    }),
  }),
});

export const KeyQuotaEffect = builder
  .objectRef<{ before: QuotaFigures; after: QuotaFigures }>('KeyQuotaEffect')
  .implement({
    description: 'The effect of a change on the live quota.',
    fields: (t) => ({
      before: t.expose('before', { type: KeyQuota, description: 'The live quota before the change.' }),
      after: t.expose('after', { type: KeyQuota, description: 'The live quota after the change.' }),
      summary: t.string({
        description:
          'The effect as an English sentence, for display. Example: Reset drops 8,120 used requests, renews at 2026-03-02T12:00:00.000Z.',
        resolve: ({ before, after }) => describeEffect(before, after),
      }),
    }),
  });

function describeEffect(before: QuotaFigures, after: QuotaFigures): string {
  const parts: string[] = [];
  if (after.used < before.used) parts.push(`Reset drops ${before.used.toLocaleString('en')} used requests`);
  if (before.max !== after.max)
    parts.push(
      `${parts.length ? 'the' : 'The'} maximum changes from ${formatMax(before.max)} to ${formatMax(after.max)}`,
    );
  if (after.renewsAt !== before.renewsAt && after.renewsAt !== undefined) {
    parts.push(`${parts.length ? '' : 'The quota '}renews at ${formatTime(after.renewsAt)}`);
  }
  if (after.renewsAt === undefined && before.renewsAt !== undefined) {
    parts.push(`${parts.length ? '' : 'The quota '}no longer renews`);
  }
  return parts.length === 0 ? 'The quota does not change.' : `${parts.join(', ')}.`;
}

const formatMax = (max: bigint | undefined) => (max === undefined ? 'unlimited' : max.toLocaleString('en'));

const formatTime = (seconds: bigint) => dateTimeOf(seconds) ?? `Unix second ${seconds}`;

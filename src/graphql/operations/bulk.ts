import { AppError, pathText, type Issue } from '../../lib/errors.js';
import {
  bulkLimit,
  type BulkItem as DomainItem,
  type BulkResult as DomainResult,
} from '../../keys/commands/bulk-update.js';
import { builder } from '../schema/builder.js';
import { callerOf } from '../context.js';
import { positionOf, cursorOf } from '../schema/cursor.js';
import { UpdateKeyInput } from '../types/key-definition.js';
import { OrgKey } from '../types/org-key.js';
import { OrgKeyFilter, filterOf } from './org-keys.js';
import { OrgKeyUpdatePreview } from '../types/mutation-payload.js';
import type { PageSizes } from '../schema/pagination.js';

const IssueType = builder.objectRef<Issue>('Issue').implement({
  description: 'One problem of a value.',
  fields: (t) => ({
    path: t.string({
      description: 'Where in the definition it is. Example: accessRights[2].limit.quotaMax.',
      resolve: ({ path }) => pathText(path),
    }),
    code: t.exposeString('code', {
      description:
        'What it is, for programs: one of the codes that the README lists, such as OUT_OF_RANGE. More may come.',
    }),
    message: t.exposeString('message', {
      description: 'What it is, for people: "`path` message" reads as a sentence.',
    }),
  }),
});

const BulkError = builder.objectRef<NonNullable<DomainItem['error']>>('BulkError').implement({
  description: 'Why the change of one key failed. After UNAVAILABLE or INTERNAL, read the key before you try again.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description:
        'What went wrong, for programs, as a change of that key alone would say: INVALID, NOT_FOUND, CONFLICT, UNAVAILABLE or INTERNAL.',
    }),
    message: t.exposeString('message', { description: 'What went wrong, for people.' }),
    issues: t.field({
      type: [IssueType],
      description: 'Every problem of the definition; empty where something else went wrong.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

const BulkItem = builder.objectRef<DomainItem>('BulkItem').implement({
  description: 'What became of one key, or would become: exactly one of `change` and `error` is there.',
  fields: (t) => ({
    orgKey: t.field({
      type: OrgKey,
      description: 'The key as it is now; in a dry run without an error, as it would be.',
      resolve: ({ key }) => key,
    }),
    change: t.field({
      type: OrgKeyUpdatePreview,
      nullable: true,
      description: 'What changed, or would; null where there is an `error`.',
      resolve: ({ change }) => change,
    }),
    error: t.field({
      type: BulkError,
      nullable: true,
      description: 'Why the key was left as it is; null where there is a `change`.',
      resolve: ({ error }) => error,
    }),
  }),
});

const pages: PageSizes = { defaultSize: bulkLimit, maxSize: bulkLimit };

const BulkResult = builder.objectRef<DomainResult>('BulkResult').implement({
  description:
    'What a change of many keys did. Each key is changed on its own: one that fails leaves the others changed.',
  fields: (t) => ({
    dryRun: t.exposeBoolean('isDryRun', { description: 'Whether this was a dry run, which stores nothing.' }),
    items: t.field({
      type: [BulkItem],
      description: 'What became of each key, by hash: at most 200.',
      resolve: ({ items }) => [...items],
    }),
    hasNextPage: t.exposeBoolean('hasMore', {
      description: 'Whether more keys match after these, which another call can change.',
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The place of the last key, for `after`; null where no key matches.',
      resolve: ({ items }) => {
        const last = items.at(-1);
        return last && cursorOf(last.key, 'KEY_HASH');
      },
    }),
  }),
});

const bulkArgs = builder.args((t) => ({
  filter: t.field({ type: OrgKeyFilter, required: true, description: 'Which keys to change.' }),
  dryRun: t.boolean({
    required: true,
    defaultValue: true,
    description: 'Whether to store nothing, and only tell what would become of each key.',
  }),
  reason: t.string({ description: 'Why, for the history: at most 500 characters, and no secrets.' }),
  first: t.int({
    description: `How many keys to change, from 1, and never more than ${bulkLimit}. Where neither this nor \`after\` is given, all that match must be no more than ${bulkLimit}.`,
  }),
  after: t.string({ description: 'Only keys after this place: the `endCursor` of the call before.' }),
}));

function pageOf({ first, after }: { first?: number | null | undefined; after?: string | null | undefined }) {
  if (typeof first !== 'number' && typeof after !== 'string') return undefined;
  if (typeof first === 'number' && first < 1) {
    throw new AppError('INVALID', 'The page is not valid.', {
      issues: [{ path: ['first'], code: 'OUT_OF_RANGE', message: 'must be at least 1' }],
    });
  }
  return {
    first: first ?? bulkLimit,
    afterHash: typeof after === 'string' ? positionOf(after, 'KEY_HASH', 'after').keyHash : undefined,
  };
}

builder.mutationField('updateOrgKeys', (t) =>
  t.field({
    type: BulkResult,
    description: `Changes some fields of many keys, at most ${bulkLimit} a call; a dry run unless \`dryRun\` is false. Needs a service credential. Errors: INVALID where more keys match, and nothing is changed then; what concerns one key stands in its item.`,
    extensions: { credential: 'service', pageSizes: pages },
    args: {
      ...bulkArgs,
      patch: t.arg({
        type: UpdateKeyInput,
        required: true,
        description: 'The fields to set. Null clears a field; what is left out stays as it is.',
      }),
      resetQuota: t.arg.boolean({ defaultValue: false, description: 'Whether each live quota begins anew as well.' }),
    },
    resolve: (_, { filter, patch, resetQuota, dryRun, reason, ...page }, context) =>
      context.keys.updateOrgKeys(callerOf(context, 'service'), {
        filter: filterOf(filter),
        patch,
        resetQuota: resetQuota ?? false,
        isDryRun: dryRun,
        reason: reason ?? undefined,
        page: pageOf(page),
      }),
  }),
);

builder.mutationField('resetOrgQuotas', (t) =>
  t.field({
    type: BulkResult,
    description: `Resets the live quota of many keys, at the end of a period for instance: at most ${bulkLimit} a call; a dry run unless \`dryRun\` is false. Needs a service credential. Errors: as \`updateOrgKeys\`.`,
    extensions: { credential: 'service', pageSizes: pages },
    args: bulkArgs,
    resolve: (_, { filter, dryRun, reason, ...page }, context) =>
      context.keys.updateOrgKeys(callerOf(context, 'service'), {
        filter: filterOf(filter),
        patch: {},
        resetQuota: true,
        isDryRun: dryRun,
        reason: reason ?? undefined,
        page: pageOf(page),
      }),
  }),
);
